// A tile as it is, transposed, or a part of it for the whole, from a circular buffer into Dst.
//
// copy_tile unpacks a tile of Float32 into Dst without a change. All others go through the matrix unit, which adds 0:
// denormals and -0 become 0, NaN becomes infinity of its sign.
#pragma once

#include <ttfd/compute/binary.h>

namespace ttfd::compute {

namespace internal {

// The tiles of this operation are unpacked into Dst.
inline bool copies_to_dst = false;

template <RowSteps kSrcA>
void ConfigureCopy(uint32_t in, bool transpose) {
  if constexpr (!kPacks) copies_to_dst = !transpose && TileFormatOf(in).unpacks_to_dst();
  if constexpr (kUnpacks) ConfigureSources(in, in, transpose, copies_to_dst);
  if constexpr (kComputes) SetRowSteps<kSrcA, kRowZero, 8>();
}

}  // namespace internal

inline void unary_op_init_common(uint32_t in, uint32_t out) { compute_kernel_hw_startup(in, out); }
inline void init_sfpu(uint32_t in, uint32_t out) { compute_kernel_hw_startup(in, out); }

inline void copy_tile_init(uint32_t in) { internal::ConfigureCopy<internal::kEachRow>(in, false); }
inline void copy_tile(uint32_t in, uint32_t tile, uint32_t dst) {
  using namespace internal;
  if constexpr (kUnpacks) {
    const uint32_t from = TileAddress(in, tile);
    copies_to_dst ? UnpackToDst(from, dst) : UnpackWithZero(from);
  }
  if constexpr (kComputes) {
    if (copies_to_dst) {
      AwaitUnpackToDst();
    } else {
      SelectDstTile(dst);
      EightRowsEach<ELWADD{}, kBothSources>();
    }
  }
}

// Row 0, column 0 or the number at row 0, column 0 of a tile, for all rows, columns or numbers of tile `dst`. NONE is
// copy_tile by way of the matrix unit, as are the others: of Float32 it has TF32, cut off to 10 bits of mantissa.
template <BroadcastType kBroadcast>
void unary_bcast_init_short(uint32_t in) {
  using namespace internal;
  if constexpr (kUnpacks) ConfigureSources(in, in);
  if constexpr (kComputes) SetRowSteps<kRowZero, StepsOf(kBroadcast), 8>();
}
template <BroadcastType kBroadcast>
void unary_bcast_init(uint32_t in, uint32_t out) {
  compute_kernel_hw_startup(in, out);
  unary_bcast_init_short<kBroadcast>(in);
}
template <BroadcastType kBroadcast>
void unary_bcast(uint32_t in, uint32_t tile, uint32_t dst) {
  using namespace internal;
  if constexpr (kUnpacks) UnpackToSrcB(TileAddress(in, tile));
  if constexpr (kComputes) {
    SelectDstTile(dst);
    EightRowsEach<ELWADD{}.instr_mod(static_cast<uint32_t>(kBroadcast)), kBothSources>();
  }
}

inline void transpose_wh_init_short(uint32_t in) {
  internal::ConfigureCopy<internal::kTransposed>(in, true);
}
inline void transpose_wh_init(uint32_t in, uint32_t out) {
  compute_kernel_hw_startup(in, out);
  transpose_wh_init_short(in);
}
inline void transpose_wh_tile(uint32_t in, uint32_t tile, uint32_t dst) {
  copy_tile(in, tile, dst);
}

}  // namespace ttfd::compute
