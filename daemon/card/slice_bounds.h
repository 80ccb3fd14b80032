// Says to the device model which programs run for which session, where it checks that (KernelBounds). Device thread.
#pragma once

#include "daemon/session/slice.h"
#include "runtime/device/kernel_bounds.h"

namespace ttfd {

class SliceBounds {
 public:
  // `bounds`, which may be null, outlives this.
  explicit SliceBounds(KernelBounds* bounds) : bounds_(bounds) {}

  // A slice was submitted, or has ended. A boot ends all.
  void Begin(const Slice& slice) const {
    if (bounds_ != nullptr && slice.programs != nullptr)
      bounds_->Begin(*slice.programs, slice.share().session);
  }
  void Ended(const Slice& slice) const {
    if (bounds_ != nullptr && slice.programs != nullptr) bounds_->Ended(*slice.programs);
  }

 private:
  KernelBounds* const bounds_;
};

}  // namespace ttfd
