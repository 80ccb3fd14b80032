// Shows NoC commands to those that watch the chip or its engines.
#pragma once

#include "runtime/sim/inspector.h"
#include "runtime/sim/noc_packet.h"

namespace ttfd::sim {

// Tells every inspector of the source's machine that `event` happened to the packet, now.
void ShowNoc(NocEvent event, const NocPacket& packet, const NocOrigin& origin);

}  // namespace ttfd::sim
