// The instruction cache of a hart: what was fetched is executed until it is dropped, whatever L1 holds by
// then.
//
// It holds whatever the hart or the prefetcher brought in, decoded; nothing leaves it but by reset or
// RISCV_IC_INVALIDATE. (Silicon's is 512 bytes to 2 KiB large, so that old and new code may be mixed;
// what relies on that is wrong as well.) Source: tt-isa-documentation, InstructionCache.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/sim/rng.h"
#include "runtime/sim/tile_memory.h"

namespace ttfd::sim {

class InstructionCache {
 public:
  // Address space for one hart's decoded instructions, zero at first.
  static constexpr uint64_t kBytes = TileMemory::kDecodedBytes;

  // `code` outlives it: the hart's own table. `handler` of its entries holds the word itself.
  explicit InstructionCache(Decoded* code) : code_(code) {}

  Decoded* code() const { return code_; }

  // Brings in the line of `pc`, and perhaps those behind it.
  void Fetch(const std::byte* l1, uint32_t pc, Rng& rng);
  void Invalidate();

 private:
  // Values that the documents do not give: how much comes at a time, and how far the prefetcher goes.
  static constexpr uint32_t kLineWords = 16;
  static constexpr uint32_t kPrefetchLines = 4;

  void FetchLine(const std::byte* l1, uint32_t line);

  Decoded* const code_;
  std::vector<uint32_t> lines_;  // that are in it
};

}  // namespace ttfd::sim
