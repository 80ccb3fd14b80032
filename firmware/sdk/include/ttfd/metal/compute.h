// TT-Metalium's names for compute kernels, over <ttfd/compute.h>, where most of them are.
//
// Products have all fidelity phases, and functions their one accuracy: a kernel's choice of less has no effect.
// Dst is one section of eight tiles of 32-bit numbers, whatever the file says of it.
#pragma once

#include <ttfd/compute.h>
#include <ttfd/metal/names.h>

// Parts of a kernel for one hart.
// clang-format off
#define UNPACK(part) if constexpr (ttfd::compute::kUnpacks) { part; }
#define MATH(part) if constexpr (ttfd::compute::kComputes) { part; }
#define PACK(part) if constexpr (ttfd::compute::kPacks) { part; }
// clang-format on

namespace ttfd::compute {

// ---- Dst, with both waits in one.
inline void acquire_dst() {
  tile_regs_acquire();
  tile_regs_wait();
}
inline void release_dst() {
  tile_regs_commit();
  tile_regs_release();
}

// Packs tiles `dst` to dst + tiles - 1.
inline void pack_tile_block(uint32_t dst, uint32_t out, uint32_t tiles) {
  for (uint32_t i = 0; i != tiles; ++i) pack_tile(dst + i, out);
}

// ---- Functions whose accuracy a kernel may choose.
#define TTFD_METAL_UNARY(name)     \
  template <bool kIsApproximate>   \
  void name##_tile_init() {        \
    compute::name##_tile_init();   \
  }                                \
  template <bool kIsApproximate>   \
  void name##_tile(uint32_t dst) { \
    compute::name##_tile(dst);     \
  }
TTFD_METAL_UNARY(exp)
TTFD_METAL_UNARY(recip)
TTFD_METAL_UNARY(sqrt)
TTFD_METAL_UNARY(rsqrt)
TTFD_METAL_UNARY(sigmoid)
TTFD_METAL_UNARY(tanh)
TTFD_METAL_UNARY(erf)
TTFD_METAL_UNARY(gelu)
TTFD_METAL_UNARY(log)
#undef TTFD_METAL_UNARY
inline void rounding_op_tile_init() {}
inline void sub_unary_tile(uint32_t dst, uint32_t bits) { add_unary_tile(dst, bits ^ 1u << 31); }

// ---- Matrix products of blocks: `rows` by `columns` tiles of Dst, the product of `rows` by `depth` tiles of in0 and
// `depth` by `columns` of in1 where matmul_block is called for each of the depth.
inline void mm_block_init(uint32_t in0, uint32_t in1, uint32_t out, bool transpose = false,
                          uint32_t /*columns*/ = 1, uint32_t /*rows*/ = 1, uint32_t /*depth*/ = 1) {
  mm_init(in0, in1, out, transpose);
}
inline void mm_block_init_short(uint32_t in0, uint32_t in1, bool transpose = false,
                                uint32_t /*columns*/ = 1, uint32_t /*rows*/ = 1,
                                uint32_t /*depth*/ = 1) {
  mm_init_short(in0, in1, transpose);
}
inline void matmul_block(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1, uint32_t dst,
                         bool /*transpose*/, uint32_t columns, uint32_t rows, uint32_t depth) {
  for (uint32_t row = 0; row != rows; ++row) {
    for (uint32_t column = 0; column != columns; ++column) {
      matmul_tiles(in0, in1, tile0 + row * depth, tile1 + column, dst + row * columns + column);
    }
  }
}

// ---- Rows and tiles. The hart that unpacks, or packs, orders the elements itself, by way of a tile of its own.
namespace internal {

inline constexpr uint32_t kTileSide = 32;
inline constexpr uint32_t kFaceSide = 16;
inline constexpr uint32_t kWordBytes = sizeof(uint32_t);

alignas(16) inline uint32_t ordered_tile[1024];

// Bytes of an element of a circular buffer whose pages are rows, or tiles of a format without exponents.
inline uint32_t ElementBytesOf(uint32_t buffer) {
  return TileFormatOf(buffer).row_bytes() / kFaceSide;
}

// Calls `copy` with the place in `ordered_tile` and the place in the rows of each row of a face, in words. `row_words`
// leads from a row to the next one.
template <typename Copy>
void ForEachFaceRow(uint32_t face_words, uint32_t row_words, Copy copy) {
  uint32_t in_tile = 0;
  for (uint32_t face = 0; face != 4; ++face) {
    for (uint32_t row = 0; row != kFaceSide; ++row) {
      copy(in_tile, ((face >> 1) * kFaceSide + row) * row_words + (face & 1) * face_words);
      in_tile += face_words;
    }
  }
}

// Copies the tile whose first row begins at `from`, in rows of `row_tiles` tiles.
[[gnu::noinline]] inline void GatherTile(uint32_t from, uint32_t row_tiles, uint32_t bytes) {
  const uint32_t tile = kernel::L1AddressOf(ordered_tile);
  const uint32_t face_words = kFaceSide * bytes / kWordBytes;
  kernel::Synchronize();  // the last tile has been unpacked
  ForEachFaceRow(face_words, row_tiles * 2 * face_words, [&](uint32_t to, uint32_t row) {
    for (uint32_t i = 0; i != face_words; ++i) {
      firmware::Store(tile + kWordBytes * (to + i), firmware::Load(from + kWordBytes * (row + i)));
    }
  });
  firmware::Fence();
  firmware::SettleL1(tile);
}
[[gnu::noinline]] inline void ScatterTile(uint32_t to, uint32_t row_tiles, uint32_t bytes) {
  const uint32_t tile = kernel::L1AddressOf(ordered_tile);
  const uint32_t face_words = kFaceSide * bytes / kWordBytes;
  kernel::Synchronize();  // the tile has been packed
  firmware::Fence();
  ForEachFaceRow(face_words, row_tiles * 2 * face_words, [&](uint32_t from, uint32_t row) {
    for (uint32_t i = 0; i != face_words; ++i) {
      firmware::Store(to + kWordBytes * (row + i), firmware::Load(tile + kWordBytes * (from + i)));
    }
  });
  firmware::Fence();
}

// A tile at an L1 address into tile 0 of Dst: copy_tile.
inline void CopyTileAt(uint32_t from) {
  if constexpr (kUnpacks) copies_to_dst ? UnpackToDst(from, 0) : UnpackWithZero(from);
  if constexpr (kComputes) copy_tile(0, 0, 0);
}

}  // namespace internal

inline void tilize_init(uint32_t in, uint32_t /*row_tiles*/, uint32_t out) {
  unary_op_init_common(in, out);
  copy_tile_init(in);
}
inline void tilize_init_short(uint32_t in, uint32_t /*row_tiles*/, uint32_t /*out*/ = 0) {
  copy_tile_init(in);
}
inline void tilize_uninit(uint32_t /*in*/, uint32_t /*out*/) {}
// Packs `row_tiles` tiles, of the 32 rows of so many tiles in the pages at the front of `in`.
inline void tilize_block(uint32_t in, uint32_t row_tiles, uint32_t out) {
  using namespace internal;
  for (uint32_t tile = 0; tile != row_tiles; ++tile) {
    tile_regs_acquire();
    if constexpr (kUnpacks) {
      const uint32_t bytes = ElementBytesOf(in);
      GatherTile(TileAddress(in, 0) + tile * kTileSide * bytes, row_tiles, bytes);
    }
    CopyTileAt(kernel::L1AddressOf(ordered_tile));
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, out);
    tile_regs_release();
  }
}

inline void untilize_init(uint32_t in, uint32_t out) {
  unary_op_init_common(in, out);
  copy_tile_init(in);
}
inline void untilize_init_short(uint32_t in) { copy_tile_init(in); }
inline void untilize_uninit(uint32_t /*in*/) {}
// The reverse: rows of `row_tiles` tiles into the reserved pages of `out`, behind what has been packed since the last
// cb_push_back.
inline void untilize_block(uint32_t in, uint32_t row_tiles, uint32_t out) {
  using namespace internal;
  for (uint32_t tile = 0; tile != row_tiles; ++tile) {
    tile_regs_acquire();
    copy_tile(in, tile, 0);
    tile_regs_commit();
    tile_regs_wait();
    if constexpr (kPacks) {
      const uint32_t bytes = ElementBytesOf(out);
      Pack(0, kernel::L1AddressOf(ordered_tile));
      ScatterTile(TileAddress(out, BufferAt(out).packed) + tile * kTileSide * bytes, row_tiles,
                  bytes);
    }
    tile_regs_release();
  }
  if constexpr (kPacks) BufferAt(out).packed += row_tiles;
}

}  // namespace ttfd::compute
