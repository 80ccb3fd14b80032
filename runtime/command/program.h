// A program as values: which kernels run on which tiles with which circular buffers and semaphores.
// Built and checked when the client creates it, on any thread; launched by the device thread any
// number of times.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/abi/launch.h"
#include "runtime/abi/resource_use.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/hw/tensix.h"

namespace ttfd {

// Inclusive rectangle of logical worker coordinates: (0, 0) is the top left worker, the grid has no
// holes.
struct CoreRange {
  uint32_t x0 = 0;
  uint32_t y0 = 0;
  uint32_t x1 = 0;
  uint32_t y1 = 0;
  bool operator==(const CoreRange&) const = default;
};

struct GridSize {
  uint32_t x = 0;
  uint32_t y = 0;
};

class SymbolTable;  // runtime/elf

// Resource of its program or launch that a kernel uses by a constant index.
struct KernelNeed {
  abi::Resource resource = abi::kCircularBuffer;
  uint32_t index = 0;
  std::string place;  // "scale.cc:12", in the user's source; empty: unknown
};

// A loaded kernel: the bytes that go into a tile's kernel cache (abi::KernelImageHeader first).
// Immutable, shared.
struct KernelImage {
  std::string name;  // for people
  std::vector<std::byte> bytes;
  // Names for its addresses as they are in its file, where byte 0 of the image would lie at
  // `symbol_base`. Null: none.
  std::shared_ptr<const SymbolTable> symbols;
  uint32_t symbol_base = 0;
  std::vector<KernelNeed> needs;  // by resource, then index; each once
  bool prints = false;            // <ttfd/print.h> is in its code
  hw::Hart hart =
      hw::kBrisc;  // it was built for, and must run on: its code has the hart's addresses
};

// Whether one copy in L1 serves both images: equal bytes, for the same hart. Their names and symbols may differ, as
// those of two users who load one file.
bool HaveSameCode(const KernelImage& a, const KernelImage& b);

struct KernelUse {
  std::shared_ptr<const KernelImage> image;
  hw::Hart hart = hw::kBrisc;
  std::vector<CoreRange> cores;
  // Placed and not started: the kernel that the program starts on this hart of each of `cores` calls it. It has the
  // circular buffers and semaphores of its tile, and no arguments of the launch.
  bool callable = false;
  // Whether the caller of a callable kernel gives it circular buffers and common arguments of its own: its needs are
  // not checked.
  bool configured = false;
};

struct CircularBufferUse {
  uint32_t index = 0;  // < abi::kMaxCircularBuffers
  uint32_t pages = 0;
  uint32_t page_bytes = 0;  // multiple of 16
  std::vector<CoreRange> cores = {};
  uint32_t format = 0;  // as in abi::CircularBufferConfig; one of tile_format.h, or 0
  // Address of memory that its cores have for it, multiple of 16; 0: it takes part of abi::kCircularBufferBytes.
  uint32_t address = 0;
};

struct SemaphoreUse {
  uint32_t index = 0;  // < abi::kMaxSemaphores
  uint32_t initial = 0;
  std::vector<CoreRange> cores;
};

struct ProgramSpec {
  std::vector<KernelUse> kernels;
  std::vector<CircularBufferUse> circular_buffers;
  std::vector<SemaphoreUse> semaphores;
};

// A checked program. Opaque to the daemon; runtime/command and runtime/card look inside
// (program_layout.h).
class Program;

// Checks a spec against the grid: ranges inside it, at least one kernel, no two kernels started on one
// hart of a tile, images and circular buffers that fit, every circular buffer and semaphore that a
// kernel needs, a started kernel for each callable one. INVALID_ARGUMENT says what is wrong and what
// is allowed, UNIMPLEMENTED which formats are known. `id` is for people (hang reports). Thread-safe.
StatusOr<std::shared_ptr<const Program>> BuildProgram(uint32_t id, const ProgramSpec& spec,
                                                      GridSize grid);

// Arguments that a launch must provide: per kernel, in the order of ProgramSpec::kernels.
uint32_t KernelCount(const Program& program);
// Tiles on which a launch starts kernel `kernel`: ranges in order, row by row. The order of per-core words.
// None of a callable kernel.
uint32_t KernelCoreCount(const Program& program, uint32_t kernel);

// Whether kernel `kernel` is placed only. A launch gives it no arguments.
bool IsCallable(const Program& program, uint32_t kernel);

struct KernelArguments {
  std::vector<uint32_t> common;    // at most abi::kMaxArgumentWords
  uint32_t words_per_core = 0;     // at most abi::kMaxArgumentWords
  std::vector<uint32_t> per_core;  // words_per_core * KernelCoreCount
};

}  // namespace ttfd
