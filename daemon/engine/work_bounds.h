// Says to the device model which programs run for which session, where it checks that (KernelBounds). Device thread.
#pragma once

#include "daemon/engine/work.h"
#include "runtime/device/kernel_bounds.h"

namespace ttfd {

class WorkBounds {
 public:
  // `bounds`, which may be null, outlives this.
  explicit WorkBounds(KernelBounds* bounds) : bounds_(bounds) {}

  // A work was submitted, or has ended. A boot ends all.
  void Begin(const Work& work) const {
    if (bounds_ != nullptr && work.programs != nullptr) bounds_->Begin(*work.programs, work.flow);
  }
  void Ended(const Work& work) const {
    if (bounds_ != nullptr && work.programs != nullptr) bounds_->Ended(*work.programs);
  }

 private:
  KernelBounds* const bounds_;
};

}  // namespace ttfd
