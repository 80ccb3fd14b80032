// The register files of data: SrcA, SrcB and Dst.
//
// Source: tt-isa-documentation BlackholeA0/TensixTile/TensixCoprocessor/{SrcASrcB,Dst}.md; ttsim 1.10.0.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/tensix/halves.h"
#include "runtime/sim/tensix/lanes.h"
#include "runtime/sim/tensix/rows.h"

namespace ttfd::sim::tensix {

inline constexpr uint32_t kSourceRows = 64;
inline constexpr uint32_t kDstRows = 1024;

// A datum of SrcA or SrcB is kept where binary32 has its bits: sign 31, exponent 30:23, ten bits of mantissa 22:13.
struct SourceBank {
  bool valid = false;  // belongs to the FPU; else to the unpacker
  hw::tensix::Format format = hw::tensix::Format::kFloat32;

  // As they are kept.
  const SourceRow* rows() const { return rows_; }
  // Some datum may have more bits of mantissa than the 7 of bfloat16.
  bool has_tf32() const { return has_tf32_; }
  // `as`: the format of what is written.
  SourceRow* ChangeRows(hw::tensix::Format as) {
    derived_ = Derived::kNone;
    has_tf32_ |= as == hw::tensix::Format::kTf32;
    return rows_;
  }
  void Clear() {
    std::fill_n(&ChangeRows(hw::tensix::Format::kFloat16B)[0][0], kSourceRows * kColumns, 0u);
    has_tf32_ = false;
  }

  // `count` rows from row `first` on as operands of format `as`: all formats but TF32 have a mantissa of 7 bits. `copy`
  // takes the rows that are kept with more.
  const SourceRow* RowsAs(hw::tensix::Format as, uint32_t first, uint32_t count,
                          SourceRow* copy) const {
    if (!IsCut(as)) return rows_ + first;
    for (uint32_t i = 0; i < count * kColumns; ++i) {
      copy[i / kColumns][i % kColumns] = rows_[first + i / kColumns][i % kColumns] & kBFloat16Bits;
    }
    return copy;
  }

  // The operands of products in format `as`, derived when they are first needed after a change. `is_a`: the bank is
  // SrcA's.
  const Halves& halves(const LaneKernels& lanes, bool is_a, hw::tensix::Format as) {
    const Derived wanted = IsCut(as) ? Derived::kCut : Derived::kWhole;
    if (derived_ != wanted) {
      SourceRow copy[kSourceRows];
      lanes.derive(RowsAs(as, 0, kSourceRows, copy), is_a, &halves_);
      derived_ = wanted;
    }
    return halves_;
  }

 private:
  static constexpr uint32_t kBFloat16Bits = 0xFFFF0000;
  enum class Derived : uint8_t { kNone, kWhole, kCut };

  bool IsCut(hw::tensix::Format as) const { return has_tf32_ && as != hw::tensix::Format::kTf32; }

  alignas(64) SourceRow rows_[kSourceRows] = {};
  bool has_tf32_ = false;
  Derived derived_ = Derived::kNone;
  Halves halves_;
};

// SrcA or SrcB: the unpacker fills one bank while the FPU reads the other one.
class SourceFile {
 public:
  SourceBank& unpack_bank() { return banks_[unpack_bank_]; }
  SourceBank& matrix_bank() { return banks_[matrix_bank_]; }
  const SourceBank& matrix_bank() const { return banks_[matrix_bank_]; }

  uint32_t unpack_index() const { return unpack_bank_; }
  uint32_t matrix_index() const { return matrix_bank_; }

  void ClearAll() {
    for (SourceBank& bank : banks_) bank.Clear();
  }

  // The unpacker's bank becomes the FPU's.
  void HandOver(hw::tensix::Format format) {
    unpack_bank().format = format;
    unpack_bank().valid = true;
    unpack_bank_ ^= 1;
  }
  // The FPU is through with its bank; `keep`: it stays valid.
  void Release(bool keep) {
    if (!keep) matrix_bank().valid = false;
    matrix_bank_ ^= 1;
  }

 private:
  std::array<SourceBank, 2> banks_;
  uint32_t unpack_bank_ = 0;
  uint32_t matrix_bank_ = 0;
};

// The bfloat16 that a cell of Dst holds as sign, 7 bits of mantissa, 8 of exponent. A low half is a cell.
constexpr uint16_t BFloat16OfCell(uint16_t cell) {
  return static_cast<uint16_t>((cell & 0x8000) | (cell & 0xFF) << 7 | (cell >> 8 & 0x7F));
}

// 1024 rows of 16-bit datums, or 512 of 32-bit ones: then a datum's high and low half are in two rows. A row that is
// not valid reads as 0; of a 32-bit row the one with the high halves counts.
class Dst {
 public:
  Dst() { valid_.fill(true); }

  // Where 32-bit row `row` has its high halves; the low ones are kLowHalf rows further.
  static constexpr uint32_t kLowHalf = 8;
  static constexpr uint32_t HighRow(uint32_t row) { return (row & 0x1F8) << 1 | (row & 0x207); }

  // Rows to be read and written: `count` of them, up to 8, from a multiple of `count` on. All are valid afterwards;
  // rows that were not are 0.
  DstBlock Block(uint32_t row, uint32_t count, bool is_32_bit);
  // A row to be written in part: valid afterwards; its other datums are those it held before it became invalid.
  DstBlock Part(uint32_t row, bool is_32_bit);
  // A row to be read.
  DstBlock Read(uint32_t row, bool is_32_bit);

  void Invalidate(uint32_t first, uint32_t count);
  bool valid(uint32_t row, bool is_32_bit) const { return valid_[is_32_bit ? HighRow(row) : row]; }

 private:
  // A row holds its bits in one of two orders: as bfloat16 has them, where it is used for 16-bit datums or high halves;
  // or as a low half. The hardware keeps sign, mantissa, exponent of the former and plain bits of the latter, so a row
  // that is used in the other way shows other bits.
  void Prepare(uint32_t row, bool as_low_half) {
    if (is_low_half_[row] != as_low_half) Reorder(row);
  }
  void Reorder(uint32_t row);
  // Whether eight rows are valid and in the order of their use.
  bool IsBlockReady(uint32_t first, bool is_32_bit) const;
  // A row as its datums are used: its two rows if they have 32 bits.
  DstBlock Prepared(uint32_t high, bool is_32_bit);

  alignas(64) DstRow rows_[kDstRows] = {};
  std::array<bool, kDstRows> valid_;
  std::array<bool, kDstRows> is_low_half_{};
};

}  // namespace ttfd::sim::tensix
