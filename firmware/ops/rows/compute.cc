// Computes a row of tiles of the output for each item: softmax, rms_norm and layer_norm. TRISC0, TRISC1 and TRISC2,
// words RowsCompute.
//
// All is computed in Dst, and what circular buffers keep between two passes over a row has 32 bits, too.
#include <ttfd/compute.h>

#include "firmware/ops/cores.h"
#include "firmware/ops/intermediate.h"
#include "firmware/ops/padding.h"

using namespace ttfd::compute;
using namespace ttfd::ops;
using ttfd::kernel::CommonArguments;

namespace {

// Circular buffers.
constexpr uint32_t kInput = 0, kWeight = 1, kBias = 2;
constexpr uint32_t kShift = 4, kFactor = 5, kTerms = 6;

constexpr uint32_t kMinusInfinity = 0xFF800000, kMinusZero = 0x80000000;

// The engine's functions, each once in an image.
[[gnu::noinline]] void ConfigureCopy(uint32_t in) { copy_tile_init(in); }
[[gnu::noinline]] void Copy(uint32_t in, uint32_t tile, uint32_t dst) { copy_tile(in, tile, dst); }
[[gnu::noinline]] void Subtract(uint32_t dst0, uint32_t dst1) { sub_binary_tile(dst0, dst1, dst0); }
[[gnu::noinline]] void Multiply(uint32_t dst0, uint32_t dst1) { mul_binary_tile(dst0, dst1, dst0); }
[[gnu::noinline]] void AddTo(uint32_t dst0, uint32_t dst1) { add_binary_tile(dst0, dst1, dst0); }

// Value that a row of tiles is reduced to.
enum class Reduction : uint32_t { kMaximum, kSum, kSumOfSquares };

class Row {
 public:
  explicit Row(const RowsCompute& words)
      : words_(words),
        tiles_(words.tiles),
        is_softmax_(words.function == static_cast<uint32_t>(RowsFunction::kSoftmax)),
        centers_(words.function == static_cast<uint32_t>(RowsFunction::kLayerNorm)) {}

  void Compute(uint32_t item) {
    cb_wait_front(kInput, tiles_);
    if (is_softmax_ || centers_) FindShift();
    if (is_softmax_) MakeTerms();
    FindFactor();
    cb_wait_front(kFactor, 1);
    PackFormatOf(kOutputBuffer);
    for (uint32_t k = 0; k != tiles_; ++k) {
      TakeNext(is_softmax_ ? kTerms : kInput);
      ConfigureCopy(kFactor);
      if (centers_) SubtractShift();
      Copy(kFactor, 0, 2);
      Multiply(0, 2);
      if (words_.has_weight != 0) {
        TakeRow(kWeight);
        Multiply(0, 3);
      }
      if (words_.has_bias != 0) {
        TakeRow(kBias);
        AddTo(0, 3);
      }
      if constexpr (kComputes) Finish(item * tiles_ + k);
      Keep(kOutputBuffer);
    }
    if (centers_) cb_pop_front(kShift, 1);
    cb_pop_front(kFactor, 1);
    AwaitOutputAndPackFormatOf(kFactor);
  }

 private:
  // kShift = the maximum of a row, or its mean.
  void FindShift() {
    Reduce(kInput, is_softmax_ ? Reduction::kMaximum : Reduction::kSum);
    if (!is_softmax_) Scale();
    Keep(kShift);
    cb_wait_front(kShift, 1);
  }
  // kTerms = exp(x - shift).
  void MakeTerms() {
    for (uint32_t k = 0; k != tiles_; ++k) {
      TakeNext(kInput);
      ConfigureCopy(kShift);
      SubtractShift();
      if constexpr (kComputes) {
        exp_tile(0);
        FillPadding(k, 0, kMinusZero);
      }
      Keep(kTerms);
    }
    cb_pop_front(kShift, 1);
    cb_wait_front(kTerms, tiles_);
  }
  // kFactor = 1 / the sum of the terms, or 1 / sqrt(mean square + epsilon).
  void FindFactor() {
    if (is_softmax_) {
      Reduce(kTerms, Reduction::kSum);
      recip_tile(0);
    } else {
      Reduce(kInput, Reduction::kSumOfSquares);
      Scale();
      add_unary_tile(0, words_.epsilon);
      rsqrt_tile(0);
    }
    Keep(kFactor);
  }

  // Tile 0 of Dst = the reduction of each row of the tiles of a circular buffer, in all columns. Squares are those of
  // the differences from kShift, if there is one.
  [[gnu::noinline]] void Reduce(uint32_t buffer, Reduction reduction) {
    const bool centers = centers_ && reduction == Reduction::kSumOfSquares;
    tile_regs_acquire();
    if (centers) {
      ConfigureCopy(kShift);
      Copy(kShift, 0, 2);
    }
    ConfigureCopy(buffer);
    for (uint32_t k = 0; k != tiles_; ++k) {
      const uint32_t dst = k == 0 ? 0 : 1;
      Copy(buffer, k, dst);
      if constexpr (!kComputes) continue;
      if (centers) Subtract(dst, 2);
      if (reduction == Reduction::kMaximum) {
        FillPadding(k, dst, kMinusInfinity);
        if (k != 0) binary_max_tile(0, 1, 0);
        continue;
      }
      if (reduction == Reduction::kSumOfSquares) {
        FillPadding(k, dst, kMinusZero);
        Multiply(dst, dst);
      }
      if (k != 0) AddTo(0, 1);
    }
    if (reduction == Reduction::kMaximum) {
      row_maxima_tile(0);
    } else {
      row_sums_tile(0);
    }
  }

  // Begins with tile 0 of Dst = the next tile of a circular buffer, which is not needed any more.
  [[gnu::noinline]] void TakeNext(uint32_t buffer) {
    tile_regs_acquire();
    ConfigureCopy(buffer);
    Copy(buffer, 0, 0);
    cb_pop_front(buffer, 1);
  }
  // From tile 0 of Dst.
  [[gnu::noinline]] void SubtractShift() {
    Copy(kShift, 0, 1);
    Subtract(0, 1);
  }
  // Tile 3 of Dst = the next tile of one row, in all rows.
  [[gnu::noinline]] void TakeRow(uint32_t buffer) {
    cb_wait_front(buffer, 1);
    unary_bcast_init_short<BroadcastType::ROW>(buffer);
    unary_bcast<BroadcastType::ROW>(buffer, 0, 3);
    cb_pop_front(buffer, 1);
  }
  // Makes the sum in tile 0 of Dst a mean.
  [[gnu::noinline]] void Scale() { mul_unary_tile(0, words_.mean_factor); }

  // Columns of tile k of the row that are outside of the shape.
  [[gnu::noinline]] void FillPadding(uint32_t k, uint32_t dst, uint32_t bits) {
    const uint32_t columns = words_.padding.last_columns;
    if (k + 1 == tiles_ && columns != 32) fill_outside_tile(dst, 32, columns, bits);
  }
  // Rounds tile 0 of Dst, which is tile `tile` of the output, and clears its padding.
  void Finish(uint32_t tile) {
    constexpr auto kFloat32 = static_cast<uint32_t>(DataFormat::Float32);
    constexpr auto kBFloat16 = static_cast<uint32_t>(DataFormat::Float16_b);
    if (words_.rounds != 0) typecast_tile<kFloat32, kBFloat16>(0);
    if (HasPadding(words_.padding)) ClearPaddingOf(words_.padding, tile, 0);
  }

  const RowsCompute& words_;
  const uint32_t tiles_;
  const bool is_softmax_;
  const bool centers_;
};

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<RowsCompute>();
  const Items items(words.cores);
  PackFormatOf(kFactor);
  Row row(words);
  for (uint32_t item = items.first; item < items.end; item += items.step) row.Compute(item);
}
