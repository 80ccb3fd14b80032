// A tile as it is, or transposed, from a circular buffer into Dst.
//
// The matrix unit adds 0 to it. Denormals and -0 become 0, NaN becomes infinity of its sign.
#pragma once

#include <ttfd/compute/binary.h>

namespace ttfd::compute {

namespace internal {

template <RowSteps kSrcA>
void ConfigureCopy(uint32_t in, bool transpose) {
  if constexpr (kUnpacks) ConfigureSources(in, in, transpose);
  if constexpr (kComputes) SetRowSteps<kSrcA, kRowZero, 8>();
}

}  // namespace internal

inline void unary_op_init_common(uint32_t in, uint32_t out) { compute_kernel_hw_startup(in, out); }
inline void init_sfpu(uint32_t in, uint32_t out) { compute_kernel_hw_startup(in, out); }

inline void copy_tile_init(uint32_t in) { internal::ConfigureCopy<internal::kEachRow>(in, false); }
inline void copy_tile(uint32_t in, uint32_t tile, uint32_t dst) {
  using namespace internal;
  if constexpr (kUnpacks) UnpackWithZero(TileAddress(in, tile));
  if constexpr (kComputes) {
    SelectDstTile(dst);
    EightRowsEach<ELWADD{}, kBothSources>();
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
