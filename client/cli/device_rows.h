// Devices as rows and JSON.
#pragma once

#include <string>
#include <vector>

#include "client/cli/commands.h"
#include "client/cli/json.h"
#include "ttfd/admin.h"

namespace ttfd::cli {

// A header and a row for each.
std::vector<std::vector<std::string>> DeviceRows(const std::vector<client::DeviceInfo>& devices);

// `devices`: all of the daemon, among which links find their peers.
Json DeviceJson(const client::DeviceInfo& device, const std::vector<client::DeviceInfo>& devices);
Json LinksJson(const client::DeviceInfo& device, const std::vector<client::DeviceInfo>& devices);
Json DevicesJson(const std::vector<client::DeviceInfo>& devices);

// The card that the command names, or card 0. NOT_FOUND: the daemon does not have it.
client::Result<client::DeviceInfo> NamedDevice(const Common& common);

}  // namespace ttfd::cli
