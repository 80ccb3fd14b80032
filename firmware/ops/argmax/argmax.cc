// Finds the greatest element of each row. NCRISC, words Argmax.
#include "firmware/ops/argmax_words.h"
#include "firmware/ops/cores.h"
#include "firmware/ops/move/copy.h"
#include "firmware/ops/move/layout.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

namespace {

// The greatest element so far. Keys are ordered as the numbers whose bits they come from.
struct Greatest {
  int32_t key = INT32_MIN;  // below that of every number
  uint32_t index = 0;

  void Offer(uint32_t bits, uint32_t at) {
    constexpr uint32_t kSign = 0x80000000;
    const auto candidate = static_cast<int32_t>((bits & kSign) != 0 ? kSign - bits : bits);
    if (candidate <= key) return;
    key = candidate;
    index = at;
  }
};

class Searcher {
 public:
  Searcher(const Argmax& words, uint32_t memory)
      : words_(words),
        input_(words.input, words.unit_bytes),
        output_(words.output, sizeof(Word)),
        memory_(memory),
        tiles_((words.input.columns + kTileExtent - 1) / kTileExtent) {}

  void Run(uint32_t item) {
    const uint32_t matrix = item / input_.rows();
    const uint32_t row = item - matrix * input_.rows();
    first_tile_ = input_.TileOf(matrix, row, 0);
    line_ = InTile(row % kTileExtent, 0) * words_.unit_bytes;
    greatest_ = Greatest();
    ReadBatch(0);
    for (uint32_t tile = 0; tile < tiles_; tile += kArgmaxBatchTiles) {
      ReadBatch(tile + kArgmaxBatchTiles);
      ReadBarrier(GroupOf(tile));
      Scan(tile);
      ttfd::firmware::Fence();  // what has been scanned is read over
    }
    const NocAddress to = output_.Element(item);
    const uint32_t from = memory_ + 2 * kArgmaxBatchBytes +
                          to.address % kArgmaxLineBytes / sizeof(Word) * sizeof(Word);
    WriteBarrier();  // the result before this one has been written
    *L1Pointer<Word>(from) = greatest_.index;
    Write(from, to, sizeof(Word));
  }

 private:
  static uint32_t BatchOf(uint32_t tile) { return tile / kArgmaxBatchTiles % 2; }
  static ReadGroup GroupOf(uint32_t tile) { return static_cast<ReadGroup>(BatchOf(tile)); }
  uint32_t LinesOf(uint32_t tile) const { return memory_ + BatchOf(tile) * kArgmaxBatchBytes; }

  // Reads the row's lines of both faces of tiles from `tile` on.
  void ReadBatch(uint32_t tile) {
    const uint32_t end = Least(tiles_, tile + kArgmaxBatchTiles);
    const uint32_t offset = line_ & ~(kArgmaxLineBytes - 1);
    const uint32_t face = kFaceExtent * kFaceExtent * words_.unit_bytes;
    const ReadGroup group = GroupOf(tile);
    for (uint32_t to = LinesOf(tile); tile < end; ++tile, to += 2 * kArgmaxLineBytes) {
      Read(input_.Page(first_tile_ + tile, offset), to, kArgmaxLineBytes, group);
      Read(input_.Page(first_tile_ + tile, offset + face), to + kArgmaxLineBytes, kArgmaxLineBytes,
           group);
    }
  }

  // The lines of the batch that begins with `tile`.
  void Scan(uint32_t tile) {
    const uint32_t first = tile * kTileExtent;
    const uint32_t end = Least(words_.input.columns, first + kArgmaxBatchTiles * kTileExtent);
    uint32_t line = LinesOf(tile) + line_ % kArgmaxLineBytes;
    for (uint32_t at = first; at < end; at += kFaceExtent, line += kArgmaxLineBytes) {
      const uint32_t count = Least(kFaceExtent, end - at);
      for (uint32_t i = 0; i != count; ++i) {
        const uint32_t bits = words_.unit_bytes == sizeof(Half)
                                  ? uint32_t{L1Pointer<const Half>(line)[i]} << 16
                                  : L1Pointer<const Word>(line)[i];
        greatest_.Offer(bits, at + i);
      }
    }
  }

  const Argmax& words_;
  TensorPages input_;
  TensorPages output_;
  uint32_t memory_;
  uint32_t tiles_;           // of a row
  uint32_t first_tile_ = 0;  // page of the first tile of the row
  uint32_t line_ = 0;        // offset of the row in a face
  Greatest greatest_;
};

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<Argmax>();
  const CircularBuffer memory(0);
  Searcher searcher(words, (memory.address() + 63) & ~63u);
  const Items items(words.cores);
  for (uint32_t item = items.first; item < items.end; item += items.step) searcher.Run(item);
}
