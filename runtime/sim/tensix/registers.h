// The register files of data: SrcA, SrcB and Dst.
//
// Source: tt-isa-documentation BlackholeA0/TensixTile/TensixCoprocessor/{SrcASrcB,Dst}.md; ttsim 1.10.0.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/hw/tensix_isa.h"

namespace ttfd::sim::tensix {

inline constexpr uint32_t kColumns = 16;  // datums of a row
inline constexpr uint32_t kSourceRows = 64;
inline constexpr uint32_t kDstRows = 1024;

using SourceRow = uint32_t[kColumns];
using DstRow = uint16_t[kColumns];

// A datum of SrcA or SrcB is kept where binary32 has its bits: sign 31, exponent 30:23, ten bits of mantissa 22:13.
struct SourceBank {
  SourceRow datum[kSourceRows] = {};
  bool valid = false;  // belongs to the FPU; else to the unpacker
  hw::tensix::Format format = hw::tensix::Format::kFloat32;

  void Clear() { std::fill_n(&datum[0][0], kSourceRows * kColumns, 0u); }
};

// SrcA or SrcB: the unpacker fills one bank while the FPU reads the other one.
class SourceFile {
 public:
  SourceBank& unpack_bank() { return banks_[unpack_bank_]; }
  SourceBank& matrix_bank() { return banks_[matrix_bank_]; }
  const SourceBank& matrix_bank() const { return banks_[matrix_bank_]; }

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

// Consecutive rows of Dst: the high halves of 32-bit datums and their low ones, or 16-bit datums.
struct DstBlock {
  DstRow* high;
  DstRow* low;  // null: 16-bit datums
};

// 1024 rows of 16-bit datums, or 512 of 32-bit ones: then a datum's high and low half are in two rows. A row that is
// not valid reads as 0. Bits are kept in the order of bfloat16 (16 bits) or binary32 (high half, low half).
class Dst {
 public:
  Dst() { valid_.fill(true); }

  // Where 32-bit row `row` has its high halves; the low ones are kLowHalf rows further.
  static constexpr uint32_t kLowHalf = 8;
  static constexpr uint32_t HighRow(uint32_t row) { return (row & 0x1F8) << 1 | (row & 0x207); }

  // `rows` rows from `row` on, for the FPU to read and write, of 32 or 16 bits. All are valid afterwards; rows that
  // were not are 0.
  DstBlock Block(uint32_t row, uint32_t rows, bool is_32_bit);
  void Invalidate(uint32_t first, uint32_t count);
  bool valid(uint32_t row) const { return valid_[row]; }

  // The bits of a datum as binary32 or bfloat16; 0 where the row is not valid.
  uint32_t Read32(uint32_t row, uint32_t column) const;
  uint16_t Read16(uint32_t row, uint32_t column) const {
    return valid_[row] ? rows_[row][column] : uint16_t{0};
  }

 private:
  DstRow rows_[kDstRows] = {};
  std::array<bool, kDstRows> valid_;
};

}  // namespace ttfd::sim::tensix
