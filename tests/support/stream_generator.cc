#include "tests/support/stream_generator.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "runtime/abi/launch.h"
#include "runtime/hw/noc.h"
#include "tests/support/stream_queue.h"
#include "tests/support/test_device_text.h"

namespace ttfd::testing {
namespace {

class Generator {
 public:
  Generator(uint32_t seed, const BenchOptions& options, FirmwareBench& bench)
      : world_{Random(seed ^ 0x57EA4), options, LayoutOf(bench), bench.host_data_address(0), {}, {},
               TestSimulator().empty()} {
    AddSlices();
    FillMemory();
    AddQueues();
  }

  RecordStream Generate(uint32_t commands) {
    for (uint32_t i = 0; i < commands * queues_.size(); ++i) {
      if (queues_.size() > 1 && world_.OneIn(6)) {
        HandOver();
      } else {
        AnyQueue().Operation();
      }
    }
    const bool terminate = world_.OneIn(4);
    for (auto& queue : queues_) terminate ? queue->Terminate() : queue->CloseEntry();
    return {std::move(memory_), std::move(world_.entries)};
  }

 private:
  StreamQueue& AnyQueue() {
    return *queues_[world_.Pick(0, static_cast<uint32_t>(queues_.size()) - 1)];
  }
  uint32_t AnyQueueNumber() { return world_.Pick(0, world_.options.queues - 1); }

  void AddSlices() {
    const uint32_t queues = world_.options.queues;
    const auto add = [this](SliceKind kind, uint64_t address, uint32_t bytes, uint32_t owner) {
      world_.slices.push_back({kind, address, bytes, owner, false, false});
    };
    for (uint32_t i = 0; i < kDramSlices; ++i) {
      add(SliceKind::kDram, kStreamDramBase + i * kDramSliceBytes, kDramSliceBytes, i % queues);
    }
    for (uint32_t i = 0; i < kL1Slices; ++i) {
      add(SliceKind::kL1, abi::kBufferAddress + i * kL1SliceBytes, kL1SliceBytes, i % queues);
    }
    for (uint32_t i = 0; i < queues; ++i) {
      add(SliceKind::kHost, world_.host_address + kHostSourceBytes + i * kHostSliceBytes,
          kHostSliceBytes, i);
    }
    for (uint32_t i = 0; i < queues * kTracesOfQueue; ++i) {
      add(SliceKind::kTrace, kTraceBase + i * kTraceBytes, kTraceBytes, i / kTracesOfQueue);
    }
  }

  void Fill(MemoryArea& area) { area.bytes = world_.Data(area.bytes.size()); }

  void FillMemory() {
    const ReferenceLayout& layout = world_.layout;
    for (const uint32_t xy : layout.dram_xy) {
      Fill(memory_.Add(xy, kStreamDramBase, kStreamDramBytes));
    }
    for (const uint32_t xy : layout.l1_xy) {
      Fill(memory_.Add(xy, abi::kBufferAddress, kL1Slices * kL1SliceBytes));
      memory_.Add(xy, abi::kGoAreaAddress, sizeof(abi::GoArea));
      memory_.Add(xy, abi::kLaunchRingAddress, abi::kLaunchSlots * abi::kLaunchSlotBytes);
    }
    // Ids of events start near the end of what 32 bits count.
    for (uint32_t& event : events_) event = world_.OneIn(2) ? world_.Pick(0, 4) - 4 : 0;
    for (const uint32_t xy : layout.dispatch_xy) {
      MemoryArea& area =
          memory_.Add(xy, abi::kControlBlockAddress + offsetof(abi::ControlBlock, last_event),
                      abi::kMaxHardwareQueues * sizeof(abi::Counter));
      for (uint32_t i = 0; i < abi::kMaxHardwareQueues; ++i) {
        StoreAt(area.bytes.data() + i * sizeof(abi::Counter), events_[i]);
      }
    }
    Fill(memory_.Add(layout.pcie_xy, world_.host_address,
                     kHostSourceBytes + abi::kMaxHardwareQueues * kHostSliceBytes));
  }

  // The workers are one sub-device of some queue, or two.
  void AddQueues() {
    std::vector<std::vector<SubDevice>> of_queue(world_.options.queues);
    const std::vector<uint32_t>& workers = world_.layout.l1_xy;
    const auto split = static_cast<std::ptrdiff_t>(
        world_.OneIn(2) ? workers.size()
                        : world_.Pick(1, static_cast<uint32_t>(workers.size()) - 1));
    const uint32_t first = world_.Pick(0, abi::kMaxSubDevices - 2);
    AddSubDevice(of_queue, {first, {workers.begin(), workers.begin() + split}});
    if (split != static_cast<std::ptrdiff_t>(workers.size())) {
      const uint32_t second = world_.Pick(first + 1, abi::kMaxSubDevices - 1);
      AddSubDevice(of_queue, {second, {workers.begin() + split, workers.end()}});
    }
    for (uint32_t i = 0; i < of_queue.size(); ++i) {
      queues_.push_back(std::make_unique<StreamQueue>(world_, i, std::move(of_queue[i])));
    }
  }

  void AddSubDevice(std::vector<std::vector<SubDevice>>& of_queue, SubDevice sub_device) {
    for (const uint32_t xy : sub_device.workers) {
      MutableByteSpan area = memory_.At(xy, abi::kGoAreaAddress, sizeof(abi::GoArea)).value();
      StoreAt(area.data() + offsetof(abi::GoArea, index), sub_device.id);
    }
    of_queue[AnyQueueNumber()].push_back(std::move(sub_device));
  }

  // A slice goes to the other queue: an event of the one, a wait of the other.
  void HandOver() {
    const uint32_t from = AnyQueueNumber();
    const uint32_t to = 1 - from;
    queues_[from]->RecordEvent(++events_[from]);
    for (Slice& slice : world_.slices) {
      const bool movable = slice.kind == SliceKind::kDram || slice.kind == SliceKind::kL1;
      if (!movable || slice.owner != from || world_.OneIn(2)) continue;
      slice.owner = to;
      slice.unknown_to_prefetch = true;
    }
    queues_[to]->AwaitEvent(from, events_[from]);
  }

  StreamWorld world_;
  MemoryImage memory_;
  uint32_t events_[abi::kMaxHardwareQueues] = {};
  std::vector<std::unique_ptr<StreamQueue>> queues_;
};

}  // namespace

BenchOptions RandomBench(uint32_t seed) {
  Random random(seed ^ 0xBE4C);
  const auto pick = [&random](uint32_t from, uint32_t to) {
    return from + static_cast<uint32_t>(random() * (uint64_t{to} - from + 1) >> 32);
  };
  BenchOptions options;
  options.images = pick(0, 3) == 0 ? FirmwareImagesSmall() : FirmwareImages();
  options.queues = pick(1, abi::kMaxHardwareQueues);
  if (pick(0, 3) == 0) options.chip += ",bank=" + std::to_string(pick(0, hw::kDramBanks - 1));
  if (pick(0, 7) == 0) return options;
  const bool tiny = pick(0, 2) == 0;
  options.command_ring_bytes = (tiny ? 4096 : pick(4096 / 64, 24 * 1024 / 64) * 64);
  options.issue_ring_bytes = options.command_ring_bytes / 64 * pick(32, 200) / 64 * 64;
  options.issue_ring_bytes = std::max(options.issue_ring_bytes, options.command_ring_bytes);
  options.fetch_queue_entries = pick(1, 8);
  options.scratch_bytes = tiny ? 256 : pick(2, 64) * 128;
  options.ringbuffer_bytes = tiny ? 512 : pick(4, 200) * 64;
  options.dispatch_ring_pages = tiny ? 4 : pick(4, 12);
  options.dispatch_s_ring_pages = pick(4, 8);
  options.completion_ring_pages = tiny ? pick(1, 2) : pick(1, 9);
  return options;
}

ReferenceLayout LayoutOf(FirmwareBench& bench) {
  ReferenceLayout layout;
  const abi::BankTable& banks = bench.banks();
  layout.dram_xy.assign(banks.dram_xy[0], banks.dram_xy[0] + banks.dram_banks);
  layout.l1_xy.assign(banks.l1_xy, banks.l1_xy + banks.l1_banks);
  for (uint32_t i = 0; i < bench.queue_count(); ++i) {
    layout.dispatch_xy.push_back(bench.block(i).dispatch_xy);
  }
  layout.pcie_xy = bench.block().pcie_xy;
  layout.first_worker_stream = bench.block().first_worker_stream;
  layout.ringbuffer_bytes = bench.block().ringbuffer_bytes;
  return layout;
}

RecordStream RandomStream(uint32_t seed, uint32_t commands, const BenchOptions& options,
                          FirmwareBench& bench) {
  return Generator(seed, options, bench).Generate(commands);
}

}  // namespace ttfd::testing
