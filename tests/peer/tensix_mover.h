// Follows the row counters, the banks and the written tiles of Dst, and writes what moves data between registers.
#pragma once

#include <array>
#include <cstdint>
#include <set>

#include "runtime/hw/tensix_isa.h"
#include "tests/peer/tensix_setup.h"

namespace ttfd {

class TensixMover : public TensixSetup {
 public:
  static constexpr uint32_t kA = 1;  // bits that name sources: clear_dvalid
  static constexpr uint32_t kB = 2;
  static constexpr uint32_t kTileRows = 64;
  static constexpr uint32_t kDstRows = 1024;

  bool float32_dst() const { return float32_dst_; }
  const SourceBanks& banks(uint32_t unpacker) const { return banks_[unpacker]; }
  const std::set<uint32_t>& touched() const { return touched_; }

  void SetRwc(hw::tensix::SETRWC instruction);
  void IncRwc(hw::tensix::INCRWC instruction);
  // An immediate that makes the next operation write row `row` of Dst.
  uint32_t DstImmediate(uint32_t row);

  // Each returns whether the instruction is accepted; if not, nothing happened.
  bool Move(hw::tensix::MOVA2D instruction);
  bool Move(hw::tensix::MOVB2D instruction);
  bool Move(hw::tensix::MOVD2A instruction);
  bool Move(hw::tensix::MOVD2B instruction);
  bool Move(hw::tensix::MOVB2A instruction);
  bool Transpose();
  // The vector unit's accesses, with the address that leads to an even row of Dst; the counter is even.
  void LoadLanes(hw::tensix::SFPLOAD instruction, uint32_t row);
  void StoreLanes(hw::tensix::SFPSTORE instruction, uint32_t row);

 protected:
  explicit TensixMover(bool float32_dst) : TensixSetup(float32_dst), float32_dst_(float32_dst) {}

  uint32_t DstOffset() const;
  bool Keeps(uint32_t source) const;
  // Ends an instruction that wrote row `row` of Dst and releases the sources in `clear`.
  void FinishRow(uint32_t row, uint32_t modifier, uint32_t clear);
  // A row of 32 bits that was written, whatever width is computed in.
  void Touch32(uint32_t row);

  bool float32_dst_;
  std::array<SourceBanks, 2> banks_;
  RowCounters rows_;

 private:
  template <typename Instruction>
  void Access(Instruction instruction, uint32_t row);
  bool IsDstRow(uint32_t dst, uint32_t rows) const;
  // Source 0 or 1 moves as TF32: in 32 bits of Dst. Other formats take 16.
  bool MovesTf32(uint32_t source) const;
  static bool IsSourceRow(uint32_t counter, uint32_t field, uint32_t rows);

  std::set<uint32_t> touched_;  // tiles of Dst
};

}  // namespace ttfd
