// cq_prefetch, BRISC of the prefetch tile: fetches entries of prefetch commands from host memory and
// executes them, which mostly means relaying dispatch commands and data to the dispatch tile.
#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/wait.h"
#include "firmware/dispatch/prefetch/fetch_queue.h"
#include "firmware/dispatch/prefetch/niu.h"
#include "firmware/dispatch/prefetch/relay_linear.h"
#include "firmware/dispatch/prefetch/relay_paged.h"
#include "firmware/dispatch/prefetch/ring_writer.h"
#include "runtime/abi/prefetch_commands.h"

namespace ttfd::firmware::prefetch {
namespace {

class Prefetcher {
 public:
  Prefetcher()
      : dispatch_ring_(TTFD_BOOT(dispatch_ring_address), TTFD_BOOT(dispatch_ring_pages)),
        dispatch_s_ring_(TTFD_BOOT(dispatch_s_ring_address), TTFD_BOOT(dispatch_s_ring_pages)) {}

  [[noreturn]] void Serve() {
    for (;;) {
      const Entry entry = queue_.Take();
      for (uint32_t at = entry.begin; at != entry.end;) {
        at += Execute(at, entry);
        SetProgress(++progress_);
      }
    }
  }

 private:
  // Executes the command at `at`; returns the distance to the next.
  [[gnu::always_inline]] uint32_t Execute(uint32_t at, const Entry& entry) {
    const uint32_t word = Load(at);
    const uint32_t id = word & 0xFF;
    SetCommand(id);
    if (id == static_cast<uint32_t>(abi::PrefetchId::kRelayInline)) [[likely]] {
      return RelayInline(word, at, entry);
    }
    switch (static_cast<abi::PrefetchId>(id)) {
      case abi::PrefetchId::kRelayInlineNoflush:
        return RelayInlineNoflush(at, entry);
      case abi::PrefetchId::kRelayLinear:
        RelayLinear(at);
        return abi::kEntryAlignment;
      case abi::PrefetchId::kRelayPaged:
        RelayPaged(word, at);
        return abi::kEntryAlignment;
      case abi::PrefetchId::kStall:
        Stall();
        return abi::kEntryAlignment;
      case abi::PrefetchId::kTerminate:
        Terminate();
      default:
        Fault(abi::kFaultUnknownCommand, id, at, at - entry.begin);
    }
  }

  // The stride of an inline command, once its payload is known to lie within it and the entry.
  static uint32_t CheckedStride(uint32_t at, uint32_t length, const Entry& entry) {
    const uint32_t stride = Load(at + offsetof(abi::RelayInline, stride));
    // In unsigned arithmetic: 0 < stride <= what is left, 0 < length <= stride - 16.
    if (stride - 1 >= entry.end - at || stride % abi::kEntryAlignment != 0 ||
        length - 1 >= stride - abi::kCommandBytes) [[unlikely]] {
      Fault(abi::kFaultBadLength, Load(at) & 0xFF, length, stride);
    }
    return stride;
  }

  uint32_t RelayInline(uint32_t word, uint32_t at, const Entry& entry) {
    const uint32_t length = Load(at + offsetof(abi::RelayInline, length));
    const uint32_t stride = CheckedStride(at, length, entry);
    if ((word >> 8 & 0xFF) == static_cast<uint32_t>(abi::DispatcherType::kDispatch)) {
      dispatch_ring_.WriteCommand(at + abi::kCommandBytes, length);
    } else {
      dispatch_s_ring_.WriteCommand(at + abi::kCommandBytes, length);
    }
    return stride;
  }

  // The header of a dispatch command; the next relay command brings its payload.
  uint32_t RelayInlineNoflush(uint32_t at, const Entry& entry) {
    const uint32_t length = Load(at + offsetof(abi::RelayInline, length));
    const uint32_t stride = CheckedStride(at, length, entry);
    if (length % 16 != 0 || length >= abi::kDispatchPageBytes) [[unlikely]] {
      Fault(abi::kFaultBadLength, Load(at) & 0xFF, length, abi::kDispatchPageBytes - 16);
    }
    dispatch_ring_.Append(at + abi::kCommandBytes, length);
    return stride;
  }

  void RelayLinear(uint32_t at) {
    // Fields lie across words: length at 3, noc_xy at 11, address at 15.
    const auto word = [at](uint32_t index) { return Load(at + 4 * index); };
    const uint32_t w1 = word(1), w2 = word(2), w3 = word(3), w4 = word(4), w5 = word(5);
    const uint32_t length = word(0) >> 24 | w1 << 8;
    const uint32_t length_high = w1 >> 24 | w2 << 8;
    const uint32_t noc_xy = w2 >> 24 | w3 << 8;
    const uint32_t low = w3 >> 24 | w4 << 8;
    const uint32_t high = w4 >> 24 | w5 << 8;
    if (length_high != 0 || low % 16 != 0) [[unlikely]] {
      Fault(abi::kFaultBadLength, Load(at) & 0xFF, length_high, low);
    }
    Relay(LinearSource(noc_xy, low, high, length), scratch_, dispatch_ring_);
  }

  void RelayPaged(uint32_t word, uint32_t at) {
    const uint32_t base = Load(at + offsetof(abi::RelayPaged, base_address));
    const uint32_t page_bytes = Load(at + offsetof(abi::RelayPaged, page_size));
    const uint32_t pages = Load(at + offsetof(abi::RelayPaged, pages));
    const uint32_t adjust = word >> 16 & ~uint32_t{abi::kRelayPagedIsDram};
    if ((page_bytes | base) % hw::kDramAlignment != 0 || page_bytes <= adjust) [[unlikely]] {
      Fault(abi::kFaultBadLength, Load(at) & 0xFF, page_bytes, base);
    }
    const bool is_dram = (word >> 16 & abi::kRelayPagedIsDram) != 0;
    const uint32_t start_page = word >> 8 & 0xFF;
    const uint32_t total = pages * page_bytes - (pages != 0 ? adjust : 0);
    Relay(PagedSource(is_dram, start_page, base, page_bytes, total), scratch_, dispatch_ring_);
  }

  // Waits for the NOTIFY_PREFETCH of as many WAITs as there were STALLs.
  void Stall() {
    const uint32_t stalls = ++stalls_;
    SetAwaited(0, stalls);
    WaitForMemory(abi::kWaypointStall, [stalls] {
      return abi::CounterReached(
          Load(abi::kControlBlockAddress + offsetof(abi::ControlBlock, sync)), stalls);
    });
  }

  [[noreturn]] void Terminate() {
    AwaitWritesLeft();
    AtomicBuffer::AwaitFree();
    WaitUntil(abi::kWaypointNoc,
              [] { return Outstanding(kWriteId) == 0 && Outstanding(kAtomicId) == 0; });
    SetProgress(++progress_);
    SetWaypoint(abi::kWaypointDone);
    SetState(abi::kHartStopped);
    Park();
  }

  FetchQueue queue_;
  const Scratch scratch_;
  RingWriter<DispatchRing> dispatch_ring_;
  RingWriter<DispatchSRing> dispatch_s_ring_;
  uint32_t stalls_ = 0;
  uint32_t progress_ = 0;  // commands executed
};

void CheckBootBlock() {
  TTFD_REQUIRE_BOOT(TTFD_BOOT(fetch_queue_entries) != 0, fetch_queue_entries);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(issue_ring_bytes) % abi::kEntryAlignment == 0, issue_ring_bytes);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(command_ring_address) % abi::kEntryAlignment == 0,
                    command_ring_address);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(command_ring_bytes) % abi::kEntryAlignment == 0 &&
                        TTFD_BOOT(command_ring_bytes) >= 2 * abi::kEntryAlignment,
                    command_ring_bytes);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(scratch_address) % 64 == 0, scratch_address);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(scratch_bytes) % 128 == 0 && TTFD_BOOT(scratch_bytes) >= 256,
                    scratch_bytes);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(dispatch_ring_pages) >= 4, dispatch_ring_pages);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(dispatch_s_ring_pages) >= 4, dispatch_s_ring_pages);
}

}  // namespace
}  // namespace ttfd::firmware::prefetch

extern "C" [[noreturn]] void FirmwareMain() {
  using namespace ttfd::firmware;
  Boot(ttfd::abi::kRolePrefetch, [] {
    prefetch::CheckBootBlock();
    prefetch::InitializeNiu(TTFD_BOOT(own_xy), TTFD_BOOT(pcie_xy), TTFD_BOOT(dispatch_xy));
  });
  prefetch::Prefetcher prefetcher;
  prefetcher.Serve();
}
