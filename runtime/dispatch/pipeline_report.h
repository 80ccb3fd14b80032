// Where the pipeline stands, in sentences: the dispatch cores and every worker that is not idle.
#pragma once

#include <span>
#include <vector>

#include "runtime/boot/boot_plan.h"
#include "runtime/device/device.h"
#include "runtime/dispatch/code_map.h"
#include "runtime/dispatch/dispatcher.h"

namespace ttfd {

// Reads the status of the harts over PCIe: dispatch harts of every queue, and the workers that are not
// idle, or for which the card stands still. A card that cannot be read any more yields one line that
// says so.
std::vector<HartReport> ReportPipeline(Device& device, std::span<const BootPlan> plans,
                                       const CodeMap& code);

// How far each worker is; fewer if the card cannot be read.
std::vector<TileCount> CountTiles(Device& device, const BootPlan& plan);

}  // namespace ttfd
