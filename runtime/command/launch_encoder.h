// The parts of a launch as records: images that are not resident, launch messages, go.
//
// Places were chosen before (runtime/card/launch_state.h); the caller has waited for whatever used
// them. launch_records.h puts the parts of a launch together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/launch_config.h"
#include "runtime/command/program_layout.h"
#include "runtime/command/record_batch.h"

namespace ttfd {

struct ImagePlacement {
  uint32_t address = 0;
  std::vector<CoreRange> missing;  // where the image must be written now
  bool new_code = false;           // a tile of the program has not run it since it was written
};

// How the go signal travels: one multicast to every worker that listens to the sub-device's go word
// (tiles without a message answer at once), or unicasts to entries of the SET_GO_SIGNAL_NOC_DATA table.
struct GoPlan {
  bool multicast = true;
  uint8_t first = 0;
  uint8_t count = 0;
  std::vector<uint32_t> new_table;  // not empty: send this table first
};

void EncodeImages(const Program& program, std::span<const ImagePlacement> images,
                  const CardGeometry& card, RecordBatch& batch);
// Launch messages without places. `groups` gets the group of each packet; one packet for all targets
// if there is only one group.
void EncodeLaunchMessages(const Program& program, const LaunchConfig& config,
                          std::span<const KernelArguments> arguments, const CardGeometry& card,
                          std::vector<uint32_t>& groups, RecordBatch& batch);
void EncodeGoTable(const GoPlan& go, RecordBatch& batch);
// NOTIFY with a write barrier, then a go without a place.
void EncodeGo(const GoPlan& go, RecordBatch& batch);

// An image goes to each rectangle of the tiles that miss it, unless they are more than this many: then to
// the launch's workers in the box around them, because its place is free on every tile.
inline constexpr size_t kMaxImageRectangles = 4;

// Where an image is written that `missing` tiles (not none) need for a launch on `workers`. Workers that are no
// rectangle themselves may be covered by more than kMaxImageRectangles.
std::vector<CoreRange> ImageRectangles(const TileSet& missing, const TileSet& workers,
                                       GridSize grid);

}  // namespace ttfd
