// The matrix product of two tiles, added to a tile of Dst.
//
//   mm_init(in0, in1, out);
//   tile_regs_acquire();                                                          // Dst is 0
//   for (uint32_t k = 0; k != tiles; ++k) matmul_tiles(in0, in1, k, k, dst);      // sum of products
//
// Sums have 32 bits. The products of eight terms are added on the grid of the greatest one. One to four passes, the
// fidelity phases, multiply: matmul_tiles<MathFidelity::HiFi2>(...). HiFi4, the default, takes whole mantissas of 8
// bits.
#pragma once

#include <ttfd/compute/tiles.h>

namespace ttfd::compute {

namespace internal {

// MVMUL: eight rows of Dst += eight rows of SrcB times a face of SrcA. A column of faces of SrcB times one face of
// SrcA, into the faces of Dst at row `kDst` and below it. Faces begin at rows 0, 16, 32 and 48.
template <uint32_t kDst, MVMUL kLast>
void MultiplyColumn() {
  Push<MVMUL{}.dst(kDst)>();
  Push<MVMUL{}.dst(kDst + 8).addr_mode(1)>();
  Push<MVMUL{}.dst(kDst + 32)>();
  Push<kLast.dst(kDst + 40)>();
}

template <MVMUL kLast>
void MultiplyTile() {
  MultiplyColumn<0, MVMUL{}.addr_mode(2)>();
  MultiplyColumn<0, MVMUL{}.addr_mode(3)>();
  MultiplyColumn<16, MVMUL{}.addr_mode(2)>();
  MultiplyColumn<16, kLast>();
}

// The faces of SrcA lie row by row, in a tile that is transposed face by face column by column: `kBelow` rows lead to
// the face below, and `kNext` from there to the top right one.
template <uint32_t kBelow, uint32_t kNext>
void SetMatmulSteps() {
  AwaitUnits();
  SetAddrMod<0, 0, 8, 0>();            // to the lower half of the face of SrcB
  SetAddrMod<1, 0, 24, 0>();           // to the face of SrcB below
  SetAddrMod<2, kBelow, 40, 0>();      // to the right column of SrcB and the face of SrcA below
  SetAddrMod<3, kNext, 8, 0>();        // to the left column of SrcB and the top right face of SrcA
  SetAddrMod<4, 16, 8, kNextPhase>();  // to the first faces and the next phase
}

// The same for eight rows, which take a row of two faces of SrcB: each times the two faces of a row of SrcA.
template <uint32_t kClearDvalid = 0>
void MultiplyEightRows() {
  Push<MVMUL{}.dst(0).addr_mode(0)>();
  Push<MVMUL{}.dst(16).addr_mode(1)>();
  Push<MVMUL{}.dst(0).addr_mode(0)>();
  Push<MVMUL{}.dst(16).addr_mode(2).clear_dvalid(kClearDvalid)>();
}
// `kRight` rows lead to the face of SrcA on the right, and `kNext` from there to the left one below.
template <uint32_t kRight, uint32_t kNext>
void SetEightRowSteps() {
  AwaitUnits();
  SetAddrMod<0, kRight, 0, 0>();
  SetAddrMod<1, kNext, 16, 0>();        // to the right face of SrcB
  SetAddrMod<2, 16, 48, kNextPhase>();  // to the first faces and the next phase
}
// Begins with rows 8 * block to 8 * block + 7 of tile `dst` and of SrcB.
[[gnu::noinline]] inline void SelectEightRows(uint32_t dst, uint32_t block) {
  SelectDstRow(dst * kTileRows + (block & 2) * 16 + (block & 1) * 8);
  for (uint32_t rows = (block & 2) * 2 + (block & 1); rows != 0; --rows) {
    Push<INCRWC{}.rwc_b(8)>();
  }
}

}  // namespace internal

// With `transpose` the second factor is the transpose of each tile of in1.
inline void mm_init_short(uint32_t in0, uint32_t in1, bool transpose = false) {
  using namespace internal;
  if constexpr (kUnpacks) ConfigureSources(in1, in0, transpose);
  if constexpr (kComputes) {
    if (transpose) {
      SetMatmulSteps<16, 16>();
    } else {
      SetMatmulSteps<32, 48>();
    }
  }
}
inline void mm_init(uint32_t in0, uint32_t in1, uint32_t out, bool transpose = false) {
  compute_kernel_hw_startup(in1, in0, out);
  mm_init_short(in0, in1, transpose);
}
// With `phases` fidelity phases, 1 to 4, where the kernel gets their number when it runs (own extension).
inline void matmul_tiles(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1, uint32_t dst,
                         uint32_t phases) {
  using namespace internal;
  if constexpr (kUnpacks) Unpack(TileAddress(in1, tile1), TileAddress(in0, tile0));
  if constexpr (kComputes) {
    SelectDstTile(dst);
    for (uint32_t i = 1; i != phases; ++i) MultiplyTile<MVMUL{}.addr_mode(4)>();
    MultiplyTile<MVMUL{}.addr_mode(4).clear_dvalid(kBothSources)>();
  }
}
template <MathFidelity kFidelity = MathFidelity::HiFi4>
void matmul_tiles(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1, uint32_t dst) {
  matmul_tiles(in0, in1, tile0, tile1, dst, internal::PhasesOf(kFidelity));
}

// The same for rows of the first factor and of the product alone, in steps of eight: own extension, for products of a
// few rows. Those of the product that are left out keep what they are.
inline void mm_rows_init_short(uint32_t in0, uint32_t in1, bool transpose = false) {
  using namespace internal;
  if constexpr (kUnpacks) ConfigureSources(in1, in0, transpose);
  if constexpr (kComputes) {
    if (transpose) {
      SetEightRowSteps<32, 48>();
    } else {
      SetEightRowSteps<16, 16>();
    }
  }
}
inline void matmul_tile_rows(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1,
                             uint32_t dst, TileRows rows) {
  using namespace internal;
  if constexpr (kUnpacks) Unpack(TileAddress(in1, tile1), TileAddress(in0, tile0));
  if constexpr (kComputes) {
    const uint32_t last = (rows.end - 1) / 8;
    for (uint32_t block = rows.begin / 8;; ++block) {
      SelectEightRows(dst, block);
      MultiplyEightRows();
      MultiplyEightRows();
      MultiplyEightRows();
      if (block == last) break;
      MultiplyEightRows();
    }
    MultiplyEightRows<kBothSources>();
  }
}

}  // namespace ttfd::compute
