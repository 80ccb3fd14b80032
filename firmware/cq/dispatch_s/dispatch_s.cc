// cq_dispatch_s, NCRISC of the dispatch tile, on NoC 1: sends go signals when the workers of the launch
// before are done, so that the dispatcher can place the next launch meanwhile.
#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/wait.h"
#include "firmware/cq/dispatch_s/go_counts.h"
#include "firmware/cq/dispatch_s/go_sender.h"
#include "firmware/cq/ring_reader.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/rings.h"
#include "runtime/hw/stream.h"

namespace ttfd::firmware::dispatch_s {
namespace {

struct RingPolicy {
  static constexpr uint32_t kPageShift = 8;
  static constexpr uint32_t kArrived =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, dispatch_s_pages_arrived);

  static void Return(uint32_t pages) {
    AtomicIncrement<1, 2>(
        TTFD_BOOT(prefetch_xy),
        abi::kControlBlockAddress + offsetof(abi::ControlBlock, dispatch_s_pages_returned), pages);
  }
  // Nothing is sent from the ring itself.
  static bool HaveWritesLeft() { return true; }
  static void AwaitWritesLeft() {}
};
static_assert(1u << RingPolicy::kPageShift == abi::kDispatchSPageBytes);

// The command at `at` breaks a rule.
[[noreturn, gnu::noinline, gnu::cold]] void Refuse(uint32_t at, abi::FaultCode code, uint32_t value,
                                                   uint32_t allowed) {
  Fault(code, Load(at) & 0xFF, value, allowed, at - TTFD_BOOT(dispatch_s_ring_address));
}

class DispatchS {
 public:
  DispatchS()
      : ring_(TTFD_BOOT(dispatch_s_ring_address), TTFD_BOOT(dispatch_s_ring_pages)),
        first_stream_(TTFD_BOOT(first_worker_stream)),
        counts_(sender_, first_stream_) {}

  [[noreturn]] void Serve() {
    for (;;) {
      ring_.AwaitPageBy([this](uint32_t waypoint, auto done) { Await(waypoint, done); });
      Execute();
      SetProgress(++progress_);
      ring_.FinishPage();
    }
  }

 private:
  // WaitUntil; publishes the go signals that are answered meanwhile.
  template <typename Done>
  [[gnu::always_inline]] void Await(uint32_t waypoint, Done done) {
    if (counts_.all_published()) [[likely]] {
      return WaitUntil(waypoint, done);
    }
    WaitUntil(waypoint, [this, &done] {
      if (done()) {
        return true;
      }
      counts_.PublishNews();
      return false;
    });
  }

  [[gnu::always_inline]] void Execute() {
    const uint32_t at = ring_.cursor();
    const uint32_t word = Load(at);
    const uint32_t id = word & 0xFF;
    SetCommand(id);
    switch (static_cast<abi::DispatchId>(id)) {
      case abi::DispatchId::kSendGoSignal:
        return SendGo(word, at);
      case abi::DispatchId::kSetNumWorkerSems:
        return SetStreams(at);
      case abi::DispatchId::kSetGoSignalNocData:
        return SetTargets(at);
      case abi::DispatchId::kTerminate:
        Terminate();
      default:
        Refuse(at, abi::kFaultUnknownCommand, at, 0);
    }
  }

  void SendGo(uint32_t word, uint32_t at) {
    const uint32_t second = Load(at + 4);
    const uint32_t go = word >> 8 | second << 24;
    const uint32_t count = Load(at + offsetof(abi::SendGoSignal, wait_count));
    const uint32_t stream = Load(at + offsetof(abi::SendGoSignal, wait_stream));
    const uint32_t sub_device = stream - first_stream_;
    if (sub_device >= streams_) [[unlikely]] {
      Refuse(at, abi::kFaultBadCount, stream, first_stream_ + streams_ - 1);
    }
    const uint32_t multicast_index = second >> 8 & 0xFF;
    if (multicast_index >= abi::kGoWords && multicast_index != abi::kNoMulticastGo) [[unlikely]] {
      Refuse(at, abi::kFaultBadCount, multicast_index, abi::kGoWords - 1);
    }
    const uint32_t unicasts = second >> 16 & 0xFF;
    if (unicasts != 0 && (!sender_.HasTargets(second >> 24, unicasts) ||
                          (go & 0xFF) >= abi::kGoWords)) [[unlikely]] {
      Refuse(at, abi::kFaultBadCount, unicasts, sender_.targets());
    }
    SetAwaited(stream, count);
    AwaitNotify(sub_device);
    const uint32_t available = hw::StreamRegister(stream, hw::kStreamSpaceAvailable);
    Await(abi::kWaypointWorkers,
          [available, count] { return hw::StreamCounterReached(Load(available), count); });
    const uint32_t own = Load(kSubDevices + sub_device * sizeof(abi::SubDevice));
    const uint32_t generation = own >> abi::kSubDeviceGenerationShift;
    counts_.Sends(sub_device);
    uint32_t answers = unicasts;
    if (multicast_index != abi::kNoMulticastGo) {
      sender_.Multicast(go, generation + multicast_index);
      answers += own & abi::kSubDeviceAnswersMask;
    }
    if (unicasts != 0) {
      sender_.Unicast(go, generation, second >> 24, unicasts);
    }
    counts_.Sent(sub_device, count + answers, (own & abi::kPublishGos) != 0);
  }

  // The dispatcher has said so once more than go signals were sent to the sub-device: what they need
  // is in place.
  void AwaitNotify(uint32_t sub_device) {
    const uint32_t sent = counts_.sent(sub_device);
    const uint32_t address = abi::kControlBlockAddress + offsetof(abi::ControlBlock, notified) +
                             sub_device * sizeof(abi::Counter);
    Await(abi::kWaypointNotify,
          [address, sent] { return static_cast<int32_t>(Load(address) - sent) > 0; });
    Fence();  // as WaitForMemory does
  }

  void SetStreams(uint32_t at) {
    const uint32_t count = Load(at + offsetof(abi::SetNumWorkerSems, num));
    if (count - 1 >= abi::kMaxSubDevices) [[unlikely]] {
      Refuse(at, abi::kFaultBadCount, count, abi::kMaxSubDevices);
    }
    streams_ = count;
    ClearStreams(first_stream_, count);
  }

  void SetTargets(uint32_t at) {
    const uint32_t count = Load(at + offsetof(abi::SetGoSignalNocData, num_words));
    if (count > abi::kMaxGoNocWords) [[unlikely]] {
      Refuse(at, abi::kFaultBadCount, count, abi::kMaxGoNocWords);
    }
    sender_.SetTargets(at + sizeof(abi::SetGoSignalNocData), count);
  }

  [[noreturn]] void Terminate() {
    sender_.Barrier();
    SetProgress(++progress_);
    ring_.FinishPage();
    ring_.ReturnAll();
    AtomicBuffer::AwaitFree();
    WaitUntil(abi::kWaypointNoc,
              [] { return NiuCounter<1>(hw::kNocRequestsOutstanding + kAtomicId) == 0; });
    SetWaypoint(abi::kWaypointDone);
    SetState(abi::kHartStopped);
    Park();
  }

  static constexpr uint32_t kSubDevices =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, sub_devices);

  RingReader<RingPolicy> ring_;
  GoSender sender_;
  const uint32_t first_stream_;
  GoCounts counts_;
  uint32_t streams_ = 1;
  uint32_t progress_ = 0;  // commands executed
};

void CheckBootBlock() {
  TTFD_REQUIRE_BOOT(TTFD_BOOT(dispatch_s_ring_address) % 16 == 0, dispatch_s_ring_address);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(dispatch_s_ring_pages) >= 4, dispatch_s_ring_pages);
  TTFD_REQUIRE_BOOT(TTFD_BOOT(first_worker_stream) + abi::kMaxSubDevices <= hw::kStreams,
                    first_worker_stream);
}

}  // namespace
}  // namespace ttfd::firmware::dispatch_s

extern "C" [[noreturn]] void FirmwareMain() {
  using namespace ttfd::firmware;
  Boot(ttfd::abi::kRoleDispatch, [] {
    dispatch_s::CheckBootBlock();
    dispatch_s::ClearStreams(TTFD_BOOT(first_worker_stream), ttfd::abi::kMaxSubDevices);
    dispatch_s::InitializeNiu();
  });
  dispatch_s::DispatchS dispatch_s;
  dispatch_s.Serve();
}
