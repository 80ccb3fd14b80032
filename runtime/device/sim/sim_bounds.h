// The model asks whether a kernel may access memory of buffers.
#pragma once

#include "runtime/device/kernel_bounds.h"
#include "runtime/sim/chip.h"
#include "runtime/sim/memory_guard.h"

namespace ttfd {

class SimBounds final : public KernelBounds, private sim::MemoryGuard {
 public:
  // `chip` executes nothing any more when this dies; it may die before.
  explicit SimBounds(sim::Chip& chip) : chip_(chip) {}

  void SetLayout(const Layout& layout) override;

 private:
  sim::Refusal Check(const sim::TensixTile& tile, const sim::GuardedAccess& access) override;

  sim::Chip& chip_;
  uint32_t program_address_ = 0;
  std::string reason_;  // of the last refusal
};

}  // namespace ttfd
