// Reads the tiles that become one tile of the output, one after the other. NCRISC, words ReduceReader.
#include "firmware/ops/cores.h"
#include "firmware/ops/read_ahead.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

namespace {

constexpr uint32_t kInput = 0, kScaler = 1;  // circular buffers

// A scaler of reduce_tile, in bfloat16: ones in row 0. It reads the top faces only.
void FillScaler(uint32_t address) {
  constexpr uint32_t kFaceBytes = 512, kRowBytes = 32, kTwoOnes = 0x3F803F80;
  for (uint32_t at = 0; at != 2 * kFaceBytes; at += 16) {
    for (uint32_t i = 0; i != 16; i += 4) ttfd::firmware::Store(address + at + i, 0);
  }
  for (uint32_t at = 0; at != kRowBytes; at += 4) {
    ttfd::firmware::Store(address + at, kTwoOnes);
    ttfd::firmware::Store(address + kFaceBytes + at, kTwoOnes);
  }
}

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<ReduceReader>();
  const uint32_t tiles = words.tiles, stride = words.stride;
  CircularBuffer scaler(kScaler);
  FillScaler(scaler.address());
  scaler.Push();
  const Items items(words.cores);
  ReadAhead reads(1 << kInput, words.address, 0, 0);
  reads.SetTiles(kInput, 1);
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    const uint32_t outer = item / stride;
    uint32_t tile = outer * tiles * stride + item - outer * stride;
    for (uint32_t k = tiles; k != 0; --k, tile += stride) {
      reads.Begin();
      reads.Read(kInput, tile);
      reads.End();
    }
  }
  reads.Finish();
}
