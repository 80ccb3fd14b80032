// The ELF files of the kernels of task graphs, embedded.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ttfd::graph {

// The file of kernel `name`: scheduler, streamer, worker, follower_ncrisc, or follower_trisc0 to 2. Empty if there is
// none of that name.
std::span<const std::byte> GraphElf(std::string_view name);

}  // namespace ttfd::graph
