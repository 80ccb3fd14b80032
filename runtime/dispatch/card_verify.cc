// A card that has come up shows that it works before anybody is told that it is ready.
#include <algorithm>
#include <cstring>

#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"
#include "runtime/boot/hart_state.h"
#include "runtime/dispatch/card_dispatcher.h"

namespace ttfd {
namespace {

// The reserved place: the scratch of circular buffers, of which no program expects anything to outlast it.
constexpr uint32_t kTestPageBytes = 64;

// Pages over all workers.
Region TestPlace(const CardGeometry& card) {
  return {MemoryKind::kL1, -1, abi::kCircularBufferAddress, kTestPageBytes,
          uint64_t{card.worker_count()} * kTestPageBytes};
}

// Differs from boot to boot, from tile to tile and from queue to queue: nothing that is still there can pass.
std::vector<std::byte> TestBytes(uint64_t size, uint32_t seed) {
  std::vector<std::byte> bytes(size);
  uint32_t word = seed * 2654435761u + 1;
  for (uint64_t at = 0; at + sizeof(word) <= size; at += sizeof(word)) {
    word = word * 1664525u + 1013904223u;
    StoreAt(bytes.data() + at, word);
  }
  return bytes;
}

}  // namespace

// Each hart that was released says, in words it wrote since, which firmware it is and which boot it is of.
Status CardDispatcher::VerifyVersions() {
  const auto check = [this](hw::Coordinate tile, uint32_t harts) -> Status {
    ASSIGN_OR_RETURN(const std::unique_ptr<Window> window, device_.OpenWindow(UnicastTarget(tile)));
    ASSIGN_OR_RETURN(const TileStatus status, ReadTileStatus(*window));
    for (uint32_t hart = 0; hart < harts; ++hart) {
      const abi::HartStatus& own = status[hart];
      if (own.state == abi::kHartReady && own.protocol_version == abi::kProtocolVersion &&
          own.boot_nonce == boot_nonce()) {
        continue;
      }
      return Error(StatusCode::kFailedPrecondition,
                   "tile ({},{}) {} is {}, of protocol version {:#010x} and boot {:#x}; it was to "
                   "be ready, of {:#010x} and {:#x}",
                   tile.x, tile.y, HartName(hart), HartStateName(own.state), own.protocol_version,
                   own.boot_nonce, abi::kProtocolVersion, boot_nonce());
    }
    return OkStatus();
  };
  for (const BootPlan& plan : plans_) {
    RETURN_IF_ERROR(check(plan.prefetch_tile, 1));
    RETURN_IF_ERROR(check(plan.dispatch_tile, 2));
  }
  for (uint32_t worker = 0; worker < plans_.front().worker_count(); ++worker) {
    RETURN_IF_ERROR(check(plans_.front().WorkerTile(worker), hw::kHarts));
  }
  return OkStatus();
}

// Everything asked for has come, or will not.
Status CardDispatcher::AwaitSettled() {
  TimePoint moved = clock_.Now();
  for (CardQueue& queue : queues_) RETURN_IF_ERROR(queue.link->Flush());
  while (std::any_of(queues_.begin(), queues_.end(), [](const CardQueue& queue) {
    return queue.timeline.waits_for_events() || queue.reads.waits();
  })) {
    const uint64_t before = progress_;
    ASSIGN_OR_RETURN(const bool can_move, Step(options_.advance_clocks));
    const TimePoint now = clock_.Now();
    if (progress_ != before) moved = now;
    if (can_move && now - moved < options_.boot_timeout) continue;
    return Error(StatusCode::kDeadlineExceeded, "{}", ToString(Diagnose()));
  }
  return OkStatus();
}

// Versions and nonces of all harts; then through each hardware queue a write to every worker, a read of it all, and an
// event; and a launch of nothing that every worker answers. Leaves no ticket behind.
Status CardDispatcher::VerifyCard() {
  RETURN_IF_ERROR(VerifyVersions());
  const Region place = TestPlace(geometry_);
  std::vector<std::byte> back(place.size_bytes);
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    const Route route{queue, {}};
    const std::vector<std::byte> bytes =
        TestBytes(place.size_bytes, boots_ * kHardwareQueues + queue);
    RETURN_IF_ERROR(EncodeTransfer(route, WriteCommand{place, 0, bytes}));
    if (queue == 0) RETURN_IF_ERROR(launches_.LaunchNothing());
    ReadCommand read{place, 0, place.size_bytes, {}};
    read.sink = [&back](uint64_t at, ByteSpan data) {
      std::memcpy(back.data() + at, data.data(), data.size());
    };
    RETURN_IF_ERROR(EncodeTransfer(route, read));
    CardQueue& own = queues_[queue];
    RETURN_IF_ERROR(own.EventBehind(queue, submitted(queue), own.ordering.Now()));
    RETURN_IF_ERROR(AwaitSettled());
    if (back == bytes) continue;
    const auto differ = std::mismatch(back.begin(), back.end(), bytes.begin()).first;
    const auto at = static_cast<uint64_t>(differ - back.begin());
    return Error(StatusCode::kFailedPrecondition,
                 "worker {} holds other bytes than CQ{} wrote there to see whether it works",
                 at / kTestPageBytes, queue);
  }
  return OkStatus();
}

}  // namespace ttfd
