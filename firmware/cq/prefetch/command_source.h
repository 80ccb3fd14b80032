// Where commands come from: entries of the fetch queue, one after the other, and exec buffers in between.
// Knows where a command lies, which is what a refused one is named by.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/status.h"
#include "firmware/cq/prefetch/exec_buffer.h"
#include "firmware/cq/prefetch/fetch_queue.h"
#include "firmware/cq/prefetch/span.h"
#include "runtime/abi/hart_status.h"
#include "runtime/abi/prefetch_commands.h"

namespace ttfd::firmware::prefetch {

// Command id and place that name a refused command.
struct Place {
  uint32_t id;
  uint32_t offset;  // in its entry or exec buffer
};
[[noreturn]] inline void Refuse(const Place& place, abi::FaultCode code, uint32_t value,
                                uint32_t allowed) {
  Fault(code, place.id, value, allowed, place.offset);
}

class CommandSource {
 public:
  Place PlaceOf(uint32_t at) const {
    return {Load(at) & 0xFF, exec_.active() ? exec_.OffsetOf(at) : at - entry_begin_};
  }
  [[noreturn, gnu::noinline, gnu::cold]] void Refuse(uint32_t at, abi::FaultCode code,
                                                     uint32_t value, uint32_t allowed) const {
    prefetch::Refuse(PlaceOf(at), code, value, allowed);
  }

  // The next entry, or what comes next of the exec buffer.
  [[gnu::noinline]] Span Next() {
    if (exec_.active()) {
      const Span next = exec_.Next();
      if (next.begin == next.end) [[unlikely]] {  // it has no EXEC_BUF_END
        Fault(abi::kFaultBadLength, static_cast<uint32_t>(abi::PrefetchId::kExecBuf), exec_.bytes(),
              0, exec_.bytes());
      }
      return next;
    }
    const Span entry = queue_.Take();
    entry_begin_ = entry.begin;
    return entry;
  }

  // A command with a stride: `bytes` behind its first 16 lie within it, and it in what is left.
  uint32_t CheckedStride(Span here, uint32_t stride, uint32_t bytes) const {
    const uint32_t at = here.begin;
    const uint32_t left = exec_.active() ? exec_.LeftAt(at) : here.end - at;
    // In unsigned arithmetic: 0 < stride <= left, bytes <= stride - 16.
    if (stride - 1 >= left || stride % abi::kEntryAlignment != 0 ||
        bytes > stride - abi::kCommandBytes) [[unlikely]] {
      Refuse(at, abi::kFaultBadLength, bytes, stride);
    }
    return stride;
  }

  // Goes `bytes` on, perhaps into the exec buffer's next blocks.
  Span Skip(Span here, uint32_t bytes) {
    while (bytes > here.end - here.begin) {
      bytes -= here.end - here.begin;
      here = exec_.Next();
    }
    return {here.begin + bytes, here.end};
  }

  // The exec buffer's next commands, when `here` is behind the last that is there.
  Span NextBlock() { return exec_.Next(); }

  // The sub-commands behind a command: where they lie, or a copy if they go on in another block. Moves
  // `here` behind the command.
  uint32_t TakeList(Span& here, uint32_t words, uint32_t stride) {
    const uint32_t at = here.begin;
    if (stride <= here.end - at) [[likely]] {
      here.begin += stride;
      return at + abi::kCommandBytes;
    }
    here.begin += abi::kCommandBytes;
    for (uint32_t i = 0; i != words; ++i) {
      if (here.begin == here.end) {
        here = exec_.Next();
      }
      list_[i] = Load(here.begin);
      here.begin += 4;
    }
    here = Skip(here, stride - abi::kCommandBytes - 4 * words);
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&list_[0]));
  }

  // The command ring becomes the exec buffer's; what lies in it is executed and its writes leave first.
  Span BeginBuffer(Span here) {
    const uint32_t at = here.begin;
    const uint32_t base = Load(at + offsetof(abi::ExecBuf, base_address));
    const uint32_t page_shift = Load(at + offsetof(abi::ExecBuf, log_page_size));
    const uint32_t pages = Load(at + offsetof(abi::ExecBuf, pages));
    if (exec_.active() || !queue_.stalls() || here.end - at != abi::kEntryAlignment) [[unlikely]] {
      Refuse(at, abi::kFaultMisplacedCommand, at, 0);
    }
    if (page_shift < abi::kMinExecPageShift || page_shift > abi::kMaxExecPageShift ||
        base % hw::kDramAlignment != 0) [[unlikely]] {
      Refuse(at, abi::kFaultBadLength, page_shift, base);
    }
    if (pages - 1 >= ~0u >> page_shift) [[unlikely]] {
      Refuse(at, abi::kFaultBadCount, pages, ~0u >> page_shift);
    }
    return exec_.Begin(base, page_shift, pages);
  }

  // The EXEC_BUF_END at `at` is executed. What lies behind is not; the command ring is empty.
  Span EndBuffer() {
    exec_.End();
    queue_.ForgetRing();
    return {0, 0};
  }
  void RequireBuffer(uint32_t at) const {
    if (!exec_.active()) [[unlikely]] {
      Refuse(at, abi::kFaultMisplacedCommand, at, 0);
    }
  }
  // Waits until data that was read ahead for nothing has arrived.
  void Drain() { exec_.End(); }

 private:
  // Sub-commands of one command.
  static constexpr uint32_t kMaxListWords =
      abi::kMaxPagedPacked * sizeof(abi::RelayPagedPackedTarget) / sizeof(uint32_t);
  static_assert(kMaxListWords >=
                abi::kMaxRelayRingbuffer * sizeof(abi::RelayRingbufferTarget) / sizeof(uint32_t));

  FetchQueue queue_;
  ExecBuffer exec_;
  uint32_t entry_begin_ = 0;  // of the entry being executed
  uint32_t list_[kMaxListWords];
};

}  // namespace ttfd::firmware::prefetch
