// Where a graph runs: the scheduler's tile, and the workers of each class in words of completion bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ttfd/graph/graph.h"

namespace ttfd::graph {

// Constant after construction.
class Placement {
 public:
  static constexpr uint8_t kNoWorker = 255;

  // INVALID_ARGUMENT of options that the grid does not have, or that overlap: status().
  Placement(const GraphOptions& options, uint32_t grid_x, uint32_t grid_y);

  const Status& status() const { return status_; }
  client::Core scheduler() const { return scheduler_; }
  // Number of a class's ready list.
  std::optional<uint32_t> Find(const std::string& name) const;
  // Name of the class of a ready list.
  const std::string& NameOf(uint32_t list) const { return classes_[list].name; }
  // "VECTOR (48 workers), MATRIX (24 workers)".
  std::string Names() const;

  // Words of completion bits, of kWorkersPerWord workers each.
  uint32_t words() const { return static_cast<uint32_t>(lists_.size()); }
  // By word, its class.
  const std::vector<uint8_t>& lists() const { return lists_; }
  // words() * kWorkersPerWord tiles as layout::PackTile has them.
  const std::vector<uint16_t>& tiles() const { return tiles_; }
  // By tile, row by row, its place in tiles(), filled up to whole words; kNoWorker of tiles that are no workers.
  const std::vector<uint8_t>& numbers() const { return numbers_; }
  uint32_t columns() const { return columns_; }
  // The workers, as ranges without overlap.
  const std::vector<client::CoreRange>& cores() const { return cores_; }

 private:
  struct Class {
    std::string name;
    uint32_t workers = 0;
  };
  Status AddClass(const ClassOptions& options, uint32_t grid_y);

  client::Core scheduler_;
  std::vector<Class> classes_;
  std::vector<uint8_t> lists_;
  std::vector<uint16_t> tiles_;
  uint32_t columns_;
  std::vector<uint8_t> numbers_;
  std::vector<client::CoreRange> cores_;
  Status status_;
};

}  // namespace ttfd::graph
