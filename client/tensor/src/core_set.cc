// Sets of workers as ranges and as words.
#include "client/tensor/src/core_set.h"

#include <algorithm>
#include <string>

#include "client/tensor/src/error.h"

namespace ttfd::tensor {
namespace {

using client::Core;
using client::CoreRange;

std::string TextOf(const CoreRange& range) {
  return "(" + std::to_string(range.x0) + "," + std::to_string(range.y0) + ")-(" +
         std::to_string(range.x1) + "," + std::to_string(range.y1) + ")";
}

bool IsBefore(const Core& a, const Core& b) { return a.y != b.y ? a.y < b.y : a.x < b.x; }

}  // namespace

client::Result<CoreSet> CoreSet::Make(std::span<const CoreRange> ranges, uint32_t grid_x,
                                      uint32_t grid_y) {
  if (grid_x == 0 || grid_y == 0 || grid_x > ops::kBitmapColumns || grid_y > ops::kBitmapRows) {
    return Invalid("cores", "operations run on grids of at most " +
                                std::to_string(ops::kBitmapColumns) + " x " +
                                std::to_string(ops::kBitmapRows) + " workers, not " +
                                std::to_string(grid_x) + " x " + std::to_string(grid_y));
  }
  const CoreRange all = {0, 0, grid_x - 1, grid_y - 1};
  if (ranges.empty()) ranges = {&all, 1};
  std::vector<Core> cores;
  for (const CoreRange& range : ranges) {
    if (range.x0 > range.x1 || range.y0 > range.y1 || range.x1 >= grid_x || range.y1 >= grid_y) {
      return Invalid("cores", "cores " + TextOf(range) + " are not a rectangle of the grid of " +
                                  std::to_string(grid_x) + " x " + std::to_string(grid_y));
    }
    for (uint32_t y = range.y0; y <= range.y1; ++y) {
      for (uint32_t x = range.x0; x <= range.x1; ++x) cores.push_back({x, y});
    }
  }
  std::sort(cores.begin(), cores.end(), IsBefore);
  const auto twice = std::adjacent_find(cores.begin(), cores.end());
  if (twice != cores.end()) {
    return Invalid("cores", "core (" + std::to_string(twice->x) + "," + std::to_string(twice->y) +
                                ") is in two ranges");
  }
  return CoreSet(std::move(cores));
}

std::vector<CoreRange> CoreSet::Ranges(uint32_t count) const {
  std::vector<CoreRange> ranges;
  for (uint32_t i = 0; i < count;) {
    CoreRange row = CoreRange::Single(cores_[i]);
    for (++i; i < count && cores_[i] == Core{row.x1 + 1, row.y0}; ++i) ++row.x1;
    // Rows below one another become one range.
    CoreRange* const above = ranges.empty() ? nullptr : &ranges.back();
    if (above != nullptr && above->x0 == row.x0 && above->x1 == row.x1 && above->y1 + 1 == row.y0) {
      ++above->y1;
    } else {
      ranges.push_back(row);
    }
  }
  return ranges;
}

CoreSet::Words CoreSet::WordsOf(uint32_t count) const {
  const Core first = cores_[0];
  uint32_t columns = 1;
  while (columns < count && cores_[columns] == Core{first.x + columns, first.y}) ++columns;
  const auto is_in_place = [&](uint32_t i) {
    return cores_[i] == Core{first.x + i % columns, first.y + i / columns};
  };
  uint32_t placed = columns;
  while (placed < count && is_in_place(placed)) ++placed;
  if (placed == count) return {first.x | first.y << 8 | columns << 16, {}};

  Words words = {0, std::vector<uint32_t>(ops::kBitmapWords)};
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t bit = cores_[i].y * ops::kBitmapColumns + cores_[i].x;
    words.bitmap[bit / 32] |= 1u << bit % 32;
  }
  return words;
}

}  // namespace ttfd::tensor
