// Reduces a row or a column of tiles to a tile of the output for each item. TRISC0, TRISC1 and TRISC2, words
// ReduceCompute.
//
// Sums are those of the matrix unit, tile after tile. Of maxima the vector unit first makes one tile, number by number
// and without the padding, which circular buffer kMaxima keeps, as 32 bits; that tile is reduced. A minimum is the
// negative of the maximum of the negatives.
#include <ttfd/compute.h>

#include "firmware/ops/cores.h"
#include "firmware/ops/intermediate.h"
#include "firmware/ops/padding.h"

using namespace ttfd::compute;
using namespace ttfd::ops;
using ttfd::kernel::CommonArguments;

namespace {

constexpr uint32_t kInput = 0, kScaler = 1, kMaxima = 4;  // circular buffers
constexpr uint32_t kOne = 0x3F800000, kInfinity = 0x7F800000, kMinusInfinity = 0xFF800000;

// kMaxima = the greatest, or the negatives of the smallest, of the numbers at each place of the tiles.
void FindMaxima(const ReduceCompute& words) {
  const uint32_t tiles = words.tiles, last = words.last;
  const bool is_minimum = words.pool == static_cast<uint32_t>(Pool::kMinimum);
  const bool to_row = words.to_row != 0;
  copy_tile_init(kInput);
  tile_regs_acquire();
  for (uint32_t k = 0; k != tiles; ++k) {
    const uint32_t dst = k == 0 ? 0 : 1;
    cb_wait_front(kInput, 1);
    copy_tile(kInput, 0, dst);
    cb_pop_front(kInput, 1);
    if constexpr (!kComputes) continue;
    if (k + 1 == tiles && last != 32) {
      fill_outside_tile(dst, to_row ? last : 32, to_row ? 32 : last,
                        is_minimum ? kInfinity : kMinusInfinity);
    }
    if (k == 0) continue;
    if (is_minimum) {
      binary_min_tile(0, 1, 0);
    } else {
      binary_max_tile(0, 1, 0);
    }
  }
  if (is_minimum) negative_tile(0);
  Keep(kMaxima);
}

template <PoolType kPool, ReduceDim kDim>
void ReduceTiles(uint32_t in, uint32_t tiles) {
  tile_regs_acquire();
  for (; tiles != 0; --tiles) {
    cb_wait_front(in, 1);
    reduce_tile<kPool, kDim>(in, kScaler, 0, 0, 0);
    cb_pop_front(in, 1);
  }
}

template <ReduceDim kDim>
void ReduceItem(const ReduceCompute& words, bool is_sum) {
  if (is_sum) {
    ReduceTiles<PoolType::SUM, kDim>(kInput, words.tiles);
  } else {
    FindMaxima(words);
    cb_wait_front(kMaxima, 1);
    PackFormatOf(kOutputBuffer);
    reduce_init_short<PoolType::MAX, kDim>(kMaxima, kScaler);
    ReduceTiles<PoolType::MAX, kDim>(kMaxima, 1);
  }
}

template <ReduceDim kDim>
void ReduceItems(const ReduceCompute& words) {
  const bool is_sum = words.pool == static_cast<uint32_t>(Pool::kSum);
  const Items items(words.cores);
  PackFormatOf(is_sum ? kOutputBuffer : kMaxima);
  cb_wait_front(kScaler, 1);
  if (is_sum) reduce_init_short<PoolType::SUM, kDim>(kInput, kScaler);
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    ReduceItem<kDim>(words, is_sum);
    if constexpr (kComputes) {
      constexpr auto kFloat32 = static_cast<uint32_t>(DataFormat::Float32);
      constexpr auto kBFloat16 = static_cast<uint32_t>(DataFormat::Float16_b);
      if (words.factor != kOne) mul_unary_tile(0, words.factor);
      if (words.rounds != 0) typecast_tile<kFloat32, kBFloat16>(0);
      ClearPaddingOf(words.padding, item, 0);
    }
    Keep(kOutputBuffer);
    if (!is_sum) AwaitOutputAndPackFormatOf(kMaxima);
  }
}

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<ReduceCompute>();
  if (words.to_row != 0) {
    ReduceItems<ReduceDim::REDUCE_COL>(words);
  } else {
    ReduceItems<ReduceDim::REDUCE_ROW>(words);
  }
}
