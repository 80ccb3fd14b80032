// Texts of links.
#include "client/cli/link_rows.h"

#include <fmt/format.h>

namespace ttfd::cli {
namespace {

// "board 0x4000000001, ASIC 0x1, channel 3"
std::string PeerText(const std::optional<client::LinkPeer>& peer) {
  if (!peer) return "-";
  return fmt::format("board {:#x}, ASIC {:#x}, channel {}", peer->board, peer->asic, peer->channel);
}

}  // namespace

std::vector<std::vector<std::string>> LinkRows(const std::vector<client::DeviceInfo>& devices) {
  std::vector<std::vector<std::string>> rows = {{"LINK", "STATE", "PEER", "RETRAINS", "FIRMWARE"}};
  for (const client::DeviceInfo& device : devices) {
    for (const client::EthernetLink& link : device.links) {
      rows.push_back({fmt::format("{}.{}", device.index, link.channel),
                      client::LinkStateName(link.state), PeerText(link.peer),
                      std::to_string(link.retrains),
                      link.firmware_version.empty() ? "-" : link.firmware_version});
    }
  }
  return rows;
}

Json LinkJson(const client::EthernetLink& link) {
  Json peer = nullptr;
  if (link.peer) {
    peer = {
        {"board", link.peer->board}, {"asic", link.peer->asic}, {"channel", link.peer->channel}};
  }
  return {{"channel", link.channel},
          {"state", client::LinkStateName(link.state)},
          {"peer", std::move(peer)},
          {"retrains", link.retrains},
          {"firmware_version", link.firmware_version}};
}

}  // namespace ttfd::cli
