// A launch as records: images that are not resident, configuration, launch messages, go.
//
// What is where was decided before (runtime/dispatch/launch_state.h); the caller has waited for
// whatever used those places.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/launch_config.h"
#include "runtime/command/program_layout.h"
#include "runtime/command/record_sink.h"

namespace ttfd {

struct ImagePlacement {
  uint32_t address = 0;
  std::vector<CoreRange> missing;  // where the image must be written now
  bool new_code = false;           // a tile of the program has not run it since it was written
};

struct LaunchPlacement {
  uint32_t slot = 0;
  uint32_t config_address = 0;
  std::vector<ImagePlacement> images;  // as Program::images
};

// How the go signal travels: one multicast to the whole worker grid (tiles without a message answer
// at once), or unicasts to entries of the SET_GO_SIGNAL_NOC_DATA table.
struct GoPlan {
  bool multicast = true;
  uint8_t first = 0;
  uint8_t count = 0;
  std::vector<uint32_t> new_table;  // not empty: send this table first
};

Status EncodeImages(const Program& program, const LaunchPlacement& placement,
                    const CardGeometry& card, RecordSink& sink);
Status EncodeConfig(const Program& program, std::span<const KernelArguments> arguments,
                    const LaunchConfig& config, uint32_t config_address, const CardGeometry& card,
                    RecordSink& sink);
Status EncodeLaunchMessages(const Program& program, const LaunchConfig& config,
                            const LaunchPlacement& placement, const CardGeometry& card,
                            RecordSink& sink);
// NOTIFY with a write barrier, then the go; it waits until the workers' count is `wait_workers`.
Status EncodeGo(const GoPlan& go, uint32_t slot, uint64_t wait_workers, const CardGeometry& card,
                RecordSink& sink);

// Most bytes the records of a launch take, without the padding where entries wrap.
uint64_t MaxLaunchRecordBytes(const Program& program, std::span<const KernelArguments> arguments);

// An image goes to each rectangle of the tiles that miss it, unless they are more than this many:
// then to the box around them, because its place is free on every tile.
inline constexpr size_t kMaxImageRectangles = 4;

}  // namespace ttfd
