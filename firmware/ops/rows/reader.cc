// Reads rows of tiles, each into as many pages of a circular buffer, and after each the tiles of weight and bias.
// NCRISC, words RowsReader.
#include "firmware/ops/cores.h"
#include "firmware/ops/read_ahead.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

namespace {

constexpr uint32_t kInput = 0, kWeight = 1, kBias = 2;  // circular buffers

}  // namespace

// Weights and biases come a tile of each at a time: they are needed when a row is finished.
void kernel_main() {
  const auto& words = CommonArguments<RowsReader>();
  const uint32_t tiles = words.tiles, weights = words.has_weight, biases = words.has_bias;
  const uint32_t groups = (weights | biases) != 0 ? tiles : 0;
  const Items items(words.cores);
  ReadAhead reads(1 | weights << kWeight | biases << kBias, words.address, words.weight_address,
                  words.bias_address);
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    // Group 0 is the row.
    for (uint32_t group = 0; group != groups + 1; ++group) {
      const bool is_row = group == 0;
      reads.SetTiles(kInput, is_row ? tiles : 0);
      reads.SetTiles(kWeight, is_row ? 0 : weights);
      reads.SetTiles(kBias, is_row ? 0 : biases);
      reads.Begin();
      if (is_row) {
        for (uint32_t i = 0; i != tiles; ++i) reads.Read(kInput, item * tiles + i);
      } else {
        if (weights != 0) reads.Read(kWeight, group - 1);
        if (biases != 0) reads.Read(kBias, group - 1);
      }
      reads.End();
    }
  }
  reads.Finish();
}
