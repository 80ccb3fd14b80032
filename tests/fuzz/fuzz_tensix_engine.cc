// Fuzz target: any words pushed into any threads of a tile's Tensix engine, between any stores of harts. It neither
// touches memory outside L1 nor leaves a refusal or a wait without its reason.
//
// Input: steps of six bytes. The first says what happens (its low two bits) and to which thread, the second which
// word, register or semaphore, the others are the value.
#include <sanitizer/asan_interface.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/sim/tensix/engine.h"
#include "runtime/sim/tensix/lanes_choice.h"

namespace {

using ttfd::sim::tensix::Outcome;
namespace isa = ttfd::hw::tensix;

constexpr size_t kStepBytes = 6;
constexpr size_t kL1Bytes = 0x90000;  // what programs of tests/peer use
constexpr size_t kGuardBytes = 1 << 16;

enum Kind : uint32_t { kInstruction, kConfiguration, kRegister, kSemaphore };

// What L1 holds at first: numbers of all magnitudes.
std::vector<std::byte> Numbers() {
  std::vector<std::byte> numbers(kL1Bytes);
  uint32_t state = 1;
  for (std::byte& byte : numbers) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::byte>(state >> 24);
  }
  return numbers;
}

// L1 between guards, of which the address sanitizer reports every access.
ttfd::MutableByteSpan GuardedL1() {
  static std::vector<std::byte> memory(kL1Bytes + 2 * kGuardBytes);
  ASAN_POISON_MEMORY_REGION(memory.data(), kGuardBytes);
  ASAN_POISON_MEMORY_REGION(memory.data() + kGuardBytes + kL1Bytes, kGuardBytes);
  return ttfd::MutableByteSpan(memory).subspan(kGuardBytes, kL1Bytes);
}

void Check(Outcome outcome, const ttfd::sim::tensix::Report& report) {
  if (outcome == Outcome::kWaits && report.waits_for == 0) std::abort();
  if (outcome == Outcome::kRefused && (*report.field == 0 || *report.reason == 0)) std::abort();
  if (uint64_t{report.written_address} + report.written_bytes > kL1Bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<std::byte> numbers = Numbers();
  static const ttfd::MutableByteSpan l1 = GuardedL1();
  std::memcpy(l1.data(), numbers.data(), l1.size());
  ttfd::sim::tensix::Engine engine(l1, **ttfd::sim::tensix::FindLaneKernels(""));
  for (; size >= kStepBytes; data += kStepBytes, size -= kStepBytes) {
    const uint32_t thread = data[0] / 4u % isa::kThreads;
    const uint32_t index = data[1];
    const auto value = ttfd::LoadAt<uint32_t>(reinterpret_cast<const std::byte*>(data) + 2);
    Outcome outcome = Outcome::kDone;
    switch (data[0] % 4) {
      case kInstruction:
        outcome = engine.Push(thread, value);
        break;
      case kConfiguration:
        outcome = engine.WriteConfig(index, value);
        break;
      case kRegister:
        engine.WriteGpr(thread, index % isa::kGprCount, value);
        break;
      case kSemaphore:
        outcome = engine.WriteSemaphore(index % isa::kSemaphores, value);
    }
    Check(outcome, engine.report());
  }
  return 0;
}
