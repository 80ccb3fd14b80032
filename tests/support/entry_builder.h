// Prefetch entries by hand, built from the structs of runtime/abi without the runtime's encoder, so that a
// test of the firmware does not depend on it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/prefetch_commands.h"
#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"
#include "runtime/base/bytes.h"

namespace ttfd::testing {

// A dispatch command with what follows it.
class Payload {
 public:
  template <typename Command>
  explicit Payload(const Command& command) {
    Append(BytesOf(command));
  }
  // Not inlined: for `bytes` of a constant size g++ 12 at -O3 reports an overflow where the vector grows.
  [[gnu::noinline]] Payload& Append(ByteSpan bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  template <typename T>
  Payload& Value(const T& value) {
    return Append(BytesOf(value));
  }
  Payload& Pad(size_t alignment) {
    bytes_.resize(AlignUp(bytes_.size(), alignment));
    return *this;
  }
  ByteSpan bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class EntryBuilder {
 public:
  EntryBuilder& Dispatch(const Payload& payload) {
    return Inline(abi::PrefetchId::kRelayInline, abi::DispatcherType::kDispatch, payload.bytes());
  }
  EntryBuilder& DispatchS(const Payload& payload) {
    return Inline(abi::PrefetchId::kRelayInline, abi::DispatcherType::kDispatchS, payload.bytes());
  }
  // A header whose payload the next relay command brings.
  EntryBuilder& Noflush(const Payload& payload) {
    return Inline(abi::PrefetchId::kRelayInlineNoflush, abi::DispatcherType::kDispatch,
                  payload.bytes());
  }
  EntryBuilder& RelayLinear(uint32_t noc_xy, uint64_t address, uint64_t length) {
    abi::RelayLinear command{};
    command.id = abi::PrefetchId::kRelayLinear;
    command.length = length;
    command.noc_xy = noc_xy;
    command.address = address;
    return Raw(BytesOf(command));
  }
  EntryBuilder& RelayPaged(bool is_dram, uint8_t start_page, uint32_t base, uint32_t page_size,
                           uint32_t pages, uint16_t length_adjust = 0) {
    abi::RelayPaged command{};
    command.id = abi::PrefetchId::kRelayPaged;
    command.start_page = start_page;
    command.flags =
        static_cast<uint16_t>(length_adjust | (is_dram ? abi::kRelayPagedIsDram : uint16_t{0}));
    command.base_address = base;
    command.page_size = page_size;
    command.pages = pages;
    return Raw(BytesOf(command));
  }
  // `total_length` is the sum of the targets' lengths, plus `skew`.
  EntryBuilder& RelayPagedPacked(std::span<const abi::RelayPagedPackedTarget> targets,
                                 uint32_t skew = 0) {
    abi::RelayPagedPacked command{};
    command.id = abi::PrefetchId::kRelayPagedPacked;
    command.count = static_cast<uint16_t>(targets.size());
    command.total_length = skew;
    for (const auto& target : targets) command.total_length += target.length;
    command.stride = AlignUp(static_cast<uint32_t>(sizeof(command) + targets.size_bytes()),
                             abi::kEntryAlignment);
    return List(BytesOf(command),
                {reinterpret_cast<const std::byte*>(targets.data()), targets.size_bytes()});
  }
  EntryBuilder& RelayRingbuffer(std::span<const abi::RelayRingbufferTarget> targets) {
    abi::RelayRingbuffer command{};
    command.id = abi::PrefetchId::kRelayRingbuffer;
    command.count = static_cast<uint16_t>(targets.size());
    command.stride = AlignUp(static_cast<uint32_t>(sizeof(command) + targets.size_bytes()),
                             abi::kEntryAlignment);
    return List(BytesOf(command),
                {reinterpret_cast<const std::byte*>(targets.data()), targets.size_bytes()});
  }
  EntryBuilder& PagedToRingbuffer(bool reset, uint8_t log_page_size, uint8_t start_page,
                                  uint32_t base, uint32_t length, uint32_t advance) {
    abi::PagedToRingbuffer command{};
    command.id = abi::PrefetchId::kPagedToRingbuffer;
    command.flags = reset ? abi::kRingbufferReset : uint8_t{0};
    command.log2_page_size = log_page_size;
    command.start_page = start_page;
    command.wp_offset_update = advance;
    command.base_address = base;
    command.length = length;
    return Raw(BytesOf(command));
  }
  EntryBuilder& SetRingbufferOffset(uint32_t offset, bool update_wp) {
    abi::SetRingbufferOffset command{};
    command.id = abi::PrefetchId::kSetRingbufferOffset;
    command.offset = offset;
    command.update_wp = update_wp ? 1 : 0;
    return Raw(BytesOf(command));
  }
  EntryBuilder& ExecBuf(uint32_t base, uint32_t log_page_size, uint32_t pages) {
    abi::ExecBuf command{};
    command.id = abi::PrefetchId::kExecBuf;
    command.base_address = base;
    command.log_page_size = log_page_size;
    command.pages = pages;
    return Raw(BytesOf(command));
  }
  EntryBuilder& ExecBufEnd() {
    abi::BareDispatch end{};
    end.id = abi::DispatchId::kExecBufEnd;
    return Inline(abi::PrefetchId::kExecBufEnd, abi::DispatcherType::kDispatch, BytesOf(end));
  }
  EntryBuilder& Debug(ByteSpan bytes) {
    abi::DebugPrefetch command{};
    command.id = abi::PrefetchId::kDebug;
    command.size = static_cast<uint32_t>(bytes.size());
    command.stride = AlignUp(command.size + abi::kCommandBytes, abi::kEntryAlignment);
    return List(BytesOf(command), bytes);
  }
  EntryBuilder& Bare(abi::PrefetchId id) {
    abi::BarePrefetch command{};
    command.id = id;
    return Raw(BytesOf(command));
  }
  // Any command, padded to where the next one starts.
  EntryBuilder& Raw(ByteSpan command) {
    bytes_.insert(bytes_.end(), command.begin(), command.end());
    bytes_.resize(AlignUp(bytes_.size(), size_t{abi::kEntryAlignment}));
    return *this;
  }
  ByteSpan bytes() const { return bytes_; }

 private:
  // A command with what follows it.
  EntryBuilder& List(ByteSpan command, ByteSpan list) {
    bytes_.insert(bytes_.end(), command.begin(), command.end());
    return Raw(list);
  }
  EntryBuilder& Inline(abi::PrefetchId id, abi::DispatcherType dispatcher, ByteSpan payload) {
    abi::RelayInline command{};
    command.id = id;
    command.dispatcher = dispatcher;
    command.length = static_cast<uint32_t>(payload.size());
    command.stride = AlignUp(command.length + abi::kCommandBytes, abi::kEntryAlignment);
    return List(BytesOf(command), payload);
  }

  std::vector<std::byte> bytes_;
};

}  // namespace ttfd::testing
