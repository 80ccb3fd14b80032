// cq_prefetch, BRISC of the prefetch tile: fetches entries of prefetch commands from host memory and
// executes them, which mostly means relaying dispatch commands and data to the dispatch tile.
#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/wait.h"
#include "firmware/cq/prefetch/command_source.h"
#include "firmware/cq/prefetch/niu.h"
#include "firmware/cq/prefetch/relay_linear.h"
#include "firmware/cq/prefetch/relay_packed.h"
#include "firmware/cq/prefetch/relay_paged.h"
#include "firmware/cq/prefetch/ring_writer.h"
#include "firmware/cq/prefetch/ringbuffer.h"
#include "firmware/cq/prefetch/span.h"
#include "runtime/abi/prefetch_commands.h"

namespace ttfd::firmware::prefetch {
namespace {

class Prefetcher {
 public:
  Prefetcher()
      : dispatch_ring_(TTFD_BOOT(dispatch_ring_address), TTFD_BOOT(dispatch_ring_pages)),
        dispatch_s_ring_(TTFD_BOOT(dispatch_s_ring_address), TTFD_BOOT(dispatch_s_ring_pages)) {}

  [[noreturn]] void Serve() {
    uint32_t at = 0;  // commands at [at, end) are here
    uint32_t end = 0;
    for (uint32_t progress = 0;;) {
      if (at == end) [[unlikely]] {
        const Span next = commands_.Next();
        at = next.begin;
        end = next.end;
      }
      const uint32_t word = Load(at);
      const uint32_t id = word & 0xFF;
      SetCommand(id);
      const uint32_t stride = Load(at + offsetof(abi::RelayInline, stride));
      if (id == static_cast<uint32_t>(abi::PrefetchId::kRelayInline) &&
          RelayInline(word, at, stride, end)) [[likely]] {
        at += stride;
      } else {
        const Span behind = ExecuteOther(word, at, end);
        at = behind.begin;
        end = behind.end;
      }
      SetProgress(++progress);
    }
  }

 private:
  // Executes the command at `at`, of those up to `end`; returns what lies behind it.
  [[gnu::noinline]] Span ExecuteOther(uint32_t word, uint32_t at, uint32_t end) {
    const Span here = {at, end};
    const Span behind = {at + abi::kEntryAlignment, end};
    switch (static_cast<abi::PrefetchId>(word & 0xFF)) {
      case abi::PrefetchId::kRelayInline:
        return RelayInlineAcross(word, here);
      case abi::PrefetchId::kRelayInlineNoflush:
        return RelayInlineNoflush(word, here);
      case abi::PrefetchId::kRelayLinear:
      case abi::PrefetchId::kRelayLinearH:
        RelayLinear(at);
        return behind;
      case abi::PrefetchId::kRelayPaged:
        RelayPaged(word, at);
        return behind;
      case abi::PrefetchId::kRelayPagedPacked:
        return RelayPagedPacked(word, here);
      case abi::PrefetchId::kRelayRingbuffer:
        return RelayRingbuffer(word, here);
      case abi::PrefetchId::kPagedToRingbuffer:
        PagedToRingbuffer(word, at);
        return behind;
      case abi::PrefetchId::kSetRingbufferOffset:
        SetRingbufferOffset(word, at);
        return behind;
      case abi::PrefetchId::kExecBuf:
        return commands_.BeginBuffer(here);
      case abi::PrefetchId::kExecBufEnd:
        return EndExecBuffer(word, here);
      case abi::PrefetchId::kStall:
        Stall();
        return behind;
      case abi::PrefetchId::kDebug:
        return SkipDebug(here);
      case abi::PrefetchId::kTerminate:
        Terminate();
      default:
        commands_.Refuse(at, abi::kFaultUnknownCommand, at, 0);
    }
  }

  // Puts `length` bytes into the ring, from here on, perhaps block by block.
  template <typename Ring>
  Span Append(RingWriter<Ring>& ring, Span here, uint32_t length) {
    while (length > here.end - here.begin) {
      const uint32_t piece = here.end - here.begin;
      ring.Append(here.begin, piece);
      length -= piece;
      here = commands_.NextBlock();
    }
    ring.Append(here.begin, length);
    return {here.begin + length, here.end};
  }

  // False: it is wrong, or not all of it is here.
  [[gnu::always_inline]] bool RelayInline(uint32_t word, uint32_t at, uint32_t stride,
                                          uint32_t end) {
    const uint32_t length = Load(at + offsetof(abi::RelayInline, length));
    const uint32_t dispatcher = word >> 8 & 0xFF;
    // In unsigned arithmetic: 0 < stride <= what is here, 0 < length <= stride - 16.
    if (stride - 1 >= end - at || stride % abi::kEntryAlignment != 0 ||
        length - 1 >= stride - abi::kCommandBytes) [[unlikely]] {
      return false;
    }
    if (dispatcher == static_cast<uint32_t>(abi::DispatcherType::kDispatch)) [[likely]] {
      dispatch_ring_.WriteCommand(at + abi::kCommandBytes, length);
    } else {
      RequireDispatchS(at, dispatcher, length);
      dispatch_s_ring_.WriteCommand(at + abi::kCommandBytes, length);
    }
    return true;
  }

  // Every command of dispatch_s fits a page of its ring.
  void RequireDispatchS(uint32_t at, uint32_t dispatcher, uint32_t length) const {
    if (dispatcher != static_cast<uint32_t>(abi::DispatcherType::kDispatchS) ||
        length > abi::kDispatchSPageBytes) [[unlikely]] {
      commands_.Refuse(at, abi::kFaultBadLength, length, abi::kDispatchSPageBytes);
    }
  }

  // The same command when it is wrong, or goes on in the exec buffer's next block.
  Span RelayInlineAcross(uint32_t word, Span here) {
    const uint32_t at = here.begin;
    const uint32_t length = Load(at + offsetof(abi::RelayInline, length));
    const uint32_t stride =
        commands_.CheckedStride(here, Load(at + offsetof(abi::RelayInline, stride)), length);
    if (length == 0) [[unlikely]] {
      commands_.Refuse(at, abi::kFaultBadLength, length, stride);
    }
    here.begin += abi::kCommandBytes;
    if ((word >> 8 & 0xFF) == static_cast<uint32_t>(abi::DispatcherType::kDispatch)) {
      here = Append(dispatch_ring_, here, length);
      dispatch_ring_.Finish();
    } else {
      RequireDispatchS(at, word >> 8 & 0xFF, length);
      here = Append(dispatch_s_ring_, here, length);
      dispatch_s_ring_.Finish();
    }
    return commands_.Skip(here, stride - abi::kCommandBytes - length);
  }

  // The page stays unannounced: the relay command behind supplies its payload.
  Span RelayInlineNoflush(uint32_t word, Span here) {
    const uint32_t at = here.begin;
    const uint32_t length = Load(at + offsetof(abi::RelayInline, length));
    const uint32_t stride =
        commands_.CheckedStride(here, Load(at + offsetof(abi::RelayInline, stride)), length);
    if (length % 16 != 0 || length - 1 >= abi::kDispatchPageBytes - 1 ||
        (word >> 8 & 0xFF) != static_cast<uint32_t>(abi::DispatcherType::kDispatch)) [[unlikely]] {
      commands_.Refuse(at, abi::kFaultBadLength, length, abi::kDispatchPageBytes - 16);
    }
    here.begin += abi::kCommandBytes;
    here = Append(dispatch_ring_, here, length);
    dispatch_ring_.LeaveOpen();
    return commands_.Skip(here, stride - abi::kCommandBytes - length);
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
    if (length_high != 0 || length == 0 || low % 16 != 0) [[unlikely]] {
      commands_.Refuse(at, abi::kFaultBadLength, length_high != 0 ? ~0u : length, low);
    }
    Relay(LinearSource(noc_xy, low, high, length), scratch_, dispatch_ring_);
  }

  void RelayPaged(uint32_t word, uint32_t at) {
    const uint32_t base = Load(at + offsetof(abi::RelayPaged, base_address));
    const uint32_t page_bytes = Load(at + offsetof(abi::RelayPaged, page_size));
    const uint32_t pages = Load(at + offsetof(abi::RelayPaged, pages));
    const uint32_t adjust = word >> 16 & ~uint32_t{abi::kRelayPagedIsDram};
    if ((page_bytes | base) % hw::kDramAlignment != 0 || page_bytes <= adjust) [[unlikely]] {
      commands_.Refuse(at, abi::kFaultBadLength, page_bytes, base);
    }
    const uint64_t total = uint64_t{pages} * page_bytes;
    if (pages == 0 || total >> 32 != 0) [[unlikely]] {
      commands_.Refuse(at, abi::kFaultBadCount, pages, page_bytes);
    }
    const bool is_dram = (word >> 16 & abi::kRelayPagedIsDram) != 0;
    const uint32_t start_page = word >> 8 & 0xFF;
    Relay(PagedSource(is_dram, start_page, base, page_bytes, static_cast<uint32_t>(total) - adjust),
          scratch_, dispatch_ring_);
  }

  Span RelayPagedPacked(uint32_t word, Span here) {
    const Place place = commands_.PlaceOf(here.begin);
    const uint32_t count = word >> 16;
    const uint32_t total = Load(here.begin + offsetof(abi::RelayPagedPacked, total_length));
    if (count - 1 >= abi::kMaxPagedPacked) [[unlikely]] {
      Refuse(place, abi::kFaultBadCount, count, abi::kMaxPagedPacked);
    }
    const uint32_t bytes = count * sizeof(abi::RelayPagedPackedTarget);
    const uint32_t stride = commands_.CheckedStride(
        here, Load(here.begin + offsetof(abi::RelayPagedPacked, stride)), bytes);
    const uint32_t list = commands_.TakeList(here, bytes / 4, stride);
    uint32_t sum = 0;
    for (uint32_t at = list; at != list + bytes; at += sizeof(abi::RelayPagedPackedTarget)) {
      const uint32_t page_shift = Load(at) >> 16;
      const uint32_t base = Load(at + offsetof(abi::RelayPagedPackedTarget, base_address));
      const uint32_t length = Load(at + offsetof(abi::RelayPagedPackedTarget, length));
      const bool last = at + sizeof(abi::RelayPagedPackedTarget) == list + bytes;
      RequirePages(place, page_shift, base);
      if (length - 1 >= scratch_.half_bytes || (length % 16 != 0 && !last)) [[unlikely]] {
        Refuse(place, abi::kFaultBadLength, length, scratch_.half_bytes);
      }
      sum += length;
    }
    if (sum != total) [[unlikely]] {
      Refuse(place, abi::kFaultBadLength, total, sum);
    }
    Relay(PagedPackedSource(list, count), scratch_, dispatch_ring_);
    return here;
  }

  static void RequirePages(const Place& place, uint32_t page_shift, uint32_t base) {
    if (page_shift < abi::kMinPageShift || page_shift > abi::kMaxPageShift ||
        base % hw::kDramAlignment != 0) [[unlikely]] {
      Refuse(place, abi::kFaultBadLength, page_shift, base);
    }
  }

  void PagedToRingbuffer(uint32_t word, uint32_t at) {
    const Place place = commands_.PlaceOf(at);
    const uint32_t page_shift = word >> 16 & 0xFF;
    const uint32_t advance = Load(at + offsetof(abi::PagedToRingbuffer, wp_offset_update));
    const uint32_t base = Load(at + offsetof(abi::PagedToRingbuffer, base_address));
    const uint32_t length = Load(at + offsetof(abi::PagedToRingbuffer, length));
    RequirePages(place, page_shift, base);
    if (length == 0 || (length | advance) % hw::kDramAlignment != 0 || advance < length)
        [[unlikely]] {
      Refuse(place, abi::kFaultBadLength, length, advance);
    }
    const bool reset = (word >> 8 & abi::kRingbufferReset) != 0;
    const uint32_t room = ringbuffer_.bytes() - (reset ? 0 : ringbuffer_.write_pointer());
    if (advance > room) [[unlikely]] {
      Refuse(place, abi::kFaultBadLength, advance, room);
    }
    if (reset) {
      ringbuffer_.SetOffset(0, true);
    }
    ringbuffer_.Read(page_shift, word >> 24, base, length, advance);
  }

  void SetRingbufferOffset(uint32_t word, uint32_t at) {
    const uint32_t offset = word >> 8 | Load(at + 4) << 24;
    const bool update_write_pointer = (Load(at + 8) & 0xFF) != 0;
    if (offset > ringbuffer_.bytes() || offset % 16 != 0 ||
        (update_write_pointer && offset % hw::kDramAlignment != 0)) [[unlikely]] {
      commands_.Refuse(at, abi::kFaultBadLength, offset, ringbuffer_.bytes());
    }
    ringbuffer_.SetOffset(offset, update_write_pointer);
  }

  Span RelayRingbuffer(uint32_t word, Span here) {
    const Place place = commands_.PlaceOf(here.begin);
    const uint32_t count = word >> 16;
    if (count - 1 >= abi::kMaxRelayRingbuffer) [[unlikely]] {
      Refuse(place, abi::kFaultBadCount, count, abi::kMaxRelayRingbuffer);
    }
    const uint32_t bytes = count * sizeof(abi::RelayRingbufferTarget);
    const uint32_t stride = commands_.CheckedStride(
        here, Load(here.begin + offsetof(abi::RelayRingbuffer, stride)), bytes);
    const uint32_t list = commands_.TakeList(here, bytes / 4, stride);
    for (uint32_t at = list; at != list + bytes; at += sizeof(abi::RelayRingbufferTarget)) {
      const uint32_t start = Load(at);
      const uint32_t length = Load(at + offsetof(abi::RelayRingbufferTarget, length));
      const bool last = at + sizeof(abi::RelayRingbufferTarget) == list + bytes;
      if (length == 0 || start % 16 != 0 || (length % 16 != 0 && !last) ||
          !ringbuffer_.Holds(start, length)) [[unlikely]] {
        Refuse(place, abi::kFaultBadLength, length, start);
      }
    }
    Ringbuffer::AwaitArrived();
    for (uint32_t at = list; at != list + bytes; at += sizeof(abi::RelayRingbufferTarget)) {
      dispatch_ring_.Append(ringbuffer_.AddressOf(Load(at)),
                            Load(at + offsetof(abi::RelayRingbufferTarget, length)));
    }
    dispatch_ring_.Finish();
    return here;
  }

  Span EndExecBuffer(uint32_t word, Span here) {
    commands_.RequireBuffer(here.begin);
    RelayInlineAcross(word, here);
    return commands_.EndBuffer();
  }

  Span SkipDebug(Span here) {
    const uint32_t stride =
        commands_.CheckedStride(here, Load(here.begin + offsetof(abi::DebugPrefetch, stride)),
                                Load(here.begin + offsetof(abi::DebugPrefetch, size)));
    return commands_.Skip(here, stride);
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
    AwaitAnswers(kWriteId);
    AwaitAnswers(kAtomicId);
    AwaitZero(NiuCounterAddress<1>(hw::kNocRequestsOutstanding + kPointerId));
    Ringbuffer::AwaitArrived();
    commands_.Drain();
    SetProgress(Load(kStatus + offsetof(abi::HartStatus, progress)) + 1);
    SetWaypoint(abi::kWaypointDone);
    SetState(abi::kHartStopped);
    Park();
  }

  CommandSource commands_;
  Ringbuffer ringbuffer_;
  const Scratch scratch_;
  RingWriter<DispatchRing> dispatch_ring_;
  RingWriter<DispatchSRing> dispatch_s_ring_;
  uint32_t stalls_ = 0;
};

void CheckBootBlock() {
  TTFD_REQUIRE_BOOT(TTFD_BOOT(fetch_queue_entries) != 0, fetch_queue_entries);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(issue_ring_bytes) % abi::kEntryAlignment == 0, issue_ring_bytes);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(command_ring_address) % abi::kEntryAlignment == 0,
                    command_ring_address);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(command_ring_bytes) % abi::kEntryAlignment == 0 &&
                        TTFD_BOOT(command_ring_bytes) >= ExecBuffer::kBlocks * abi::kEntryAlignment,
                    command_ring_bytes);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(scratch_address) % 64 == 0, scratch_address);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(scratch_bytes) % 128 == 0 && TTFD_BOOT(scratch_bytes) >= 256,
                    scratch_bytes);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(ringbuffer_address) % 64 == 0, ringbuffer_address);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(ringbuffer_bytes) % 64 == 0, ringbuffer_bytes);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(dispatch_ring_pages) >= 4, dispatch_ring_pages);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(dispatch_s_ring_pages) >= 4, dispatch_s_ring_pages);
}

}  // namespace
}  // namespace ttfd::firmware::prefetch

extern "C" [[noreturn]] void FirmwareMain() {
  using namespace ttfd::firmware;
  Boot(ttfd::abi::kRolePrefetch, [] {
    prefetch::CheckBootBlock();
    prefetch::InitializeNiu(TTFD_BOOT(issue_ring_high));
  });
  prefetch::Prefetcher prefetcher;
  prefetcher.Serve();
}
