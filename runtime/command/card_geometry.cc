// Which NoC coordinates stand for worker (x, y) and for bank b.
#include "runtime/command/card_geometry.h"

#include <utility>

namespace ttfd {

CardGeometry::CardGeometry(std::vector<uint32_t> worker_columns, std::vector<uint32_t> dram_xy,
                           const DispatchTiles& dispatch_tiles, uint32_t max_record_bytes)
    : columns_(std::move(worker_columns)),
      dram_xy_(std::move(dram_xy)),
      dispatch_tiles_(dispatch_tiles),
      max_record_bytes_(max_record_bytes),
      grid_{static_cast<uint32_t>(columns_.size()), hw::kTensixRows} {
  for (uint32_t worker = 0; worker < worker_count(); ++worker) {
    const hw::Coordinate tile = WorkerTile(worker);
    worker_xy_.push_back(hw::NocXy(tile.x, tile.y));
  }
}

}  // namespace ttfd
