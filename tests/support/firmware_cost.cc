#include "tests/support/firmware_cost.h"

#include <algorithm>
#include <vector>

#include "runtime/abi/l1_map.h"
#include "runtime/hw/stream.h"
#include "runtime/hw/tensix.h"
#include "tests/support/firmware_launch.h"

namespace ttfd::testing {
namespace {

constexpr uint32_t kGateStream = 40;    // holds the dispatcher
constexpr uint32_t kGateSubDevice = 7;  // holds dispatch_s
constexpr uint32_t kTraceAddress = 0x100000;
constexpr uint32_t kTracePageShift = 12;
constexpr auto kPrefetch = FirmwareBench::kPrefetchTile;
constexpr auto kDispatch = FirmwareBench::kDispatchTile;

enum class Grid { kTwoTiles, kAllTiles };

// Adds the commands whose cost is asked for, `count` times, as entries or as one trace.
using Fill = std::function<void(uint32_t count, std::vector<EntryBuilder>* entries)>;

class Meter {
 public:
  static StatusOr<std::unique_ptr<Meter>> Create(Grid grid, uint32_t command_ring_bytes) {
    BenchOptions options;
    options.worker_start = {1, 2};
    options.worker_end = grid == Grid::kAllTiles ? hw::Coordinate{14, 11} : hw::Coordinate{2, 2};
    options.issue_ring_bytes = 1 << 20;
    options.fetch_queue_entries = 256;
    options.command_ring_bytes = command_ring_bytes;
    options.dispatch_ring_pages = 128;
    options.dispatch_s_ring_pages = 128;
    options.completion_ring_pages = 128;
    auto meter = std::make_unique<Meter>();
    ASSIGN_OR_RETURN(meter->bench_, FirmwareBench::Create(options));
    RETURN_IF_ERROR(meter->bench_->Boot());
    RETURN_IF_ERROR(meter->bench_->SendAndRun(
        EntryBuilder().DispatchS(SetNumWorkerSemsCommand(abi::kMaxSubDevices))));
    return meter;
  }

  // The cost of one of what `fill` adds: of `large` of them less that of `small`.
  StatusOr<CommandCost> Measure(uint32_t small, uint32_t large, bool trace, const Fill& fill) {
    ASSIGN_OR_RETURN(const CommandCost less, Batch(small, trace, fill));
    ASSIGN_OR_RETURN(const CommandCost more, Batch(large, trace, fill));
    const uint32_t count = large - small;
    const auto each = [count](uint64_t big, uint64_t little) {
      return (big - little + count - 1) / count;
    };
    return CommandCost{each(more.prefetch, less.prefetch), each(more.dispatch, less.dispatch),
                       each(more.dispatch_s, less.dispatch_s), each(more.worker, less.worker)};
  }

  FirmwareBench& bench() { return *bench_; }

 private:
  StatusOr<CommandCost> Batch(uint32_t count, bool trace, const Fill& fill) {
    std::vector<EntryBuilder> entries;
    fill(count, &entries);
    ++batches_;
    EntryBuilder gates;
    gates.Dispatch(NotifyCommand(1u << kGateSubDevice, false));
    gates.DispatchS(
        SendGoCommand(0, abi::kNoMulticastGo, abi::kFirstWorkerStream + kGateSubDevice, batches_));
    gates.Dispatch(WaitCommand(abi::kWaitStream, kGateStream, 0, batches_));
    RETURN_IF_ERROR(bench_->SendAndRun(gates));
    CommandCost cost;
    const uint64_t before = Retired(kPrefetch, hw::kBrisc);
    RETURN_IF_ERROR(trace ? SendTrace(entries) : SendEntries(entries));
    cost.prefetch = Retired(kPrefetch, hw::kBrisc) - before;
    ASSIGN_OR_RETURN(cost.dispatch, Open(kGateStream, hw::kBrisc));
    ASSIGN_OR_RETURN(cost.dispatch_s, Open(abi::kFirstWorkerStream + kGateSubDevice, hw::kNcrisc));
    for (;;) {
      ASSIGN_OR_RETURN(const std::vector<std::byte> page, bench_->TakeCompletionPage());
      if (page.empty()) return cost;
    }
  }

  Status SendEntries(const std::vector<EntryBuilder>& entries) {
    for (const EntryBuilder& entry : entries) RETURN_IF_ERROR(bench_->Send(entry));
    return bench_->Run();
  }

  Status SendTrace(const std::vector<EntryBuilder>& entries) {
    EntryBuilder buffer;
    for (const EntryBuilder& entry : entries) buffer.Raw(entry.bytes());
    buffer.ExecBufEnd();
    bench_->SetDramPages(kTraceAddress, 1u << kTracePageShift, 0, buffer.bytes());
    const auto bytes = static_cast<uint32_t>(buffer.bytes().size());
    const uint32_t pages = (bytes + (1u << kTracePageShift) - 1) >> kTracePageShift;
    return bench_->SendAndRun(EntryBuilder().ExecBuf(kTraceAddress, kTracePageShift, pages), true);
  }

  // Lets through what waits for `stream`; what `hart` of the dispatch tile has executed at rest.
  StatusOr<uint64_t> Open(uint32_t stream, uint32_t hart) {
    const uint64_t before = Retired(kDispatch, hart);
    bench_->SetWord(kDispatch, hw::StreamRegister(stream, hw::kStreamSpaceAvailableUpdate),
                    1u << hw::kStreamUpdateShift);
    RETURN_IF_ERROR(bench_->Run());
    return Retired(kDispatch, hart) - before;
  }

  uint64_t Retired(hw::Coordinate tile, uint32_t hart) const { return bench_->retired(tile, hart); }

  std::unique_ptr<FirmwareBench> bench_;
  uint32_t batches_ = 0;
};

constexpr uint32_t kLargeRing = 256 * 1024;
constexpr uint32_t kSmallRing = 32 * 1024;  // a trace goes on to its next block after 32 launches

void AppendLaunch(EntryBuilder& entry, const FirmwareBench& bench,
                  const abi::LaunchMessage& message, uint32_t slot, uint32_t wait_count) {
  Payload write = WritePackedCommand(abi::kPackedMulticast, 1, sizeof(message),
                                     abi::LaunchMessageAddress(slot));
  write.Value(bench.worker_rectangle()).Value(bench.worker_count()).Pad(16).Value(message);
  entry.Dispatch(write);
  entry.Dispatch(NotifyCommand(1));
  entry.DispatchS(SendGoCommand(abi::GoWord(0, kDispatch.x, kDispatch.y, slot), 0,
                                abi::kFirstWorkerStream, wait_count));
}

// A worker's part, in launches that each wait for the one before.
StatusOr<uint64_t> WorkerCost(FirmwareBench& bench, BenchLauncher& launcher) {
  constexpr uint32_t kLaunches = 64;
  const uint64_t before = bench.retired(bench.WorkerTile(0), hw::kBrisc);
  for (uint32_t i = 0; i < kLaunches; ++i) {
    EntryBuilder entry;
    launcher.Append(entry);
    RETURN_IF_ERROR(bench.Send(entry));
  }
  RETURN_IF_ERROR(bench.Run());
  return (bench.retired(bench.WorkerTile(0), hw::kBrisc) - before + kLaunches - 1) / kLaunches;
}

StatusOr<CommandCost> LaunchCost(bool trace) {
  ASSIGN_OR_RETURN(const auto meter, Meter::Create(Grid::kAllTiles, kSmallRing));
  FirmwareBench& bench = meter->bench();
  BenchLauncher launcher(bench);
  launcher.Load({.kernels = {{.name = "empty"}}});
  RETURN_IF_ERROR(launcher.RunLoaded());
  launcher.CodeIsKnown();
  ASSIGN_OR_RETURN(const uint64_t worker, WorkerCost(bench, launcher));
  const Fill fill = [&](uint32_t count, std::vector<EntryBuilder>* entries) {
    for (uint32_t i = 0; i < count; ++i) {
      EntryBuilder& entry = entries->emplace_back();
      if (!trace) entry.Dispatch(SetWriteOffsetCommand({0, 0, 0, 0}));
      // Reached already: a stage is counted, not its wait for another.
      AppendLaunch(entry, bench, launcher.message(), i % abi::kLaunchSlots, 0);
    }
  };
  ASSIGN_OR_RETURN(CommandCost cost, meter->Measure(trace ? 28 : 4, trace ? 60 : 36, trace, fill));
  cost.worker = worker;
  return cost;
}

StatusOr<CommandCost> EntryCost(uint32_t small, uint32_t large, const Payload& payload) {
  ASSIGN_OR_RETURN(const auto meter, Meter::Create(Grid::kTwoTiles, kLargeRing));
  return meter->Measure(small, large, false,
                        [&](uint32_t count, std::vector<EntryBuilder>* entries) {
                          for (uint32_t i = 0; i < count; ++i)
                            entries->emplace_back().Dispatch(payload);
                        });
}

}  // namespace

uint64_t CommandCost::busiest() const { return std::max({prefetch, dispatch, dispatch_s}); }
uint64_t CommandCost::pipeline() const { return prefetch + dispatch + dispatch_s; }

StatusOr<CommandCost> InlineWriteCost(uint32_t bytes) {
  const uint32_t pages = (bytes + 32 + abi::kDispatchPageBytes - 1) / abi::kDispatchPageBytes;
  const uint32_t large = 120 / pages;
  return EntryCost(large / 4, large,
                   WriteLinearCommand(hw::NocXy(1, 2), abi::kBufferAddress, bytes)
                       .Append(std::vector<std::byte>(bytes)));
}

StatusOr<CommandCost> PagedWriteCost() {
  constexpr uint32_t kPageBytes = 2048;
  ASSIGN_OR_RETURN(const auto meter, Meter::Create(Grid::kTwoTiles, kLargeRing));
  return meter->Measure(16, 48, false, [](uint32_t count, std::vector<EntryBuilder>* entries) {
    entries->emplace_back().Dispatch(WritePagedCommand(true, 0, kTraceAddress, kPageBytes, count)
                                         .Append(std::vector<std::byte>(count * kPageBytes)));
  });
}

StatusOr<CommandCost> CachedLaunchCost() { return LaunchCost(false); }
StatusOr<CommandCost> TracedLaunchCost() { return LaunchCost(true); }

StatusOr<CommandCost> BareEventCost() { return EntryCost(32, 96, EventCommand(1)); }

StatusOr<CommandCost> FullEventCost() {
  ASSIGN_OR_RETURN(const auto meter, Meter::Create(Grid::kTwoTiles, kLargeRing));
  constexpr uint32_t kLastEvent =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, last_event);
  return meter->Measure(4, 36, false, [](uint32_t count, std::vector<EntryBuilder>* entries) {
    for (uint32_t i = 0; i < count; ++i) {
      Payload id = WritePackedCommand(abi::kPackedNoStride, 2, 4, kLastEvent);
      for (uint32_t queue = 0; queue < abi::kMaxHardwareQueues; ++queue) {
        const hw::Coordinate tile = BenchQueue::DispatchTile(queue);
        id.Value(hw::NocXy(tile.x, tile.y));
      }
      entries->emplace_back()
          .Dispatch(WaitCommand(abi::kWaitBarrier | abi::kWaitStream, abi::kFirstWorkerStream))
          .Dispatch(id.Pad(16).Value(i))
          .Dispatch(EventCommand(i));
    }
  });
}

}  // namespace ttfd::testing
