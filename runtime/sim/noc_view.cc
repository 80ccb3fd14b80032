// NoC commands as inspectors see them.
#include "runtime/sim/noc_view.h"

#include "runtime/sim/noc_tile.h"
#include "runtime/sim/scheduler.h"

namespace ttfd::sim {
namespace {

const char* KindName(PacketKind kind) {
  switch (kind) {
    case PacketKind::kRead:
      return "read";
    case PacketKind::kWrite:
      return "write";
    case PacketKind::kMulticast:
      return "multicast";
    case PacketKind::kInline:
      return "inline";
    case PacketKind::kIncrement:
      return "increment";
  }
  return "";
}

}  // namespace

void ShowNoc(NocEvent event, const NocPacket& packet, const NocOrigin& origin) {
  const Machine& machine = packet.source->machine();
  if (machine.inspectors.empty()) return;
  const auto at = [](uint32_t xy) { return hw::Coordinate{hw::NocX(xy), hw::NocY(xy)}; };
  const uint32_t start = packet.kind == PacketKind::kMulticast ? origin.to >> 12 : origin.to;
  const NocView view = {event,          KindName(packet.kind),
                        origin.niu,     packet.source->translated(),
                        packet.local,   at(start),
                        at(origin.to),  packet.remote,
                        packet.length,  packet.data,
                        origin.control, machine.scheduler->now()};
  for (Inspector* const inspector : machine.inspectors) inspector->OnNoc(view);
}

}  // namespace ttfd::sim
