// cq_dispatch, BRISC of the dispatch tile: executes dispatch commands that the prefetcher puts into the
// ring - writes to workers, DRAM and the host, waits, and the hand-over to dispatch_s.
#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/cq/dispatch/completion.h"
#include "firmware/cq/dispatch/niu.h"
#include "firmware/cq/dispatch/ring.h"
#include "firmware/cq/dispatch/wait_command.h"
#include "firmware/cq/dispatch/write_linear.h"
#include "firmware/cq/dispatch/write_packed.h"
#include "firmware/cq/dispatch/write_packed_large.h"
#include "firmware/cq/dispatch/write_paged.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/dispatch_commands.h"

namespace ttfd::firmware::dispatch {
namespace {

class Dispatcher {
 public:
  Dispatcher()
      : ring_(TTFD_BOOT(dispatch_ring_address), TTFD_BOOT(dispatch_ring_pages)),
        worker_count_(TTFD_BOOT(worker_count)) {}

  [[noreturn]] void Serve() {
    for (uint32_t progress = 0;;) {  // commands executed
      ring_.AwaitPage();
      ++progress;
      Execute(progress);
      SetProgress(progress);
    }
  }

 private:
  // Executes the command at the cursor, the `progress`th, and moves the cursor to the next.
  [[gnu::always_inline]] void Execute(uint32_t progress) {
    const uint32_t at = ring_.cursor();
    const uint32_t word = Load(at);
    const uint32_t id = word & 0xFF;
    SetCommand(id);
    switch (static_cast<abi::DispatchId>(id)) {
      case abi::DispatchId::kWritePaged:
        return WritePaged(ring_, writes_, word);
      case abi::DispatchId::kWritePacked:
        return WritePacked(ring_, writes_, word, write_offsets_, worker_count_);
      case abi::DispatchId::kWriteLinear:
      case abi::DispatchId::kWriteLinearH:
        return WriteLinear(ring_, writes_, word, WriteOffset(at, word >> 16 & 0xFF));
      case abi::DispatchId::kWritePackedLarge:
        return WritePackedLarge(ring_, writes_, word, write_offsets_);
      case abi::DispatchId::kWriteLinearHHost:
        return completion_.Write(ring_, writes_, word, progress);
      case abi::DispatchId::kWait:
        ExecuteWait(ring_, writes_, word);
        return ring_.FinishPage();
      case abi::DispatchId::kSetWriteOffset:
        SetWriteOffsets(word, at);
        return ring_.FinishPage();
      case abi::DispatchId::kNotifySubordinateGoSignal:
        NotifySubordinate(word, at);
        return ring_.FinishPage();
      case abi::DispatchId::kDebug:
        return SkipDebug(at);
      case abi::DispatchId::kSink:
      case abi::DispatchId::kExecBufEnd:
        return ring_.FinishPage();
      case abi::DispatchId::kDelay:
        Delay(at);
        return ring_.FinishPage();
      case abi::DispatchId::kTerminate:
        Terminate(progress);
      default:
        Refuse(at, abi::kFaultUnknownCommand, at, 0);
    }
  }

  // The next command follows in the same page, with space for its lists.
  void SkipDebug(uint32_t at) {
    constexpr uint32_t kMost = abi::kMaxDebugCommands * sizeof(abi::BareDispatch);
    const uint32_t before = abi::kDispatchPageBytes - ring_.LeftInPage();
    if (before >= kMost) [[unlikely]] {
      Refuse(at, abi::kFaultBadCount, before / sizeof(abi::BareDispatch) + 1,
             abi::kMaxDebugCommands);
    }
    ring_.Skip(sizeof(abi::BareDispatch));
  }

  uint32_t WriteOffset(uint32_t at, uint32_t index) const {
    if (index >= abi::kMaxWriteOffsets) [[unlikely]] {
      Refuse(at, abi::kFaultBadCount, index, abi::kMaxWriteOffsets - 1);
    }
    return write_offsets_[index];
  }

  void SetWriteOffsets(uint32_t word, uint32_t at) {
    const uint32_t count = word >> 8 & 0xFF;
    if (count - 1 >= abi::kMaxWriteOffsets) [[unlikely]] {
      Refuse(at, abi::kFaultBadCount, count, abi::kMaxWriteOffsets);
    }
    for (uint32_t i = 0; i != count; ++i) {
      write_offsets_[i] = Load(at + sizeof(abi::SetWriteOffset) + 4 * i);
    }
  }

  // dispatch_s is on this tile: its counters are plain words here, and this hart their only writer.
  void NotifySubordinate(uint32_t word, uint32_t at) {
    const uint32_t mask = word >> 16;
    if (mask - 1 >= (1u << abi::kMaxSubDevices) - 1) [[unlikely]] {
      Refuse(at, abi::kFaultBadCount, mask, (1u << abi::kMaxSubDevices) - 1);
    }
    if ((word >> 8 & 0xFF) != 0) {
      writes_.Barrier();
    }
    uint32_t counter = abi::kControlBlockAddress + offsetof(abi::ControlBlock, notified);
    for (uint32_t bits = mask; bits != 0; bits >>= 1, counter += sizeof(abi::Counter)) {
      if ((bits & 1) != 0) {
        Store(counter, Load(counter) + 1);
      }
    }
  }

  // A trip of two instructions takes two clocks at least.
  static void Delay(uint32_t at) {
    const uint32_t clocks = Load(at + offsetof(abi::Delay, delay));
    if (clocks > abi::kMaxDelayClocks) [[unlikely]] {
      Refuse(at, abi::kFaultBadCount, clocks, abi::kMaxDelayClocks);
    }
    uint32_t trips = clocks / 2 + 1;
    asm volatile(
        "1: addi %0, %0, -1\n"
        "bnez %0, 1b\n"
        : "+r"(trips));
  }

  [[noreturn]] void Terminate(uint32_t progress) {
    writes_.Barrier();
    SetProgress(progress);
    ring_.FinishPage();
    ring_.ReturnAll();
    AtomicBuffer::AwaitFree();
    WaitUntil(abi::kWaypointNoc,
              [] { return NiuCounter<0>(hw::kNocRequestsOutstanding + kAtomicId) == 0; });
    SetWaypoint(abi::kWaypointDone);
    SetState(abi::kHartStopped);
    Park();
  }

  Ring ring_;
  Writes writes_;
  CompletionRing completion_;
  const uint32_t worker_count_;
  uint32_t write_offsets_[abi::kMaxWriteOffsets] = {};
};

void CheckBootBlock() {
  TTFD_REQUIRE_BOOT(TTFD_BOOT(dispatch_ring_address) % 16 == 0, dispatch_ring_address);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(dispatch_ring_pages) >= 4, dispatch_ring_pages);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(completion_ring_pages) >= 1, completion_ring_pages);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(completion_pointer_low) % 16 == 0, completion_pointer_low);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(worker_count) - 1 < abi::kMaxL1Banks, worker_count);
}

}  // namespace
}  // namespace ttfd::firmware::dispatch

extern "C" [[noreturn]] void FirmwareMain() {
  using namespace ttfd::firmware;
  Boot(ttfd::abi::kRoleDispatch, [] {
    dispatch::CheckBootBlock();
    dispatch::InitializeNiu();
  });
  dispatch::Dispatcher dispatcher;
  dispatcher.Serve();
}
