// Reads the queries of each unit, and for each tile of keys that they see the keys, the values and the mask. It finds
// these tiles by positions and page tables on the card, and hands plans of them to the compute kernel. NCRISC, words
// AttentionReader.
#include "firmware/ops/attention/unit.h"
#include "firmware/ops/cores.h"
#include "firmware/ops/index_tensor.h"
#include "firmware/ops/read_ahead.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

namespace {

constexpr uint32_t kPlans = 3;

// Kernels have one of these.
class Reader {
 public:
  Reader(const AttentionReader& words, uint32_t memory)
      : words_(words),
        query_(kQuery),
        queries_(words.query_address, query_.page_bytes()),
        plans_{CircularBuffer(kPlan), CircularBuffer(kPlan + 1), CircularBuffer(kPlan + 2)},
        positions_(words.position, memory),
        table_(words.blocks.table, memory + kMoveIndexBytes),
        reads_(0b011 | words.mask.is_used << kMask, words.key_address, words.value_address,
               words.mask.address) {
    reads_.SetTiles(kMask, words.mask.is_used);
  }

  void Run(uint32_t item) {
    const Unit unit(words_.units, item);
    if (unit.IsEmpty()) return;
    const uint32_t head = unit.head / words_.group;
    const uint32_t user = head / words_.heads;
    const AttentionPlan plan = PlanOf(unit, user);
    for (CircularBuffer& page : plans_) {
      *L1Pointer<AttentionPlan>(page.Reserve()) = plan;
      page.Push();
    }
    ReadQueries(unit);
    const uint32_t mask = MaskTile(unit), end = plan.first_tile + plan.tiles;
    for (uint32_t tile = plan.first_tile; tile < end; tile += words_.steps.tiles) {
      const uint32_t tiles = LeastOf(end - tile, words_.steps.tiles);
      uint32_t rows[kAttentionTiles];
      for (uint32_t i = 0; i != tiles; ++i) rows[i] = RowOfKeys(head, user, tile + i);
      ReadStep(rows, tiles, mask + tile);
    }
    reads_.Finish();  // the next queries may have to wait until all of this is used
  }

 private:
  AttentionPlan PlanOf(const Unit& unit, uint32_t user) {
    const AttentionVisible& visible = words_.visible;
    const uint32_t last = visible.keys - 1;
    uint32_t place = last, below = 0;
    if (visible.by_row != 0) {
      place = unit.tile_row * 32;
      below = 31;
    } else if (words_.positions != 0) {
      place = LeastOf(positions_.At(words_.positions == 1 ? 0 : user), last);
    }
    const uint32_t first = place < visible.back ? 0 : (place - visible.back) / 32;
    const uint32_t end = LeastOf(place + below + visible.ahead, last) / 32 + 1;
    return {first, end - first, place};
  }

  void ReadQueries(const Unit& unit) {
    const uint32_t tiles = words_.key_tiles, bytes = query_.page_bytes();
    uint32_t to = query_.Reserve(tiles);
    for (uint32_t tile = unit.row * tiles; tile != (unit.row + 1) * tiles; ++tile, to += bytes) {
      Read(queries_.Page(tile), to, bytes);
    }
    ReadBarrier();
    query_.Push(tiles);
  }

  uint32_t MaskTile(const Unit& unit) const {
    const AttentionReader::Mask& mask = words_.mask;
    if (mask.is_used == 0) return 0;
    const uint32_t outer = unit.matrix / mask.inner_matrices;
    const uint32_t inner = unit.matrix - outer * mask.inner_matrices;
    return outer * mask.outer_stride + inner * mask.inner_stride + unit.tile_row * mask.row_stride;
  }

  // Row of tiles of all keys.
  uint32_t RowOfKeys(uint32_t head, uint32_t user, uint32_t tile) {
    uint32_t block = user;
    const AttentionReader::Blocks& blocks = words_.blocks;
    if (blocks.has_table != 0) {
      const uint32_t number = tile / blocks.tiles;
      block = LeastOf(table_.At(user * blocks.table.columns + number), blocks.count - 1);
      tile -= number * blocks.tiles;
    }
    return (block * words_.heads + head - user * words_.heads) * blocks.tiles + tile;
  }

  // Keys row by row, values block by block.
  void ReadStep(const uint32_t* rows, uint32_t tiles, uint32_t mask) {
    const uint32_t keys = words_.key_tiles, values = words_.value_tiles, block = words_.steps.block;
    reads_.SetTiles(kKey, tiles * keys);
    reads_.SetTiles(kValue, tiles * values);
    reads_.Begin();
    for (uint32_t i = 0; i != tiles; ++i) ReadTiles(kKey, rows[i] * keys, keys);
    if (words_.mask.is_used != 0) reads_.Read(kMask, mask);
    for (uint32_t first = 0; first != values; first += block) {
      for (uint32_t i = 0; i != tiles; ++i) ReadTiles(kValue, rows[i] * values + first, block);
    }
    reads_.End();
  }
  void ReadTiles(uint32_t stream, uint32_t first, uint32_t tiles) {
    for (uint32_t i = 0; i != tiles; ++i) reads_.Read(stream, first + i);
  }

  const AttentionReader& words_;
  CircularBuffer query_;
  InterleavedBuffer queries_;
  CircularBuffer plans_[kPlans];
  IndexTensor positions_;
  IndexTensor table_;
  ReadAhead reads_;
};

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<AttentionReader>();
  uint32_t memory = 0;  // where nothing is read from tensors of indices
  if ((words.positions | words.blocks.has_table) != 0) {
    memory = CircularBuffer(Optional(kIndices)).address();
  }
  Reader reader(words, (memory + kMoveIndexBytes - 1) & ~(kMoveIndexBytes - 1));
  const Items items(words.cores);
  for (uint32_t item = items.first; item < items.end; item += items.step) reader.Run(item);
}
