// Computes for each unit the sums of values, weighed by softmax of the scaled products of queries and keys: step by
// step, a few tiles of keys each. TRISC0, TRISC1 and TRISC2, words AttentionCompute.
//
// Scores, weights, statistics and sums are made in Dst, with 32 bits; weights are rounded to bfloat16, as which the
// matrix unit multiplies them exactly, and a row's sum of weights is that of the rounded ones.
#include <ttfd/compute.h>

#include "firmware/ops/attention/unit.h"
#include "firmware/ops/cores.h"
#include "firmware/ops/intermediate.h"
#include "firmware/ops/padding.h"

using namespace ttfd::compute;
using namespace ttfd::ops;
using ttfd::kernel::CommonArguments;

namespace {

constexpr uint32_t kMaskTile = 1, kStatisticsTile = 3;  // of Dst; scores begin with tile 0
constexpr uint32_t kMinusInfinity = 0xFF800000;

// The engine's functions, each once in an image.
[[gnu::noinline]] void ConfigureProduct(uint32_t in0, uint32_t in1, bool transpose) {
  mm_rows_init_short(in0, in1, transpose);
}
[[gnu::noinline]] void AddProduct(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1,
                                  uint32_t dst, TileRows rows) {
  matmul_tile_rows(in0, in1, tile0, tile1, dst, rows);
}
[[gnu::noinline]] void ConfigureCopy(uint32_t in) { copy_tile_init(in); }
[[gnu::noinline]] void Copy(uint32_t in, uint32_t tile, uint32_t dst) { copy_tile(in, tile, dst); }
[[gnu::noinline]] void Scale(uint32_t dst, TileRows rows, RowScale scale) {
  scale_rows_tile<kStatisticsTile>(dst, rows, scale);
}
[[gnu::noinline]] void FillOutside(uint32_t dst, bool by_row, int32_t low, int32_t high) {
  fill_outside_band_tile(dst, by_row, low, high, kMinusInfinity);
}

[[gnu::noinline]] void Reserve(uint32_t out, uint32_t tiles) { cb_reserve_back(out, tiles); }
[[gnu::noinline]] void Push(uint32_t out, uint32_t tiles) { cb_push_back(out, tiles); }
[[gnu::noinline]] void PackTile(uint32_t dst, uint32_t out) { pack_tile(dst, out); }

class Attention {
 public:
  explicit Attention(const AttentionCompute& words)
      : words_(words), plans_(kPlan + ttfd::kernel::kHart - ttfd::hw::kTrisc0) {}

  void Compute(const Unit& unit) {
    rows_ = {unit.begin, unit.end};
    tile_row_ = unit.tile_row;
    plan_ = *ttfd::kernel::L1Pointer<const AttentionPlan>(plans_.Wait());
    plans_.Pop();
    cb_wait_front(kQuery, words_.key_tiles);
    for (uint32_t tile = 0; tile < plan_.tiles; tile += words_.steps.tiles) {
      const uint32_t tiles = LeastOf(plan_.tiles - tile, words_.steps.tiles);
      const bool is_first = tile == 0, is_last = tile + tiles == plan_.tiles;
      MakeScores(tiles);
      MakeWeights(is_first, plan_.first_tile + tile, tiles);
      AddValues(is_first, is_last, tiles);
    }
    cb_pop_front(kQuery, words_.key_tiles);
    AwaitOutputAndPackFormatOf(kStatistics);
  }

 private:
  // The first tiles of Dst = products of queries and keys.
  void MakeScores(uint32_t tiles) {
    const uint32_t inner = words_.key_tiles;
    ConfigureProduct(kQuery, kKey, true);
    tile_regs_acquire();
    for (uint32_t dst = 0; dst != tiles; ++dst) {
      cb_wait_front(kKey, inner);
      for (uint32_t k = 0; k != inner; ++k) AddProduct(kQuery, kKey, k, k, dst, rows_);
      cb_pop_front(kKey, inner);
    }
  }

  // kWeights = the weights of these scores, kStatistics = those of the rows up to here.
  void MakeWeights(bool is_first, uint32_t tile, uint32_t tiles) {
    const bool has_mask = words_.mask != static_cast<uint32_t>(AttentionMask::kNone);
    if (has_mask) TakeMask();
    if (!is_first) {
      ConfigureCopy(kStatistics);
      Copy(kStatistics, 0, kStatisticsTile);
      cb_pop_front(kStatistics, 1);
    }
    if constexpr (kComputes) {
      for (uint32_t dst = 0; dst != tiles; ++dst) HideKeys(dst, (tile + dst) * 32);
      online_softmax_tiles<kStatisticsTile>(tiles, rows_, {words_.scale, is_first, has_mask});
    }
    tile_regs_commit();
    Reserve(kWeights, words_.steps.tiles);
    Reserve(kStatistics, 1);
    tile_regs_wait();
    for (uint32_t dst = 0; dst != tiles; ++dst) PackTile(dst, kWeights);
    PackTile(kStatisticsTile, kStatistics);
    tile_regs_release();
    Push(kWeights, words_.steps.tiles);
    Push(kStatistics, 1);
    cb_wait_front(kWeights, words_.steps.tiles);
    cb_wait_front(kStatistics, 1);
  }

  void TakeMask() {
    const uint32_t mask = ttfd::kernel::Optional(kMask);
    cb_wait_front(mask, 1);
    if (words_.mask == static_cast<uint32_t>(AttentionMask::kRow)) {
      unary_bcast_init_short<BroadcastType::ROW>(mask);
      unary_bcast<BroadcastType::ROW>(mask, 0, kMaskTile);
    } else {
      ConfigureCopy(mask);
      Copy(mask, 0, kMaskTile);
    }
    cb_pop_front(mask, 1);
  }

  // The scores of keys that are not seen, in tile `dst` from key `key` on.
  void HideKeys(uint32_t dst, uint32_t key) const {
    const AttentionVisible& visible = words_.visible;
    const auto place = static_cast<int32_t>(plan_.place - key);
    const auto last = static_cast<int32_t>(visible.keys - 1 - key);
    const int32_t first_row = visible.by_row != 0 ? -31 : 0;  // column - row of the top rows' end
    if (last < 31) FillOutside(dst, false, 0, last);
    const int32_t low = Bounded(place - static_cast<int32_t>(visible.back));
    const int32_t high = Bounded(place + static_cast<int32_t>(visible.ahead));
    if (low > first_row || high < 31) FillOutside(dst, visible.by_row != 0, low, high);
  }
  static int32_t Bounded(int32_t difference) {
    constexpr int32_t kOutside = 64;
    return difference < -kOutside ? -kOutside : difference > kOutside ? kOutside : difference;
  }

  // kSums = its sums with these values, or the output.
  void AddValues(bool is_first, bool is_last, uint32_t tiles) {
    const uint32_t columns = words_.value_tiles, block = words_.steps.block;
    if (!is_first) cb_wait_front(kSums, columns);
    if (is_last) PackFormatOf(kOutputBuffer);
    for (uint32_t column = 0; column != columns; column += block) {
      tile_regs_acquire();
      ConfigureCopy(kStatistics);
      Copy(kStatistics, 0, kStatisticsTile);
      if (!is_first) TakeSums(block);
      ConfigureProduct(kWeights, kValue, false);
      for (uint32_t tile = 0; tile != tiles; ++tile) {
        cb_wait_front(kValue, block);
        for (uint32_t i = 0; i != block; ++i) AddProduct(kWeights, kValue, tile, i, i, rows_);
        cb_pop_front(kValue, block);
      }
      if (is_last) Finish(column, block);
      Pack(is_last ? kOutputBuffer : kSums, block);
    }
    cb_pop_front(kWeights, words_.steps.tiles);
    if (is_last) cb_pop_front(kStatistics, 1);
  }

  void TakeSums(uint32_t block) {
    for (uint32_t i = 0; i != block; ++i) Copy(kSums, i, i);
    cb_pop_front(kSums, block);
    if constexpr (kComputes) {
      for (uint32_t i = 0; i != block; ++i) Scale(i, rows_, RowScale::CORRECTION);
    }
  }

  void Finish(uint32_t column, uint32_t block) const {
    if constexpr (kComputes) {
      for (uint32_t i = 0; i != block; ++i) {
        Scale(i, rows_, RowScale::FACTOR);
        if (HasPadding(words_.padding)) ClearPadding(words_.padding, tile_row_, column + i, i);
      }
    }
  }

  static void Pack(uint32_t buffer, uint32_t block) {
    tile_regs_commit();
    Reserve(buffer, block);
    tile_regs_wait();
    for (uint32_t i = 0; i != block; ++i) PackTile(i, buffer);
    tile_regs_release();
    Push(buffer, block);
  }

  const AttentionCompute& words_;
  ttfd::kernel::CircularBuffer plans_;
  TileRows rows_ = {};
  uint32_t tile_row_ = 0;
  AttentionPlan plan_ = {};
};

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<AttentionCompute>();
  const Items items(words.cores);
  PackFormatOf(kWeights);
  Attention attention(words);
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    const Unit unit(words.units, item);
    if (!unit.IsEmpty()) attention.Compute(unit);
  }
}
