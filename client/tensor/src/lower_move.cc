// Moves of elements: an item is a block of the output.
#include "client/tensor/src/lower_move.h"

#include <algorithm>
#include <string>

#include "client/tensor/src/error.h"
#include "client/tensor/src/move_page.h"

namespace ttfd::tensor {
namespace {

constexpr uint32_t kMaxBlockTiles = 8;
constexpr uint32_t kScratchTiles = 4;  // for sources, besides as many as a block has

bool IsWhole(const MoveLevel& level, uint32_t size) {
  return level.begin == 0 && level.end == size;
}

// Level `inner` and the one before it as one, for all sources.
bool CanMerge(const MoveOperation& operation, size_t inner) {
  const size_t outer = inner - 1;
  if (operation.index && (operation.index->level == inner || operation.index->level == outer)) {
    return false;
  }
  if (operation.index && operation.index->pages && outer == 0) return false;
  const uint32_t size = operation.sizes[inner];
  return std::all_of(operation.sources.begin(), operation.sources.end(),
                     [&](const MoveSource& source) {
                       const uint64_t stride = source.levels[inner].stride;
                       return IsWhole(source.levels[inner], size) &&
                              (size == 1 || operation.sizes[outer] == 1 ||
                               static_cast<uint32_t>(source.levels[outer].stride) ==
                                   static_cast<uint32_t>(stride * size));
                     });
}

void Merge(MoveOperation* operation, size_t inner) {
  const size_t outer = inner - 1;
  const uint32_t size = operation->sizes[inner];
  operation->sizes[outer] *= size;
  operation->sizes.erase(operation->sizes.begin() + static_cast<ptrdiff_t>(inner));
  for (MoveSource& source : operation->sources) {
    const MoveLevel& into = source.levels[outer];
    const uint64_t stride = size == 1 ? into.stride : source.levels[inner].stride;
    source.levels[outer] = {into.begin * size, into.end * size, stride};
    source.levels.erase(source.levels.begin() + static_cast<ptrdiff_t>(inner));
  }
  if (operation->index && operation->index->level > outer) --operation->index->level;
}

// Few levels in place of many.
void MergeLevels(MoveOperation* operation) {
  for (size_t i = operation->sizes.size() - 1; i != 0; --i) {
    if (CanMerge(*operation, i)) Merge(operation, i);
  }
}

// An operation in tiles where it can be, its levels merged.
struct MergedMove {
  MoveOperation operation = {};
  bool moves_tiles = false;
};

MergedMove MergedOf(const MoveOperation& operation, std::span<const TensorSpec> inputs,
                    const TensorSpec& output) {
  std::optional<MoveOperation> in_tiles = InTiles(operation, inputs, output);
  MergedMove move = {operation, in_tiles.has_value()};
  if (in_tiles) move.operation = *std::move(in_tiles);
  MergeLevels(&move.operation);
  return move;
}

// Blocks of the output, in elements or pages.
struct Grid {
  uint32_t rows = 0;  // of a matrix
  uint32_t columns = 0;
  uint32_t block_rows = 1;
  uint32_t block_columns = 1;
};

// The greatest power of two that is at most `value`.
uint32_t PowerBelow(uint64_t value) {
  uint32_t power = 1;
  while (power * 2 <= value && power < kMaxBlockTiles) power *= 2;
  return power;
}

Grid GridOfElements(const MoveOperation& operation, std::span<const TensorSpec> inputs,
                    const TensorSpec& output, const CardLimits& limits) {
  Grid grid = {output.shape.rows(), output.shape.columns()};
  const uint64_t tiles = output.tiles();
  const uint32_t across = PowerBelow(
      std::min<uint64_t>(output.tile_columns(), std::max<uint64_t>(1, tiles / limits.cores)));
  grid.block_rows = kTileExtent;
  grid.block_columns = across * kTileExtent;
  if (output.layout == Layout::kTile) return grid;
  grid.block_rows = std::min(kTileExtent, grid.rows);
  const bool has_rows = std::all_of(
      operation.sources.begin(), operation.sources.end(), [&](const MoveSource& source) {
        return inputs[source.input].layout == Layout::kRowMajor && source.levels.back().stride == 1;
      });
  if (!has_rows) return grid;
  // Long reads: rows as they are, of at most as many elements.
  constexpr uint32_t kElements = kMaxBlockTiles * kTileExtent * kTileExtent;
  grid.block_columns =
      std::min((grid.columns + kTileExtent - 1) / kTileExtent * kTileExtent, kElements);
  const uint64_t rows = uint64_t{grid.rows} * output.shape.matrices();
  const uint64_t share = std::max<uint64_t>(1, rows / limits.cores);
  grid.block_rows = static_cast<uint32_t>(
      std::min<uint64_t>({grid.block_rows, kElements / grid.block_columns, share}));
  return grid;
}

ops::MoveTensor WordsOfTensor(const TensorSpec& spec) {
  return {0, spec.layout == Layout::kTile, spec.shape.rows(), spec.shape.columns()};
}

// The words of `operation`, whose levels are merged.
ops::Move WordsOfMove(const MoveOperation& operation, std::span<const TensorSpec> inputs,
                      const Grid& grid) {
  ops::Move words = {};
  words.blocks.rows = grid.block_rows;
  words.blocks.columns = grid.block_columns;
  words.filling = static_cast<uint32_t>(operation.filling);
  words.levels = static_cast<uint32_t>(operation.sizes.size());
  uint64_t below = 1;  // elements of a digit
  for (uint32_t i = words.levels; i-- != 0;) {
    words.size[i] = operation.sizes[i];
    if (grid.columns % below == 0) {
      words.row_level = i;
      words.row_step = static_cast<uint32_t>(grid.columns / below);
    }
    below *= operation.sizes[i];
  }
  if (operation.index) {
    const MoveOperation::Index& index = *operation.index;
    words.index = {static_cast<uint32_t>(index.use), index.level, index.limit, index.matrices, {}};
    if (index.input != index.kNoInput) words.index.tensor = WordsOfTensor(inputs[index.input]);
    if (index.pages) {
      ops::Move::Source& table = words.source[ops::kMovePageTable];
      table.tensor = WordsOfTensor(inputs[index.pages->input]);
      table.offset = index.pages->offset;
    }
  }
  words.sources = static_cast<uint32_t>(operation.sources.size());
  for (uint32_t i = 0; i < words.sources; ++i) {
    const MoveSource& source = operation.sources[i];
    words.source[i].tensor = WordsOfTensor(inputs[source.input]);
    words.source[i].offset = static_cast<uint32_t>(source.offset);
    for (uint32_t level = 0; level < words.levels; ++level) {
      const MoveLevel& box = source.levels[level];
      words.source[i].level[level] = {box.begin, box.end, static_cast<uint32_t>(box.stride)};
    }
  }
  return words;
}

std::vector<KernelWords::Address> AddressesOf(const MoveOperation& operation) {
  std::vector<KernelWords::Address> addresses = {
      {WordOf(offsetof(ops::Move, output)), Lowering::kOutput}};
  const auto source = [](size_t i) {
    return WordOf(offsetof(ops::Move, source) + i * sizeof(ops::Move::Source));
  };
  if (operation.index && operation.index->input != MoveOperation::Index::kNoInput) {
    addresses.push_back({WordOf(offsetof(ops::Move, index) + offsetof(ops::Move::Index, tensor)),
                         operation.index->input});
  }
  if (operation.index && operation.index->pages) {
    addresses.push_back({source(ops::kMovePageTable), operation.index->pages->input});
  }
  for (size_t i = 0; i < operation.sources.size(); ++i) {
    addresses.push_back({source(i), operation.sources[i].input});
  }
  return addresses;
}

client::Status CheckMerged(const MergedMove& move, std::span<const TensorSpec> inputs,
                           const TensorSpec& output) {
  if (output.dtype == DType::kBfp8 && !move.moves_tiles) {
    return Invalid("dtype",
                   "elements of bfp8 move as whole tiles only, and these do not; typecast to "
                   "bfloat16 or float32 first");
  }
  if (move.operation.sizes.size() > ops::kMaxMoveLevels) {
    return Invalid("shape", "more than " + std::to_string(ops::kMaxMoveLevels) +
                                " groups of extents of " + output.shape.ToString() +
                                " are moved differently");
  }
  uint64_t most = output.shape.elements();
  for (const TensorSpec& input : inputs) most = std::max(most, input.shape.elements());
  if (most > UINT32_MAX) {
    return Invalid("shape", std::to_string(most) + " elements are more than the " +
                                std::to_string(UINT32_MAX) + " that can be moved at once");
  }
  return client::Status();
}

}  // namespace

std::vector<uint64_t> StridesOf(const Shape& shape) {
  std::vector<uint64_t> strides(shape.rank());
  uint64_t stride = 1;
  for (size_t i = shape.rank(); i-- != 0; stride *= shape[i]) strides[i] = stride;
  return strides;
}

client::Status CheckMove(const MoveOperation& operation, std::span<const TensorSpec> inputs,
                         const TensorSpec& output) {
  return CheckMerged(MergedOf(operation, inputs, output), inputs, output);
}

client::Result<Lowering> LowerMove(const MoveOperation& operation,
                                   std::span<const TensorSpec> inputs, const TensorSpec& output,
                                   const CardLimits& limits) {
  const MergedMove move = MergedOf(operation, inputs, output);
  if (client::Status status = CheckMerged(move, inputs, output); !status.ok()) return status;
  const bool in_tiles = move.moves_tiles;
  const MoveOperation& merged = move.operation;
  const Grid grid =
      in_tiles
          ? Grid{output.tile_rows(), output.tile_columns(), 1,
                 PowerBelow(std::min<uint64_t>(
                     output.tile_columns(), std::max<uint64_t>(1, output.tiles() / limits.cores)))}
          : GridOfElements(merged, inputs, output, limits);
  ops::Move words = WordsOfMove(merged, inputs, grid);
  words.output = {0, !in_tiles && output.layout == Layout::kTile, grid.rows, grid.columns};
  const uint32_t element_bytes = ElementBytes(output.dtype);
  words.unit_bytes = in_tiles ? output.page_bytes() : element_bytes;
  words.value = element_bytes == 2 ? operation.value * 0x10001 : operation.value;
  const MoveOperation::Part part = merged.part.value_or(
      MoveOperation::Part{0, static_cast<uint32_t>(output.shape.matrices()), 0, grid.rows});
  words.blocks.first_matrix = part.first_matrix;
  words.blocks.first_row = part.first_row / grid.block_rows;
  words.blocks.down =
      (part.first_row + part.rows - 1) / grid.block_rows - words.blocks.first_row + 1;
  words.blocks.across = (grid.columns - 1) / grid.block_columns + 1;

  const uint32_t block_elements = grid.block_rows * grid.block_columns;
  const uint32_t block_tiles = in_tiles ? block_elements : (block_elements - 1) / 1024 + 1;
  Lowering lowering = {.family = Family::kMove};
  lowering.circular_buffers = {{0, in_tiles ? 2 * block_tiles + 1 : 3 * block_tiles + kScratchTiles,
                                FormatOf(output.dtype)}};
  lowering.kernels = {{WordsOf(words), AddressesOf(merged)}};
  // A page table has no level.
  const bool is_paged = merged.index && merged.index->pages;
  const size_t source_bytes = is_paged ? ops::kMovePageTable * sizeof(ops::Move::Source) +
                                             offsetof(ops::Move::Source, level)
                                       : words.sources * sizeof(ops::Move::Source);
  lowering.kernels[0].words.resize(WordOf(offsetof(ops::Move, source) + source_bytes));
  Divide(uint64_t{part.matrices} * words.blocks.down * words.blocks.across, block_tiles, limits,
         &lowering);
  return lowering;
}

}  // namespace ttfd::tensor
