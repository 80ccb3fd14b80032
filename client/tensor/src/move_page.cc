// Which moves are of whole tiles.
#include "client/tensor/src/move_page.h"

namespace ttfd::tensor {
namespace {

uint32_t TilesOf(uint32_t elements) { return (elements + kTileExtent - 1) / kTileExtent; }

// Digits of the output from begin to end are elements of the source from `from` on, of `extent`: they begin tiles in
// both, and end with a tile or with the extents.
bool AreTiles(const MoveLevel& level, uint32_t size, uint64_t from, uint64_t extent) {
  const uint32_t count = level.end - level.begin;
  if (level.begin % kTileExtent != 0 || from % kTileExtent != 0) return false;
  return count % kTileExtent == 0 || (level.end == size && from + count == extent);
}

// The source in tiles.
std::optional<MoveSource> SourceInTiles(const MoveSource& source, const TensorSpec& input,
                                        const std::vector<uint32_t>& sizes) {
  const size_t row = sizes.size() - 2, column = sizes.size() - 1;
  const uint64_t columns = input.shape.columns(), rows = input.shape.rows();
  // Matrices without padding between them are one high matrix.
  const bool is_high = rows % kTileExtent == 0;
  const uint64_t high_rows = is_high ? rows * input.shape.matrices() : rows;

  uint64_t first = source.offset;  // element of the first digits
  for (const MoveLevel& level : source.levels) first += level.begin * level.stride;
  first &= UINT32_MAX;
  const uint64_t first_row = is_high ? first / columns : first / columns % rows;
  const MoveLevel &across = source.levels[column], &down = source.levels[row];
  const uint32_t height = down.end - down.begin;
  if ((across.stride != 1 && across.end - across.begin != 1) ||
      (down.stride != columns && height != 1) ||
      first % columns + across.end - across.begin > columns || first_row + height > high_rows ||
      !AreTiles(across, sizes[column], first % columns, columns) ||
      !AreTiles(down, sizes[row], first_row, high_rows)) {
    return std::nullopt;
  }
  const uint64_t unit =
      is_high ? kTileExtent * columns : rows * columns;  // elements of so many tiles
  const uint64_t unit_tiles = uint64_t{input.tile_columns()} * (is_high ? 1 : input.tile_rows());
  MoveSource tiles = {source.input, 0, source.levels};
  for (size_t i = 0; i < row; ++i) {
    MoveLevel& level = tiles.levels[i];
    if (level.end - level.begin == 1) level.stride = 0;
    if (level.stride % unit != 0) return std::nullopt;
    level.stride = level.stride / unit * unit_tiles;
  }
  tiles.levels[row] = {down.begin / kTileExtent, TilesOf(down.end), input.tile_columns()};
  tiles.levels[column] = {across.begin / kTileExtent, TilesOf(across.end), 1};
  const uint64_t matrix = is_high ? 0 : first / columns / rows;
  tiles.offset = matrix * unit_tiles + first_row / kTileExtent * input.tile_columns() +
                 first % columns / kTileExtent;
  for (const MoveLevel& level : tiles.levels) tiles.offset -= level.begin * level.stride;
  return tiles;
}

}  // namespace

std::optional<MoveOperation> InTiles(const MoveOperation& operation,
                                     std::span<const TensorSpec> inputs, const TensorSpec& output) {
  const Shape& shape = output.shape;
  MoveOperation tiles = operation;
  if (tiles.sizes.size() == 1) {
    tiles.sizes.insert(tiles.sizes.begin(), 1);
    for (MoveSource& source : tiles.sources) source.levels.insert(source.levels.begin(), {0, 1, 0});
  }
  const size_t row = tiles.sizes.size() - 2;
  const bool is_padded = shape.rows() % kTileExtent != 0 || shape.columns() % kTileExtent != 0;
  if (output.layout != Layout::kTile || operation.index || tiles.sizes[row] != shape.rows() ||
      tiles.sizes[row + 1] != shape.columns() ||
      (operation.filling == ops::MoveFilling::kValue && operation.value != 0 && is_padded)) {
    return std::nullopt;
  }
  for (MoveSource& source : tiles.sources) {
    const TensorSpec& input = inputs[source.input];
    if (input.layout != Layout::kTile) return std::nullopt;
    std::optional<MoveSource> in_tiles = SourceInTiles(source, input, tiles.sizes);
    if (!in_tiles) return std::nullopt;
    source = *std::move(in_tiles);
  }
  tiles.sizes[row] = output.tile_rows();
  tiles.sizes[row + 1] = output.tile_columns();
  if (tiles.part) {
    tiles.part->rows = TilesOf(tiles.part->first_row + tiles.part->rows);
    tiles.part->first_row /= kTileExtent;
    tiles.part->rows -= tiles.part->first_row;
  }
  return tiles;
}

}  // namespace ttfd::tensor
