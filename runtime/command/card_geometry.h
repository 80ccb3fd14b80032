// Which NoC coordinates stand for worker (x, y) and for bank b: what the encoder knows of the card.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/abi/control_block.h"
#include "runtime/abi/launch.h"
#include "runtime/abi/rings.h"
#include "runtime/command/program.h"
#include "runtime/command/region.h"
#include "runtime/hw/grid.h"
#include "runtime/hw/noc.h"

namespace ttfd {

// Constant after construction. Workers are numbered row by row from the top left.
class CardGeometry {
 public:
  // `worker_columns`: translated x of the worker grid's columns, ascending. `dram_xy`: NocXy of the
  // port NoC 0 uses, by logical bank. `dispatch_tiles`: where workers answer, by hardware queue.
  // `max_record_bytes`: the largest record the card's rings take.
  using DispatchTiles = std::array<hw::Coordinate, abi::kMaxHardwareQueues>;
  CardGeometry(std::vector<uint32_t> worker_columns, std::vector<uint32_t> dram_xy,
               const DispatchTiles& dispatch_tiles,
               uint32_t max_record_bytes = abi::kMaxEntryBytes);

  GridSize grid() const { return grid_; }
  uint32_t worker_count() const { return grid_.x * grid_.y; }
  hw::Coordinate dispatch_tile(uint32_t hardware_queue) const {
    return dispatch_tiles_[hardware_queue];
  }
  uint32_t max_record_bytes() const { return max_record_bytes_; }

  hw::Coordinate WorkerTile(uint32_t worker) const {
    return {columns_[worker % grid_.x], hw::kTensixFirstRow + worker / grid_.x};
  }
  uint32_t WorkerXy(uint32_t worker) const { return worker_xy_[worker]; }
  // The multicast word of a rectangle of workers, and how many it reaches.
  uint32_t Rectangle(const CoreRange& range) const {
    return hw::NocRectangle(worker_xy_[range.y0 * grid_.x + range.x0],
                            worker_xy_[range.y1 * grid_.x + range.x1]);
  }

  uint32_t Banks(MemoryKind kind) const { return static_cast<uint32_t>(banks(kind).size()); }
  uint32_t BankXy(MemoryKind kind, uint32_t bank) const { return banks(kind)[bank]; }

 private:
  const std::vector<uint32_t>& banks(MemoryKind kind) const {
    return kind == MemoryKind::kDram ? dram_xy_ : worker_xy_;
  }

  std::vector<uint32_t> columns_;
  std::vector<uint32_t> dram_xy_;
  std::vector<uint32_t> worker_xy_;
  DispatchTiles dispatch_tiles_;
  uint32_t max_record_bytes_;
  GridSize grid_;
};

constexpr uint32_t CoreCount(const CoreRange& range) {
  return (range.x1 - range.x0 + 1) * (range.y1 - range.y0 + 1);
}

}  // namespace ttfd
