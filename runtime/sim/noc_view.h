// Shows NoC commands to those that watch the chip or its engines.
#pragma once

#include <vector>

#include "runtime/sim/inspector.h"
#include "runtime/sim/noc_packet.h"

namespace ttfd::sim {

// Tells every inspector of the source's machine that `event` happened to the packet, now.
void ShowNoc(NocEvent event, const NocPacket& packet, const NocOrigin& origin);

// The packet is issued and may read the L1 of a tile from now on: reported to the tile's ComputeUnit.
void ReportRead(std::vector<TensixTile>& tiles, const NocPacket& packet);

}  // namespace ttfd::sim
