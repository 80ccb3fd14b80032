// The workers of the classes.
#include "client/graph/src/placement.h"

#include "client/graph/src/error.h"
#include "firmware/graph/layout.h"

namespace ttfd::graph {
namespace {

std::string TileText(uint32_t x, uint32_t y) {
  return "(" + std::to_string(x) + "," + std::to_string(y) + ")";
}

// All tiles but the scheduler's, as ranges.
std::vector<client::CoreRange> AllBut(client::Core tile, uint32_t grid_x, uint32_t grid_y) {
  std::vector<client::CoreRange> ranges;
  if (tile.y > 0) ranges.push_back({0, 0, grid_x - 1, tile.y - 1});
  if (tile.x > 0) ranges.push_back({0, tile.y, tile.x - 1, tile.y});
  if (tile.x + 1 < grid_x) ranges.push_back({tile.x + 1, tile.y, grid_x - 1, tile.y});
  if (tile.y + 1 < grid_y) ranges.push_back({0, tile.y + 1, grid_x - 1, grid_y - 1});
  return ranges;
}

Status TooMany(const std::string& name) {
  return Invalid("classes", name + ": the classes take more than " +
                                std::to_string(layout::kWorkerWords) + " groups of " +
                                std::to_string(layout::kWorkersPerWord) +
                                " workers, of which each class has whole ones");
}

}  // namespace

Placement::Placement(const GraphOptions& options, uint32_t grid_x, uint32_t grid_y)
    : scheduler_(options.scheduler),
      columns_(grid_x),
      numbers_((grid_x * grid_y + 3) / 4 * 4, kNoWorker) {
  if (scheduler_.x >= grid_x || scheduler_.y >= grid_y) {
    status_ = Invalid("scheduler", "tile " + TileText(scheduler_.x, scheduler_.y) +
                                       "; the worker grid has " + std::to_string(grid_x) + " by " +
                                       std::to_string(grid_y));
    return;
  }
  std::vector<ClassOptions> classes = options.classes;
  if (classes.empty()) classes = {{"ALL", AllBut(scheduler_, grid_x, grid_y)}};
  for (const ClassOptions& one : classes) {
    status_ = AddClass(one, grid_y);
    if (!status_.ok()) return;
  }
}

Status Placement::AddClass(const ClassOptions& options, uint32_t grid_y) {
  const uint32_t grid_x = columns_;
  const std::string name = "class '" + options.name + "'";
  if (options.name.empty()) return Invalid("classes", "a class without a name");
  if (Find(options.name)) return Invalid("classes", name + " is given twice");
  const auto list = static_cast<uint8_t>(classes_.size());
  uint32_t workers = 0;
  for (const client::CoreRange& range : options.cores) {
    if (range.x0 > range.x1 || range.y0 > range.y1 || range.x1 >= grid_x || range.y1 >= grid_y) {
      return Invalid("classes", name + ": cores " + TileText(range.x0, range.y0) + "-" +
                                    TileText(range.x1, range.y1) +
                                    " are no rectangle inside the worker grid (0,0)-" +
                                    TileText(grid_x - 1, grid_y - 1));
    }
    for (uint32_t y = range.y0; y <= range.y1; ++y) {
      for (uint32_t x = range.x0; x <= range.x1; ++x, ++workers) {
        uint8_t& number = numbers_[y * grid_x + x];
        if (number != kNoWorker || (x == scheduler_.x && y == scheduler_.y)) {
          return Invalid("classes", name + ": worker " + TileText(x, y) +
                                        " is the scheduler's tile or of another range");
        }
        if (workers % layout::kWorkersPerWord == 0) {
          if (lists_.size() == layout::kWorkerWords) return TooMany(name);
          lists_.push_back(list);
          tiles_.resize(tiles_.size() + layout::kWorkersPerWord, layout::kNoTile);
        }
        number = static_cast<uint8_t>((lists_.size() - 1) * layout::kWorkersPerWord +
                                      workers % layout::kWorkersPerWord);
        tiles_[number] = layout::PackTile(x, y);
      }
    }
    cores_.push_back(range);
  }
  if (workers == 0) return Invalid("classes", name + " has no workers");
  classes_.push_back({options.name, workers});
  return {};
}

std::optional<uint32_t> Placement::Find(const std::string& name) const {
  for (uint32_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].name == name) return i;
  }
  return std::nullopt;
}

std::string Placement::Names() const {
  std::string text;
  for (const Class& one : classes_) {
    if (!text.empty()) text += ", ";
    text += one.name + " (" + std::to_string(one.workers) + " workers)";
  }
  return text;
}

}  // namespace ttfd::graph
