// Texts of links.
#include "client/cli/link_rows.h"

#include <fmt/format.h>

namespace ttfd::cli {
namespace {

// "1.3", or, of a chip that the daemon does not have, "0x40000000001:0x1, channel 3".
std::string PeerText(const std::optional<client::LinkPeer>& peer,
                     const std::vector<client::DeviceInfo>& devices) {
  if (!peer) return "-";
  if (const std::optional<uint32_t> device = PeerDevice(*peer, devices)) {
    return fmt::format("{}.{}", *device, peer->channel);
  }
  return fmt::format("{:#x}:{:#x}, channel {}", peer->board, peer->asic, peer->channel);
}

// "system": the daemon drives one of the two chips through the link. "kernels": sessions may connect it. "": neither,
// for it leads to no other device of the daemon.
const char* LinkUse(const client::DeviceInfo& device, uint32_t channel) {
  for (const client::Neighbour& neighbour : device.neighbours) {
    if (neighbour.channel == channel) return neighbour.system ? "system" : "kernels";
  }
  return "";
}

}  // namespace

std::optional<uint32_t> PeerDevice(const client::LinkPeer& peer,
                                   const std::vector<client::DeviceInfo>& devices) {
  if (peer.asic == 0) return std::nullopt;  // the chips of a board have different ids
  for (const client::DeviceInfo& device : devices) {
    if (device.board_id == peer.board && device.asic_id == peer.asic) return device.index;
  }
  return std::nullopt;
}

std::vector<std::vector<std::string>> LinkRows(const std::vector<client::DeviceInfo>& devices) {
  std::vector<std::vector<std::string>> rows = {
      {"LINK", "STATE", "PEER", "USE", "RETRAINS", "FIRMWARE"}};
  for (const client::DeviceInfo& device : devices) {
    for (const client::EthernetLink& link : device.links) {
      const std::string use = LinkUse(device, link.channel);
      rows.push_back({fmt::format("{}.{}", device.index, link.channel),
                      client::LinkStateName(link.state), PeerText(link.peer, devices),
                      use.empty() ? "-" : use, std::to_string(link.retrains),
                      link.firmware_version.empty() ? "-" : link.firmware_version});
    }
  }
  return rows;
}

Json LinkJson(const client::EthernetLink& link, const client::DeviceInfo& device,
              const std::vector<client::DeviceInfo>& devices) {
  Json peer = nullptr;
  if (link.peer) {
    const std::optional<uint32_t> other = PeerDevice(*link.peer, devices);
    peer = {{"device", other ? Json(*other) : Json(nullptr)},
            {"board", link.peer->board},
            {"asic", link.peer->asic},
            {"asic_location", link.peer->asic_location},
            {"channel", link.peer->channel}};
  }
  return {{"channel", link.channel},   {"state", client::LinkStateName(link.state)},
          {"peer", std::move(peer)},   {"use", LinkUse(device, link.channel)},
          {"retrains", link.retrains}, {"firmware_version", link.firmware_version}};
}

}  // namespace ttfd::cli
