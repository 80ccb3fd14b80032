// Instruction sets of the host.
#include "runtime/sim/tensix/lanes_choice.h"

#include <array>

#include "runtime/sim/tensix/lanes_sets.h"

namespace ttfd::sim::tensix {
namespace {

struct Set {
  const LaneKernels* kernels;
  bool usable;  // on this host
};

// The fastest one first.
std::array<Set, 3> Sets() {
#if TTFD_HAS_AVX
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return {{{&kAvx512Lanes, avx512}, {&kAvx2Lanes, avx2}, {&kPortableLanes, true}}};
#else
  return {{{&kPortableLanes, true}, {&kPortableLanes, true}, {&kPortableLanes, true}}};
#endif
}

}  // namespace

StatusOr<const LaneKernels*> FindLaneKernels(std::string_view isa) {
  bool known = isa.empty();
  for (const Set& set : Sets()) {
    known |= isa == set.kernels->name;
    if (set.usable && (isa.empty() || isa == set.kernels->name)) return set.kernels;
  }
  if (known) return InvalidArgument("this host does not have the instruction set '{}'", isa);
  return InvalidArgument("'{}' is no instruction set of the model: portable, avx2 or avx512", isa);
}

}  // namespace ttfd::sim::tensix
