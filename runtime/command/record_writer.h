// Writes records into memory: prefetch commands, and dispatch commands wrapped in RELAY_INLINE.
//
// The caller knows the sizes (InlineRecordBytes) and gives memory that fits; padding is zeroed.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/prefetch_commands.h"
#include "runtime/base/bytes.h"
#include "runtime/command/decoder.h"
#include "runtime/command/record_batch.h"

namespace ttfd {

// Bytes that a command takes in an entry, padding included: the distance to the next.
uint32_t RecordBytes(const DecodedCommand& command);

class RecordWriter {
 public:
  explicit RecordWriter(MutableByteSpan memory) : memory_(memory) {}

  // A dispatch command with `extra` bytes behind it; returns those, unwritten.
  template <typename T>
  MutableByteSpan Dispatch(const T& command, uint32_t extra = 0) {
    return Inline(abi::PrefetchId::kRelayInline, abi::DispatcherType::kDispatch, command, extra);
  }
  template <typename T>
  MutableByteSpan DispatchS(const T& command, uint32_t extra = 0) {
    return Inline(abi::PrefetchId::kRelayInline, abi::DispatcherType::kDispatchS, command, extra);
  }
  // The same, whose last `data` bytes are not in this memory: the record continues behind it. Returns the `extra` bytes
  // before them.
  template <typename T>
  MutableByteSpan DispatchHead(const T& command, uint32_t extra, uint32_t data) {
    const auto head = static_cast<uint32_t>(sizeof(T)) + extra;
    MutableByteSpan payload = PayloadHead(head, data);
    StoreAt(payload.data(), command);
    return payload.subspan(sizeof(T));
  }
  // The header of a dispatch command whose data the next relay command supplies; `list` bytes of
  // sub-commands belong to it.
  template <typename T>
  MutableByteSpan DispatchHeader(const T& command, uint32_t list = 0) {
    return Inline(abi::PrefetchId::kRelayInlineNoflush, abi::DispatcherType::kDispatch, command,
                  list);
  }

  // RELAY_INLINE or RELAY_INLINE_NOFLUSH with a payload of `length` bytes, which is returned unwritten.
  MutableByteSpan Payload(abi::PrefetchId id, abi::DispatcherType to, uint32_t length);

  // `id`: RELAY_LINEAR or its synonym on one chip, RELAY_LINEAR_H.
  void RelayLinear(uint32_t noc_xy, uint64_t address, uint64_t length,
                   abi::PrefetchId id = abi::PrefetchId::kRelayLinear);
  // `length_adjust` bytes of the last page stay behind.
  void RelayPaged(bool is_dram, uint32_t first_bank, uint32_t base_address, uint32_t page_bytes,
                  uint32_t pages, uint32_t length_adjust = 0);
  void RelayPagedPacked(std::span<const abi::RelayPagedPackedTarget> targets);
  void ExecBuf(uint32_t base_address, uint32_t log_page_size, uint32_t pages);
  // Ends a buffer of commands, for the dispatcher too.
  void ExecBufEnd();
  void Debug(uint16_t key, ByteSpan data);
  void PagedToRingbuffer(const abi::PagedToRingbuffer& command);
  void SetRingbufferOffset(uint32_t offset, bool update_write_pointer);
  void RelayRingbuffer(std::span<const abi::RelayRingbufferTarget> targets);
  // A command of any kind, as the decoder gives it: header, lists, data, padding. RecordBytes() of memory.
  void Command(const DecodedCommand& command);
  void Stall() { Bare(abi::PrefetchId::kStall); }
  void Terminate() { Bare(abi::PrefetchId::kTerminate); }

  uint32_t bytes_written() const { return used_; }

 private:
  template <typename T>
  MutableByteSpan Inline(abi::PrefetchId id, abi::DispatcherType to, const T& command,
                         uint32_t extra) {
    const auto length = static_cast<uint32_t>(sizeof(T)) + extra;
    MutableByteSpan payload = Payload(id, to, length);
    StoreAt(payload.data(), command);
    return payload.subspan(sizeof(T));
  }
  MutableByteSpan PayloadHead(uint32_t head, uint32_t data);
  void Bare(abi::PrefetchId id);
  // A command of fixed size that stands alone.
  void Alone(ByteSpan command);
  // The next `bytes` bytes, of which those from `content` on are zeroed.
  MutableByteSpan Take(uint32_t bytes, uint32_t content);

  MutableByteSpan memory_;
  uint32_t used_ = 0;
};

}  // namespace ttfd
