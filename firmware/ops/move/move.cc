// Moves elements: assembles each block of the output from elements of the sources, in L1, and writes it. NCRISC, words
// Move.
#include "firmware/ops/cores.h"
#include "firmware/ops/move/levels.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

namespace {

// A block of the output.
struct Block {
  uint32_t matrix;
  uint32_t row;  // of its first element
  uint32_t column;
  uint32_t rows;
  uint32_t columns;
  uint32_t first;  // number of its first element
  uint32_t position;
  uint32_t shift;  // Box has it
};

// The page of a block, of a position or of the matrix. False: there is none.
[[gnu::noinline]] bool FindPage(const Move& words, Indices& indices, Indices& table, Block* block) {
  const Move::Source& pages = words.source[kMovePageTable];
  const uint32_t number = block->matrix / indices.matrices();
  uint32_t user = number, page = number;
  if (indices.positions()) {
    const uint32_t position = indices.At(user);
    page = position / words.output.rows;
    block->position = position - page * words.output.rows;
  } else {
    user = indices.is_empty() ? 0 : indices.At(0);
  }
  if (user >= pages.tensor.rows || page >= pages.tensor.columns) return false;
  const uint32_t in_output = table.At(pages.offset + user * pages.tensor.columns + page);
  if (in_output >= indices.limit()) return false;
  block->shift = number - in_output;
  block->matrix -= block->shift * indices.matrices();
  return true;
}

// False: there is nothing to do.
bool FindBlock(const Move& words, Indices& indices, Indices& table, uint32_t item, Block* block) {
  const uint32_t rows = item / words.blocks.across;
  const uint32_t matrix = rows / words.blocks.down;
  uint32_t row_block = words.blocks.first_row + rows - matrix * words.blocks.down;
  block->matrix = words.blocks.first_matrix + matrix;
  block->position = 0;
  block->shift = 0;
  if (indices.pages()) {
    if (!FindPage(words, indices, table, block)) return false;
  } else if (indices.positions()) {
    block->position = indices.At(matrix / indices.matrices());
    if (block->position >= words.output.rows) return false;
  }
  if (indices.positions()) row_block = block->position / words.blocks.rows;
  block->row = row_block * words.blocks.rows;
  block->column = (item - rows * words.blocks.across) * words.blocks.columns;
  block->rows = Least(words.blocks.rows, words.output.rows - block->row);
  block->columns = Least(words.blocks.columns, words.output.columns - block->column);
  block->first =
      (block->matrix * words.output.rows + block->row) * words.output.columns + block->column;
  return true;
}

// Kernels have one of these.
class Mover {
 public:
  Mover(const Move& words, uint32_t memory, uint32_t end)
      : words_(words),
        indices_(words.index, words.index.tensor, memory),
        table_(words.index, words.source[kMovePageTable].tensor, memory + kMoveIndexBytes),
        output_(words.output, words.unit_bytes),
        block_bytes_(words.blocks.rows * words.blocks.columns * words.unit_bytes),
        memory_(memory + 2 * kMoveIndexBytes),
        gather_(memory_ + 2 * block_bytes_, end) {}

  void Run(uint32_t item) {
    Block block;
    if (!FindBlock(words_, indices_, table_, item, &block)) return;
    if (words_.unit_bytes > sizeof(uint32_t)) return MovePages(block);
    const BlockMemory memory = {memory_, words_.output.is_tiled != 0, words_.blocks.columns,
                                words_.unit_bytes};
    gather_.Begin(memory);
    Fill(block, memory);
    for (uint32_t i = 0; i != words_.sources; ++i) ReadSource(block, i);
    gather_.Finish();
    WriteBarrier();  // the block before this one has been written, its memory is that of the next one
    Transfer(block, memory,
             [](NocAddress to, uint32_t from, uint32_t bytes) { Write(from, to, bytes); });
    NextBlock();
  }

 private:
  void NextBlock() {
    memory_ += is_second_ ? 0 - block_bytes_ : block_bytes_;
    is_second_ = !is_second_;
  }

  void ReadSource(const Block& block, uint32_t source) {
    Box box(words_, source, indices_, block.position, block.shift);
    uint32_t first = block.first;
    for (uint32_t y = 0, rows = 0; y != block.rows;
         y += rows, first += rows * words_.output.columns) {
      rows = box.IsRegular() ? EqualRows(words_, first, block.columns, block.rows - y) : 1;
      Digits digits(words_, first);
      for (uint32_t x = 0, run = 0; x != block.columns; x += run) {
        if (x != 0) digits.Carry();
        run = digits.Run(block.columns - x);
        box.Read(gather_, digits, y, x, rows, run);
      }
    }
  }

  // The pages of a block, as transfer(address in DRAM, address in L1, bytes).
  template <typename Function>
  void Transfer(const Block& block, const BlockMemory& memory, Function transfer) const {
    if (output_.is_tiled()) {
      uint32_t page = output_.TileOf(block.matrix, block.row, block.column);
      for (uint32_t x = 0; x < block.columns; x += kTileExtent) {
        transfer(output_.Page(page++), memory.AddressOf(0, x), output_.page_bytes());
      }
      return;
    }
    const uint32_t row = block.matrix * words_.output.rows + block.row;
    for (uint32_t y = 0; y != block.rows; ++y) {
      transfer(output_.pages().Page(row + y, block.column * words_.unit_bytes),
               memory.AddressOf(y, 0), block.columns * words_.unit_bytes);
    }
  }

  // Elements that no source covers, and padding.
  void Fill(const Block& block, const BlockMemory& memory) const {
    const auto filling = static_cast<MoveFilling>(words_.filling);
    if (filling == MoveFilling::kKeep) {
      Transfer(block, memory,
               [](NocAddress from, uint32_t to, uint32_t bytes) { Read(from, to, bytes); });
      ReadBarrier();
      return;
    }
    const bool is_padded =
        memory.is_tiled && (block.rows != kTileExtent || block.columns % kTileExtent != 0);
    const uint32_t value = filling == MoveFilling::kValue ? words_.value : 0;
    if (filling == MoveFilling::kNone && !is_padded) return;
    FillWords(memory.address, block_bytes_, is_padded ? 0 : value);
    if (is_padded && value != 0) FillElements(block, memory, value);
    internal::SettleStores(memory.address + block_bytes_ - sizeof(Word));  // before reads arrive
  }

  // `bytes` is a multiple of 32.
  [[gnu::noinline]] static void FillWords(uint32_t address, uint32_t bytes, uint32_t value) {
    Word* const end = L1Pointer<Word>(address + bytes);
    for (Word* to = L1Pointer<Word>(address); to != end; to += 8) {
      to[0] = value, to[1] = value, to[2] = value, to[3] = value;
      to[4] = value, to[5] = value, to[6] = value, to[7] = value;
    }
  }

  [[gnu::noinline]] static void FillElements(const Block& block, const BlockMemory& memory,
                                             uint32_t value) {
    for (uint32_t y = 0; y != block.rows; ++y) {
      for (uint32_t x = 0; x != block.columns; ++x) {
        if (memory.unit_bytes == 2) {
          *L1Pointer<Half>(memory.AddressOf(y, x)) = static_cast<Half>(value);
        } else {
          *L1Pointer<Word>(memory.AddressOf(y, x)) = value;
        }
      }
    }
  }

  // A block of whole pages, of one row.
  [[gnu::noinline]] void MovePages(const Block& block) {
    uint32_t covered = 0;  // a bit for each page
    for (uint32_t source = 0; source != words_.sources; ++source) {
      Box box(words_, source, indices_, block.position, block.shift);
      const InterleavedBuffer pages(words_.source[source].tensor.address, words_.unit_bytes);
      for (uint32_t x = 0; x != block.columns; ++x) {
        uint32_t page = 0;
        if (!box.Find(Digits(words_, block.first + x), &page)) continue;
        Read(pages.Page(page), memory_ + x * words_.unit_bytes, words_.unit_bytes);
        covered |= 1u << x;
      }
    }
    const bool keeps = words_.filling == static_cast<uint32_t>(MoveFilling::kKeep);
    const InterleavedBuffer pages(words_.output.address, words_.unit_bytes);
    ReadBarrier();
    WriteBarrier();
    for (uint32_t x = 0; x != block.columns; ++x) {
      const uint32_t from = memory_ + x * words_.unit_bytes;
      if ((covered >> x & 1) == 0) {
        if (keeps) continue;
        FillWords(from, words_.unit_bytes, words_.value);
      }
      Write(from, pages.Page(block.first + x), words_.unit_bytes);
    }
    NextBlock();
  }

  const Move& words_;
  Indices indices_;
  Indices table_;  // of pages, if there is one
  TensorPages output_;
  uint32_t block_bytes_;
  uint32_t memory_;  // of this block
  bool is_second_ = false;
  Gather gather_;
};

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<Move, offsetof(Move, source) / sizeof(uint32_t)>();
  const CircularBuffer memory(0);
  const uint32_t end = memory.address() + memory.pages() * memory.page_bytes();
  Mover mover(words, (memory.address() + 63) & ~63u, end & ~63u);
  const Items items(words.cores);
  for (uint32_t item = items.first; item < items.end; item += items.step) mover.Run(item);
}
