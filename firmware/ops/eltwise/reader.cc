// Reads the tiles of the inputs of an element-wise operation, one of each for an item. NCRISC, words EltwiseReader.
#include "firmware/ops/cores.h"
#include "firmware/ops/read_ahead.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

namespace {

// Indices of an item in the dimensions of the output's tiles.
struct Index {
  Index(const EltwiseReader& words, uint32_t item) {
    for (uint32_t dimension = kDimensions - 1; dimension != 0; --dimension) {
      const uint32_t size = words.size[dimension];
      const uint32_t rest = item / size;
      at[dimension] = item - rest * size;
      item = rest;
    }
    at[0] = item;
  }
  uint32_t TileOf(const EltwiseReader::Input& input) const {
    uint32_t tile = 0;
    for (uint32_t dimension = 0; dimension != kDimensions; ++dimension) {
      tile += at[dimension] * input.stride[dimension];
    }
    return tile;
  }

  uint32_t at[kDimensions];
};

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<EltwiseReader>();
  const uint32_t inputs = words.inputs;
  const Items items(words.cores);
  ReadAhead reads((1u << inputs) - 1, words.input[0].address, words.input[1].address,
                  words.input[2].address);
  for (uint32_t i = 0; i != inputs; ++i) reads.SetTiles(i, 1);
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    const Index index(words, item);
    reads.Begin();
    for (uint32_t i = 0; i != inputs; ++i) reads.Read(i, index.TileOf(words.input[i]));
    reads.End();
  }
  reads.Finish();
}
