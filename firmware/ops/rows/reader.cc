// Reads rows of tiles, each into as many pages of a circular buffer, and weight and bias once. NCRISC, words
// RowsReader.
#include "firmware/ops/cores.h"
#include "firmware/ops/read_ahead.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

namespace {

constexpr uint32_t kInput = 0, kWeight = 1, kBias = 2;  // circular buffers

void ReadRow(ReadAhead& reads, uint32_t stream, uint32_t first, uint32_t tiles) {
  for (uint32_t i = 0; i != tiles; ++i) reads.Read(stream, first + i);
}

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<RowsReader>();
  const uint32_t tiles = words.tiles;
  uint32_t weight_tiles = words.has_weight != 0 ? tiles : 0;
  uint32_t bias_tiles = words.has_bias != 0 ? tiles : 0;
  const Items items(words.cores);
  ReadAhead reads(words.address, words.weight_address, words.bias_address);
  reads.SetTiles(kInput, tiles);
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    reads.SetTiles(kWeight, weight_tiles);
    reads.SetTiles(kBias, bias_tiles);
    reads.Begin();
    ReadRow(reads, kInput, item * tiles, tiles);
    ReadRow(reads, kWeight, 0, weight_tiles);
    ReadRow(reads, kBias, 0, bias_tiles);
    reads.End();
    weight_tiles = bias_tiles = 0;
  }
  reads.Finish();
}
