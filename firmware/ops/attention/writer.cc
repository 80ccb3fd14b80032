// Writes the rows of each unit: whole tiles, or their own rows of tiles that several units share. BRISC, words
// AttentionWriter.
#include <ttfd/kernel.h>

#include "firmware/ops/attention/unit.h"
#include "firmware/ops/cores.h"
#include "firmware/ops/write_page.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

namespace {

// Rows begin to end - 1 of a tile: parts of its four faces. A row of a face is 1/64 of the tile.
void WriteRows(const InterleavedBuffer& tiles, uint32_t tile, uint32_t from, uint32_t begin,
               uint32_t end) {
  const uint32_t row_bytes = tiles.page_bytes() / 64;
  for (uint32_t face = 0; face != 4; ++face) {
    const uint32_t top = face / 2 * 16;
    const uint32_t first = begin > top ? begin - top : 0;
    const uint32_t last = end > top ? LeastOf(end - top, 16) : 0;
    if (first >= last) continue;
    const uint32_t offset = (face * 16 + first) * row_bytes;
    Write(from + offset, tiles.Page(tile, offset), (last - first) * row_bytes);
  }
}

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<AttentionWriter>();
  CircularBuffer pages(kOutputBuffer);
  const InterleavedBuffer tiles(words.address, pages.page_bytes());
  const Items items(words.cores);
  for (uint32_t item = items.first; item < items.end; item += items.step) {
    const Unit unit(words.units, item);
    if (unit.IsEmpty()) continue;
    // The unit of the last row writes the padding below it.
    const bool is_last = unit.tile_row * 32 + unit.end == words.units.rows;
    const uint32_t end = is_last ? 32 : unit.end;
    for (uint32_t i = 0; i != words.tiles; ++i) {
      const uint32_t tile = unit.row * words.tiles + i;
      WritePage(pages, [&](uint32_t from) {
        if (unit.begin == 0 && end == 32) return Write(from, tiles.Page(tile), pages.page_bytes());
        WriteRows(tiles, tile, from, unit.begin, end);
      });
    }
  }
}
