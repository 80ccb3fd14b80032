// Fuzz target: any words pushed into the queues before a tile's Tensix engine, between any stores and loads of harts
// and any accesses to L1. Queues hold a limited number, what is refused or waits has its reason, and all comes to rest.
//
// Input: steps of six bytes as those of fuzz_tensix_engine.cc, whose corpus is this one's, too: kind and thread, index,
// value. The first byte is the seed of the order, too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/compute_queue.h"
#include "runtime/sim/tensix/lanes_choice.h"

namespace {

namespace isa = ttfd::hw::tensix;
namespace sim = ttfd::sim;
using sim::ComputeQueue;

constexpr size_t kStepBytes = 6;
constexpr uint32_t kL1Bytes = 0x90000;

enum Kind : uint32_t { kInstruction, kConfiguration, kRegister, kOther };

void Require(bool condition) {
  if (!condition) std::abort();
}

class Machine {
 public:
  Machine(ttfd::MutableByteSpan l1, uint64_t seed)
      : engine_(l1, **sim::tensix::FindLaneKernels("")),
        queue_(engine_, {sim::kHazardCompute | (seed % 2 != 0 ? sim::kHazardStores : 0u), seed},
               sim::Rng(seed, sim::kEngineStreams)),
        rng_(seed, 0) {}

  // False: the engine has refused something.
  bool Step(uint32_t kind, uint32_t thread, uint32_t index, uint32_t value) {
    const uint32_t hart = index % 5 == 0 ? ttfd::hw::kBrisc : ttfd::hw::kTrisc0 + thread;
    switch (kind) {
      case kInstruction:
        while (!queue_.HasSpace(thread)) {
          if (!queue_.IsReady(thread)) return true;  // its hart would be parked
          if (!Execute(thread)) return false;
        }
        queue_.Push(thread, {value, hart, 0, 0});
        break;
      case kConfiguration:
        index %= isa::kConfigWords;
        Check(queue_.Store(hart, sim::tensix::Resource::kConfig, index, value));
        engine_.WriteConfig(index, value);
        break;
      case kRegister:
        index %= isa::kGprCount;
        Check(queue_.Store(ttfd::hw::kTrisc0 + thread, sim::tensix::Resource::kGpr, index, value));
        engine_.WriteGpr(thread, index, value);
        break;
      default:
        return Other(hart, thread, index, value);
    }
    return rng_.Below(2) == 0 || Run();
  }

  // Executes until nothing is ready.
  bool Drain() {
    uint32_t ready = 1;
    for (uint32_t steps = 0; ready != 0; ++steps) {
      Require(steps < 1000);
      ready = 0;
      for (uint32_t thread = 0; thread < isa::kThreads; ++thread) {
        if (!queue_.IsReady(thread)) continue;
        ++ready;
        if (!Execute(thread)) return false;
      }
    }
    return true;
  }

 private:
  static void Check(const sim::Refusal& refusal) { Require(!refusal || *refusal.reason != 0); }

  bool Other(uint32_t hart, uint32_t thread, uint32_t index, uint32_t value) {
    switch (index % 4) {
      case 0:
        engine_.WriteSemaphore(index / 4 % isa::kSemaphores, value % 2);
        Wake();
        break;
      case 1:
        if (queue_.IsDrained(thread)) queue_.EndDrain(thread);
        break;
      case 2: {
        uint32_t concerned = 0;
        Check(queue_.AccessL1(value % kL1Bytes, 1 + index, index > 99, &concerned));
        Require(concerned < ttfd::hw::kHarts);
        break;
      }
      default:
        if (index > 99) queue_.Fence(hart);
        Check(queue_.Load(hart, sim::tensix::Resource::kConfig, value % isa::kConfigWords));
    }
    return true;
  }

  bool Run() {
    const uint32_t thread = rng_.Below(isa::kThreads);
    for (uint32_t left = queue_.Burst(); left != 0 && queue_.IsReady(thread); --left) {
      if (!Execute(thread)) return false;
    }
    return true;
  }

  bool Execute(uint32_t thread) {
    switch (queue_.Execute(thread)) {
      case ComputeQueue::Step::kDone:
        Wake();
        break;
      case ComputeQueue::Step::kHeld:
        Require(queue_.wait(thread).events != 0 && !queue_.IsReady(thread));
        break;
      case ComputeQueue::Step::kRefused:
        Check(queue_.refusal());
        Require(static_cast<bool>(queue_.refusal()));
        // A missing wait is reported once the instruction is executed, so what follows can be tried, too.
        if (queue_.refusal().kind != sim::FaultKind::kMissingWait) return false;
        Wake();
    }
    return true;
  }

  void Wake() {
    sim::tensix::Report& report = engine_.report();
    Require(uint64_t{report.written_address} + report.written_bytes <= kL1Bytes);
    report.written_bytes = 0;
    queue_.Wake(std::exchange(report.changed, 0));
  }

  sim::tensix::Engine engine_;
  ComputeQueue queue_;
  sim::Rng rng_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::vector<std::byte> l1(kL1Bytes);
  if (size == 0) return 0;
  Machine machine(l1, data[0]);
  for (; size >= kStepBytes; data += kStepBytes, size -= kStepBytes) {
    const auto value = ttfd::LoadAt<uint32_t>(reinterpret_cast<const std::byte*>(data) + 2);
    if (!machine.Step(data[0] % 4, data[0] / 4u % isa::kThreads, data[1], value)) return 0;
  }
  machine.Drain();
  return 0;
}
