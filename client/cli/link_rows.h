// Ethernet links as rows of a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "client/cli/json.h"
#include "ttfd/types.h"

namespace ttfd::cli {

// Rows for all devices, under a header: "0.3" is channel 3 of device 0.
std::vector<std::vector<std::string>> LinkRows(const std::vector<client::DeviceInfo>& devices);

Json LinkJson(const client::EthernetLink& link);

}  // namespace ttfd::cli
