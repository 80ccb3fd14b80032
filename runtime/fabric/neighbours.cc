// Matches the ends of links.
#include "runtime/fabric/neighbours.h"

#include <algorithm>
#include <utility>

namespace ttfd {
namespace {

// The device with these ids, if it is the only one.
std::optional<uint32_t> DeviceOf(std::span<const std::shared_ptr<Device>> devices,
                                 const LinkPeer& peer) {
  const ChipId id{peer.board, peer.asic};
  if (id.board == 0 || id.asic == 0) return std::nullopt;
  std::optional<uint32_t> found;
  for (uint32_t device = 0; device < devices.size(); ++device) {
    if (devices[device]->info().id != id) continue;
    if (found) return std::nullopt;
    found = device;
  }
  return found;
}

// The end that `end` of `device` names.
Neighbour Reverse(uint32_t device, const Neighbour& end) {
  return {end.peer_channel, device, end.channel, end.system};
}

}  // namespace

std::vector<std::vector<Neighbour>> FindNeighbours(
    std::span<const std::shared_ptr<Device>> devices,
    std::span<const std::optional<uint32_t>> behind) {
  std::vector<std::vector<Neighbour>> all(devices.size());
  for (uint32_t device = 0; device < devices.size(); ++device) {
    for (const LinkStatus& link : ReadLinks(*devices[device])) {
      if (!link.peer) continue;
      const std::optional<uint32_t> peer = DeviceOf(devices, *link.peer);
      if (peer) all[device].push_back({link.channel, *peer, link.peer->channel});
    }
  }
  for (uint32_t device = 0; device < devices.size(); ++device) {
    std::erase_if(all[device], [&](const Neighbour& end) {
      const auto& others = all[end.device];
      return std::find(others.begin(), others.end(), Reverse(device, end)) == others.end();
    });
  }
  for (uint32_t device = 0; device < devices.size(); ++device) {
    if (!behind[device]) continue;
    auto& front = all[*behind[device]];
    const auto first = std::find_if(front.begin(), front.end(), [device](const Neighbour& end) {
      return end.device == device;
    });
    if (first == front.end()) continue;
    auto& own = all[device];
    const auto other = std::find(own.begin(), own.end(), Reverse(*behind[device], *first));
    first->system = true;
    if (other != own.end()) other->system = true;
  }
  return all;
}

}  // namespace ttfd
