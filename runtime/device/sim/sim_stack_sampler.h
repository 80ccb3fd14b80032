// The model's stack profiler as a StackSampler.
#pragma once

#include "runtime/device/stack_sampler.h"
#include "runtime/sim/stack_profiler.h"

namespace ttfd {

class SimStackSampler final : public StackSampler {
 public:
  // `chip` outlives it.
  SimStackSampler(sim::Chip& chip, const SampleOptions& options);
  std::vector<StackSample> Take(uint64_t* lost) override;

 private:
  sim::StackProfiler profiler_;
};

}  // namespace ttfd
