// The model's stack profiler as a StackSampler.
#include "runtime/device/sim/sim_stack_sampler.h"

namespace ttfd {

SimStackSampler::SimStackSampler(sim::Chip& chip, const SampleOptions& options)
    : profiler_(chip, {options.interval_clocks, options.max_stacks, options.program_address,
                       options.state_address, options.state_stride}) {}

std::vector<StackSample> SimStackSampler::Take(uint64_t* lost) {
  std::vector<StackSample> samples;
  for (const auto& [key, count] : profiler_.Take(lost)) {
    samples.push_back(
        {key.tile, key.hart, key.program_word, key.state_word, key.sleeps, key.stack, count});
  }
  return samples;
}

}  // namespace ttfd
