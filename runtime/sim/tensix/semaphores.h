// The eight semaphores of an engine, and its waits.
//
// A wait holds back the whole thread until it is over, as ttsim's does; the hardware lets instructions pass whose units
// the wait does not name. A program that names every unit that has to wait sees no difference.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/tensix/registers.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

class Semaphores {
 public:
  explicit Semaphores(Report& report) : report_(report) {}

  uint32_t value(uint32_t semaphore) const { return semaphores_[semaphore].value; }

  Outcome Init(hw::tensix::SEMINIT instruction);
  Outcome Post(hw::tensix::SEMPOST instruction);
  Outcome Get(hw::tensix::SEMGET instruction);
  Outcome Wait(hw::tensix::SEMWAIT instruction);
  Outcome Stall(hw::tensix::STALLWAIT instruction, const SourceFile& a, const SourceFile& b);

  // A hart's store: 0 posts, 1 gets. Posting ends at kSemaphoreMax here, not at the semaphore's own maximum.
  Outcome Store(uint32_t semaphore, uint32_t value);

 private:
  struct Semaphore {
    uint32_t value = 0;
    uint32_t max = 0;
  };
  Outcome Change(uint32_t semaphore, uint32_t max, bool post);

  Report& report_;
  std::array<Semaphore, hw::tensix::kSemaphores> semaphores_{};
};

}  // namespace ttfd::sim::tensix
