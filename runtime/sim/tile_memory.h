// The memory of one Tensix tile in one block of address space, at constant distances from its L1 so
// that the interpreter needs one base register:
//
//   0         L1
//   kMarks    one byte for every 256-byte line of L1: what a write there has to tell whom
//   kLocal    local RAM of the five harts, 8 KiB apart
//   kCode     decoded instructions, 16 bytes for each word of L1, zero meaning "not decoded yet"
//
// Untouched pages cost nothing (SparseMemory), so an idle tile is a few kilobytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/hw/tensix.h"

namespace ttfd::sim {

// One instruction, decoded for the interpreter when it is first executed.
struct Decoded {
  int32_t handler;    // distance of its label in the fast loop; 0: decode first
  int32_t immediate;  // for branches and jumps: distance to the target in this table, in bytes
  uint8_t rd;         // 32 stands for x0: the slot that swallows results
  uint8_t rs1;
  uint8_t rs2;
  uint8_t operation;  // Operation; 0: decode first
  uint32_t link;      // address of the next instruction
};
static_assert(sizeof(Decoded) == 16);

inline constexpr uint32_t kLineShift = 8;
inline constexpr uint32_t kLineBytes = 1u << kLineShift;
// A mark: one bit for each hart of the tile that is parked and waits for a word of the line, and
// one that says that some word of it is decoded.
inline constexpr uint8_t kLineWatchers = (1u << hw::kHarts) - 1;
inline constexpr uint8_t kLineHasCode = 1u << 7;
// A mark of all lines, or none: every write is reported to the tile's ComputeUnit.
inline constexpr uint8_t kLineReported = 1u << 6;
static_assert((kLineWatchers & (kLineHasCode | kLineReported)) == 0);

class TileMemory {
 public:
  static constexpr uint64_t kMarks = hw::kL1Bytes;
  static constexpr uint64_t kLocal = kMarks + 0x2000;
  static constexpr uint64_t kLocalStride = 0x2000;
  static constexpr uint64_t kCode = kLocal + hw::kHarts * kLocalStride;
  static constexpr uint64_t kGuardBytes =
      0x1000;  // running off the end of L1 lands here: never decoded
  static constexpr uint64_t kDecodedBytes = hw::kL1Bytes / 4 * sizeof(Decoded) + kGuardBytes;
  static constexpr uint64_t kBytes = kCode + kDecodedBytes;
  static_assert(hw::kL1Bytes / kLineBytes <= 0x2000 && kBytes % 0x1000 == 0);

  TileMemory() = default;
  explicit TileMemory(std::byte* base) : base_(base) {}

  std::byte* l1() const { return base_; }
  uint8_t* marks() const { return reinterpret_cast<uint8_t*>(base_ + kMarks); }
  std::byte* local_ram(uint32_t hart) const { return base_ + kLocal + hart * kLocalStride; }
  Decoded* code() const { return reinterpret_cast<Decoded*>(base_ + kCode); }

 private:
  std::byte* base_ = nullptr;
};

}  // namespace ttfd::sim
