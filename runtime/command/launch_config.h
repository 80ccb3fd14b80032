// Where the words of a launch lie in its block of the config ring. One layout serves every tile of
// the program; the contents differ by group and, for per-core words, by tile:
//
//   circular buffers | semaphores | callable kernels | common words of each hart | per-core words of each hart
//   '----------------- the group's, one multicast ----------------------------' '--- the tile's, unicast ----'
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/command/program_layout.h"

namespace ttfd {

struct LaunchConfig {
  uint32_t semaphore_offset = 0;
  uint32_t callable_offset = 0;  // of the L1 addresses of Program::callables
  std::array<uint32_t, hw::kHarts> common_offset{};
  std::array<uint32_t, hw::kHarts> per_core_offset{};
  std::array<uint32_t, hw::kHarts> per_core_words{};  // the most any kernel of that hart takes
  uint32_t group_bytes = 0;                           // what is the same for a group's tiles
  uint32_t bytes = 0;                                 // of the whole block, multiple of 16
};

// INVALID_ARGUMENT where the arguments do not fit the program or the block does not fit the ring.
Status CheckArguments(const Program& program, std::span<const KernelArguments> arguments);

// REQUIRES CheckArguments.
LaunchConfig LayOutConfig(const Program& program, std::span<const KernelArguments> arguments);

// Fills `to`, config.group_bytes long, with what the group's tiles share, addresses of callable
// kernels and all argument words zero.
void FillGroupConfig(const ProgramGroup& group, const LaunchConfig& config, MutableByteSpan to);

// Harts [first, last) whose per-core words are sent as one packet a tile.
struct HartSpan {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t bytes = 0;
};
// WRITE_PACKED moves at most a page a tile, and a small ring less.
std::vector<HartSpan> CutPerCoreWords(const LaunchConfig& config, uint32_t max_record_bytes);
// Indices into Program::workers of the tiles where a kernel of these harts gets per-core words.
std::vector<uint32_t> TilesWithWords(const Program& program,
                                     std::span<const KernelArguments> arguments,
                                     const HartSpan& harts);

}  // namespace ttfd
