// The embedded ELF files of task graphs.
#include "firmware/graph/elfs.h"

#define TTFD_GRAPH_KERNELS(visit)                                                              \
  visit(scheduler) visit(streamer) visit(worker) visit(follower_ncrisc) visit(follower_trisc0) \
      visit(follower_trisc1) visit(follower_trisc2) visit(none)

#define TTFD_KERNEL(name)                            \
  extern const std::byte graph_elf_##name##_begin[]; \
  extern const std::byte graph_elf_##name##_end[];
extern "C" {
TTFD_GRAPH_KERNELS(TTFD_KERNEL)
}
#undef TTFD_KERNEL

namespace ttfd::graph {

std::span<const std::byte> GraphElf(std::string_view name) {
#define TTFD_KERNEL(kernel) \
  if (name == #kernel) return {graph_elf_##kernel##_begin, graph_elf_##kernel##_end};
  TTFD_GRAPH_KERNELS(TTFD_KERNEL)
#undef TTFD_KERNEL
  return {};
}

}  // namespace ttfd::graph
