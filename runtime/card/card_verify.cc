// A card that has come up shows that it works before anybody is told that it is ready.
#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/abi/kernel_image.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"
#include "runtime/boot/hart_state.h"
#include "runtime/card/firmware_card.h"
#include "runtime/command/program.h"

namespace ttfd {
namespace {

// A page of every bank.
constexpr uint32_t kTestPageBytes = 64;

// A jalr x0, 0(ra): back to the base firmware.
constexpr uint32_t kReturn = 0x00008067;

// A kernel for any hart that returns at once.
std::shared_ptr<const KernelImage> EmptyKernel() {
  constexpr uint32_t kHeader = sizeof(abi::KernelImageHeader);
  constexpr uint32_t kBytes = kHeader + 16;
  auto image = std::make_shared<KernelImage>();
  image->name = "check";
  image->bytes.resize(kBytes);
  const abi::KernelImageHeader header{kBytes, kHeader, kBytes, 0, kBytes, kBytes, 0, 0};
  StoreAt(image->bytes.data(), header);
  StoreAt(image->bytes.data() + kHeader, kReturn);
  return image;
}

// On all harts of all workers.
StatusOr<LaunchCommand> EmptyLaunch(GridSize grid) {
  const std::shared_ptr<const KernelImage> image = EmptyKernel();
  ProgramSpec spec;
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    spec.kernels.push_back({image, static_cast<hw::Hart>(hart), {{0, 0, grid.x - 1, grid.y - 1}}});
  }
  LaunchCommand launch;
  ASSIGN_OR_RETURN(launch.program, BuildProgram(0, spec, grid));
  launch.arguments.resize(spec.kernels.size());
  return launch;
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
Status FirmwareCard::VerifyVersions() {
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
Status FirmwareCard::AwaitSettled(Tick tick) {
  for (CardQueue& queue : queues_) RETURN_IF_ERROR(queue.link->Flush());
  TimePoint moved = clock_.Now();
  faults_.Restart();
  const auto done = [this]() -> StatusOr<bool> {
    return std::none_of(queues_.begin(), queues_.end(), [](const CardQueue& queue) {
      return queue.timeline.waits_for_events() || queue.reads.waits();
    });
  };
  const auto step = [&]() -> StatusOr<bool> {
    const uint64_t before = progress_;
    ASSIGN_OR_RETURN(const bool can_move, Step(options_.advance_clocks));
    if (progress_ != before) moved = clock_.Now();
    RETURN_IF_ERROR(faults_.Look(progress_ != before));
    return can_move;
  };
  const auto late = [&] { return clock_.Now() - moved >= options_.boot_timeout; };
  ASSIGN_OR_RETURN(const Waited waited,
                   WaitUntil(done, step, late, tick, Pacing(device_.info(), clock_)));
  if (waited == Waited::kDone) return OkStatus();
  return Error(StatusCode::kDeadlineExceeded, "{}", Explain());
}

// Memory that a reset may change: in L1 the circular buffers', in DRAM that behind the allocatable bytes.
std::array<Region, 2> FirmwareCard::TestPlaces() const {
  const auto over = [this](MemoryKind kind, uint64_t address) {
    return Region{kind, -1, static_cast<uint32_t>(address), kTestPageBytes,
                  uint64_t{geometry_.Banks(kind)} * kTestPageBytes};
  };
  return {over(MemoryKind::kL1, abi::kCircularBufferAddress),
          over(MemoryKind::kDram, card_.dram_base + card_.dram_bank_bytes)};
}

// A write to every worker and to every DRAM bank; a launch that all workers answer; a read of it all, and an event.
// After a reset every hart has a kernel of the launch. At the first boot it runs nothing: no hart was ever used, and
// code that it has not met takes the embedded device as long as a part of the boot. Leaves no ticket behind.
Status FirmwareCard::VerifyQueue(uint32_t number, Tick tick) {
  const Route route{number, {}};
  const std::array<Region, 2> places = TestPlaces();
  std::array<std::vector<std::byte>, 2> bytes, back;
  std::unique_ptr<TraceUndo> undo;  // of no trace
  for (size_t i = 0; i < places.size(); ++i) {
    bytes[i] = TestBytes(places[i].size_bytes,
                         static_cast<uint32_t>((boots_ * kHardwareQueues + number) * 2 + i));
    PlanTransfer(route, WriteCommand{places[i], 0, bytes[i]});
    RETURN_IF_ERROR(Commit(number, &undo).status());
  }
  if (boots_ > 1 && check_.program == nullptr) {
    ASSIGN_OR_RETURN(check_, EmptyLaunch(geometry_.grid()));
  }
  if (boots_ > 1) {
    RETURN_IF_ERROR(launches_.PlanLaunch(route, check_));
  } else {
    launches_.PlanNothing(route);
  }
  RETURN_IF_ERROR(Commit(number, &undo).status());
  for (size_t i = 0; i < places.size(); ++i) {
    back[i].resize(bytes[i].size());
    ReadCommand read{places[i], 0, places[i].size_bytes, {}};
    read.sink = [to = back[i].data()](uint64_t at, ByteSpan data) {
      std::memcpy(to + at, data.data(), data.size());
    };
    PlanTransfer(route, read);
    RETURN_IF_ERROR(Commit(number, &undo).status());
  }
  CardQueue& queue = queues_[number];
  for (bool asked = false; !asked;) {
    ASSIGN_OR_RETURN(asked, queue.EventBehind(number, submitted(number), queue.ordering->Now()));
    RETURN_IF_ERROR(AwaitSettled(tick));
  }
  for (size_t i = 0; i < places.size(); ++i) {
    if (back[i] == bytes[i]) continue;
    const auto differ = std::mismatch(back[i].begin(), back[i].end(), bytes[i].begin()).first;
    return Error(StatusCode::kFailedPrecondition,
                 "{} {} holds other bytes than CQ{} wrote there to see whether it works",
                 places[i].kind == MemoryKind::kL1 ? "worker" : "DRAM bank",
                 (differ - back[i].begin()) / kTestPageBytes, number);
  }
  return OkStatus();
}

// Versions and nonces of all harts; then each hardware queue. The first comes last: it has the workers from then on.
Status FirmwareCard::VerifyCard(Tick tick) {
  RETURN_IF_ERROR(VerifyVersions());
  for (uint32_t number = kHardwareQueues; number-- > 0;) RETURN_IF_ERROR(VerifyQueue(number, tick));
  launches_.Restart(boots_);  // without the kernel that nobody will ask for
  return OkStatus();
}

}  // namespace ttfd
