// Writes programs of which libttsim accepts every step: it follows the engine's counters and banks, and says no to an
// instruction that would be refused or would wait for ever.
#pragma once

#include <array>
#include <cstdint>
#include <set>

#include "tests/peer/tensix_mover.h"

namespace ttfd {

enum class FpuOperation { kMvmul, kElwmul, kElwadd, kElwsub };
enum class PoolOperation { kSum, kMaximum };

class TensixWriter : public TensixMover {
 public:
  // Begins with an engine in a known state: configuration written, Dst zero, both banks of both sources zero and free.
  explicit TensixWriter(bool float32_dst);

  // The width that is computed in from now on. Dump() is not for programs that change it.
  void SetFloat32Dst(bool float32_dst);

  // Each returns whether the instruction is accepted; if not, nothing happened.
  bool Unpack(uint32_t unpacker, bool hand_over, uint32_t steps);
  // Float32 into a 32-bit Dst, from row `row` on.
  bool UnpackToDst(uint32_t row, uint32_t steps);
  bool Fill(uint32_t unpacker, bool hand_over, bool infinity, bool as_unpack);
  bool Compute(FpuOperation operation, uint32_t dst, uint32_t modifier, uint32_t broadcast,
               bool accumulate, uint32_t clear);
  // A maximum needs a row of SrcB with 1.0 only.
  bool Pool(PoolOperation operation, uint32_t dst, uint32_t modifier, uint32_t clear);
  bool Zero(hw::tensix::ZEROACC instruction);
  bool ClearValid(uint32_t sources);
  bool Pack(uint32_t modifier, bool last, uint32_t end);

  // A whole operand tile to SrcA or SrcB, of the unpacker's format: a block tile of the same kind where that is Bfp8_b.
  void UnpackTile(uint32_t unpacker, uint32_t tile);
  void UnpackTileToDst(uint32_t tile, uint32_t row);
  // Both banks of both sources are free and the next one filled is the next one computed with: how a program ends.
  void Release();
  void PlainPacker(bool read32, hw::tensix::Format in, hw::tensix::Format out) {
    SetPlainPacker(read32, in, out);
  }
  // Ends a series of PACR that is not at its end.
  void EndPacking();
  // All tiles of Dst that were written, as they are.
  void Dump() { Dump(touched(), float32_dst()); }
  // Tiles of Dst as 32-bit or 16-bit data, whichever of them they are.
  void Dump(const std::set<uint32_t>& tiles, bool read32);

 private:
  void FillBoth();
  bool UnpackReads(uint32_t unpacker) const;
  bool UnpackWrites(uint32_t unpacker) const;
  void PushUnpack(uint32_t unpacker, bool hand_over, uint32_t steps);
  void SetTileAddress(uint32_t unpacker, uint32_t tile);
  void StepPackCounters(uint32_t modifier);
  bool packing_ = false;         // a series of PACR has begun and not ended
  uint32_t pack_address_ = 0;    // of the data that come next in it
  uint32_t pack_exponents_ = 0;  // address of the end of their exponents
};

}  // namespace ttfd
