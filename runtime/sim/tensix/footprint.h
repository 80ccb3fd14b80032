// Resources that an instruction reads and writes beyond the registers of its own unit, and its pipeline: for a
// model of what overlaps. The engine itself does not use it.
//
// Counters (ADC, RWC) are no resource: an instruction takes and steps them when it leaves its thread, in order.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/sim/tensix/engine.h"

namespace ttfd::sim::tensix {

// Units in which instructions of one thread overlap with those of another unit; in one of them they stay in order.
enum class Pipeline : uint8_t {
  kUnpack0,
  kUnpack1,
  kPack,
  kMath,
  kSfpu,
  kThcon,
  kNone,  // waits, semaphores, configuration, counters: done when they leave their thread
};
inline constexpr uint32_t kPipelines = 6;

enum class Resource : uint8_t {
  kDst,           // rows of 16 bits
  kDst32,         // rows of 32 bits
  kConfig,        // words
  kThreadConfig,  // ids of the instruction's own thread
  kGpr,           // registers of the instruction's own thread
  kSource,        // banks: 0 and 1 of SrcA, 2 and 3 of SrcB
  kL1,            // bytes
};

struct Range {
  Resource resource = Resource::kDst;
  uint32_t first = 0;
  uint32_t count = 0;
  bool written = false;
};

struct Footprint {
  static constexpr uint32_t kMostRanges = 24;

  Pipeline pipeline = Pipeline::kNone;
  // Sources, bit 0 SrcA and bit 1 SrcB: the instruction waits until the FPU's bank is valid; gives it back.
  uint32_t awaits = 0;
  uint32_t releases = 0;
  std::array<uint32_t, 2> matrix_banks{};  // of SrcA and SrcB, as banks of kSource
  uint32_t size = 0;
  std::array<Range, kMostRanges> ranges;

  void Add(Resource resource, uint32_t first, uint32_t count, bool written) {
    ranges[size++] = {resource, first, count, written};
  }
  const Range* begin() const { return ranges.data(); }
  const Range* end() const { return ranges.data() + size; }
};

// The footprint of an instruction that the engine is about to execute for `thread`, without the bytes and rows that
// UNPACR and PACR move: AddTransfer().
Footprint FootprintOf(const Engine& engine, uint32_t thread, uint32_t instruction);
// Adds them once the engine has executed the instruction: bytes of L1, rows of Dst that were written or read.
void AddTransfer(const Report& report, bool dst_is_32_bit, Footprint* footprint);

// Whether a queued instruction is going to read or write a word of the configuration or a GPR of its thread, wherever
// counters lead it.
bool Uses(uint32_t instruction, Resource resource, uint32_t index, bool written);

}  // namespace ttfd::sim::tensix
