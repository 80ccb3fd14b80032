// Ethernet links as rows of a table and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/json.h"
#include "ttfd/types.h"

namespace ttfd::cli {

// Rows for all devices, under a header: "0.3" is channel 3 of device 0. What a link is used for is "system" (the daemon
// drives one of the chips through it), "kernels" or "-".
std::vector<std::vector<std::string>> LinkRows(const std::vector<client::DeviceInfo>& devices);

// A link of `device`. `devices`: all of the daemon, among which the peer is looked for.
Json LinkJson(const client::EthernetLink& link, const client::DeviceInfo& device,
              const std::vector<client::DeviceInfo>& devices);

// Index of the device at the other end of a link; none: the daemon does not have it.
std::optional<uint32_t> PeerDevice(const client::LinkPeer& peer,
                                   const std::vector<client::DeviceInfo>& devices);

}  // namespace ttfd::cli
