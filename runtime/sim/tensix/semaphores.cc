// Sync unit. Source: tt-isa-documentation BlackholeA0/TensixTile/TensixCoprocessor/{SyncUnit,STALLWAIT,SEMWAIT}.md.
#include "runtime/sim/tensix/semaphores.h"

#include <bit>

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

// Units whose instructions are executed as they are pushed are idle, and what a hart has stored has arrived.
constexpr uint32_t kAlwaysMet = isa::kUntilThcon | isa::kUntilUnpack0 | isa::kUntilUnpack1 |
                                isa::kUntilPack | isa::kUntilMath | isa::kUntilConfig |
                                isa::kUntilSfpu;
constexpr uint32_t kUntilValid = isa::kUntilSrcAValid | isa::kUntilSrcBValid;

constexpr const char* kOneSemaphore = "an instruction names one semaphore";

}  // namespace

Outcome Semaphores::Init(isa::SEMINIT instruction) {
  if (!std::has_single_bit(instruction.sem_sel())) return report_.Refuse("sem_sel", kOneSemaphore);
  if (instruction.init_value() > instruction.max_value()) {
    return report_.Refuse("init_value", "the value is above the maximum");
  }
  const auto semaphore = static_cast<uint32_t>(std::countr_zero(instruction.sem_sel()));
  semaphores_[semaphore] = {instruction.init_value(), instruction.max_value()};
  report_.changed |= SemaphoreEvent(semaphore);
  return Outcome::kDone;
}

Outcome Semaphores::Change(uint32_t semaphore, uint32_t max, bool post) {
  uint32_t& value = semaphores_[semaphore].value;
  if (post && value >= max) {
    return report_.Refuse("sem_sel", "a post to a semaphore that is at its maximum");
  }
  if (!post && value == 0) return report_.Refuse("sem_sel", "a get from a semaphore that is 0");
  value += post ? 1 : ~0u;
  report_.changed |= SemaphoreEvent(semaphore);
  return Outcome::kDone;
}

Outcome Semaphores::Post(isa::SEMPOST instruction) {
  if (!std::has_single_bit(instruction.sem_sel())) return report_.Refuse("sem_sel", kOneSemaphore);
  const auto semaphore = static_cast<uint32_t>(std::countr_zero(instruction.sem_sel()));
  return Change(semaphore, semaphores_[semaphore].max, true);
}

Outcome Semaphores::Get(isa::SEMGET instruction) {
  if (!std::has_single_bit(instruction.sem_sel())) return report_.Refuse("sem_sel", kOneSemaphore);
  return Change(static_cast<uint32_t>(std::countr_zero(instruction.sem_sel())), 0, false);
}

Outcome Semaphores::Store(uint32_t semaphore, uint32_t value) {
  if (value > 1) return report_.Refuse("semaphore", "a store of 0 posts, one of 1 gets");
  return Change(semaphore, isa::kSemaphoreMax, value == 0);
}

Outcome Semaphores::Wait(isa::SEMWAIT instruction) {
  if (!std::has_single_bit(instruction.sem_sel())) return report_.Refuse("sem_sel", kOneSemaphore);
  const uint32_t condition = instruction.wait_sem_cond();
  if (condition != isa::kWhileZero && condition != isa::kWhileAtMax) {
    return report_.Refuse("wait_sem_cond",
                          "1 waits while the semaphore is 0, 2 while it is at its maximum");
  }
  if (instruction.stall_res() == 0) return report_.Refuse("stall_res", "no unit is to wait");
  const auto semaphore = static_cast<uint32_t>(std::countr_zero(instruction.sem_sel()));
  const Semaphore& at = semaphores_[semaphore];
  const bool waits = condition == isa::kWhileZero ? at.value == 0 : at.value >= at.max;
  return waits ? report_.Wait(SemaphoreEvent(semaphore)) : Outcome::kDone;
}

Outcome Semaphores::Stall(isa::STALLWAIT instruction, const SourceFile& a, const SourceFile& b) {
  const uint32_t conditions = instruction.wait_res();
  if (instruction.stall_res() == 0) return report_.Refuse("stall_res", "no unit is to wait");
  if (conditions == 0) return report_.Refuse("wait_res", "there is nothing to wait for");
  if ((conditions & ~(kAlwaysMet | kUntilValid)) != 0) {
    return report_.Refuse("wait_res", "modelled are the conditions 0x0D9F");
  }
  uint32_t events = 0;
  if ((conditions & isa::kUntilSrcAValid) != 0 && !a.matrix_bank().valid) events |= kSrcAEvent;
  if ((conditions & isa::kUntilSrcBValid) != 0 && !b.matrix_bank().valid) events |= kSrcBEvent;
  return events != 0 ? report_.Wait(events) : Outcome::kDone;
}

}  // namespace ttfd::sim::tensix
