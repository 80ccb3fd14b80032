// Decodes the command that connects workers of several devices.
#include <algorithm>
#include <utility>

#include "daemon/session/decode_commands.h"
#include "runtime/abi/link.h"

namespace ttfd {
namespace {

constexpr char kField[] = "connect_links.connections";

Refusal CheckWorker(const SessionCards& cards, const LinkEndRequest& end) {
  if (end.device >= cards.all.size() ||
      !std::binary_search(cards.leased.begin(), cards.leased.end(), end.device)) {
    return InvalidError(kField, "device {}; this session's lease is of devices {}", end.device,
                        fmt::join(cards.leased, ", "));
  }
  const GridSize grid = cards.all[end.device]->description.grid;
  if (end.x >= grid.x || end.y >= grid.y) {
    return InvalidError(kField, "worker ({},{}) of device {}, which has {} x {}", end.x, end.y,
                        end.device, grid.x, grid.y);
  }
  if (end.end >= abi::kLinkEnds) {
    return InvalidError(kField, "{}.{}: link end {}; a worker has ends 0 to {}", end.device,
                        end.channel, end.end, abi::kLinkEnds - 1);
  }
  return std::nullopt;
}

Refusal CheckConnection(const SessionCards& cards, const LinkConnection& link) {
  if (Refusal refusal = CheckWorker(cards, link.a)) return refusal;
  if (Refusal refusal = CheckWorker(cards, link.b)) return refusal;
  const auto& ends = cards.all[link.a.device]->neighbours;
  const auto found = std::find_if(ends.begin(), ends.end(), [&link](const Neighbour& end) {
    return end.channel == link.a.channel;
  });
  if (found == ends.end()) {
    return InvalidError(kField, "{}.{} leads to no device of this daemon", link.a.device,
                        link.a.channel);
  }
  if (found->device != link.b.device || found->peer_channel != link.b.channel) {
    return InvalidError(kField, "{}.{} leads to {}.{}, not to {}.{}", link.a.device, link.a.channel,
                        found->device, found->peer_channel, link.b.device, link.b.channel);
  }
  if (!found->system) return std::nullopt;
  return MakeError(StatusCode::kFailedPrecondition, reason::kInvalid, kField,
                   "the daemon drives one of the chips through {}.{} and {}.{}: kernels use "
                   "another channel",
                   link.a.device, link.a.channel, link.b.device, link.b.channel);
}

}  // namespace

Refusal DecodeCommand(const DecodeContext& context, ConnectLinksRequest& request) {
  const SessionCards& cards = context.cards;
  if (cards.leased.size() < 2) {
    return MakeError(StatusCode::kFailedPrecondition, reason::kInvalid, "connect_links",
                     "links are connected under a lease of several devices");
  }
  if (request.connections.empty() || request.connections.size() > kMostLinkConnections) {
    return InvalidError(kField, "1 to {} connections in a command", kMostLinkConnections);
  }
  for (const LinkConnection& link : request.connections) {
    if (Refusal refusal = CheckConnection(cards, link)) return refusal;
  }
  context.op.body = ConnectLinksOperation{std::move(request.connections), nullptr};
  return std::nullopt;
}

}  // namespace ttfd
