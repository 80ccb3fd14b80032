// The inside of a checked program: what the launch encoder and the kernel cache work from.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/abi/launch.h"
#include "runtime/command/program.h"
#include "runtime/command/tile_set.h"

namespace ttfd {

// Limits of one program: a client's spec is turned into launch records on the device thread, so its
// size is bounded. Five kernels on every tile, and as many ranges as there are tiles.
inline constexpr uint32_t kMaxProgramUses = hw::kHarts * abi::kMaxL1Banks;
inline constexpr uint32_t kMaxRangesPerUse = abi::kMaxL1Banks;

inline constexpr int32_t kNoKernel = -1;

struct ProgramKernel {
  hw::Hart hart = hw::kBrisc;
  uint32_t image = 0;             // index into Program::images
  std::vector<uint16_t> workers;  // in the order of the per-core words; of a callable kernel none
  bool callable = false;
};

struct ProgramImage {
  std::shared_ptr<const KernelImage> image;
  TileSet tiles;
};

// Tiles that differ in nothing but their per-core words.
struct ProgramGroup {
  std::array<int32_t, hw::kHarts> kernel;  // index into Program::kernels, or kNoKernel
  std::vector<CoreRange> rectangles;
  std::vector<abi::CircularBufferConfig> circular_buffers;  // Program::circular_buffers of them
  std::vector<abi::SemaphoreWord> semaphores;               // Program::semaphores of them
};

// Which kernel a hart of a tile runs, and which of the kernel's per-core words are its own.
struct KernelPlace {
  int16_t kernel = kNoKernel;
  uint16_t position = 0;
};

// Constant after BuildProgram.
class Program {
 public:
  uint32_t id = 0;
  GridSize grid;
  std::vector<ProgramKernel> kernels;
  std::vector<ProgramImage> images;  // distinct ones
  std::vector<uint32_t> callables;   // indices of the callable kernels' images, in their order
  std::vector<ProgramGroup> groups;
  std::vector<uint16_t> workers;  // every tile that runs something, ascending
  std::vector<std::array<KernelPlace, hw::kHarts>> places;  // of each of `workers`
  TileSet tiles;
  TileSet printing;                    // of these, those with a kernel that prints
  uint32_t circular_buffer_count = 0;  // 1 + the highest index used
  uint32_t semaphore_count = 0;
};

}  // namespace ttfd
