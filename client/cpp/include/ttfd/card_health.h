// Health of a card: temperature, power, clocks, PCIe link, versions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ttfd::client {

// PCIe link as the kernel shows it; empty: not known.
struct PcieLink {
  std::string speed = {};      // "32.0 GT/s PCIe"
  std::string max_speed = {};  // of the card; its slot may allow less
  std::string width = {};      // lanes
  std::string max_width = {};
};

struct FirmwareVersion {
  std::string name = {};     // "bundle", "ARC", "board", "Ethernet"
  std::string version = {};  // "19.4.0.0"
};

// Health of a card. Fields without a value are not reported by its firmware.
struct CardHealth {
  std::string node = {};         // "/dev/tenstorrent/0"
  std::string pci_address = {};  // "0000:03:00.0"
  std::string driver_version = {};
  PcieLink link = {};
  std::optional<double> temperature_celsius = {};
  std::optional<uint32_t> power_watts = {};
  std::optional<uint32_t> aiclk_mhz = {};  // of the Tensix tiles
  std::optional<uint32_t> aiclk_max_mhz = {};
  std::optional<uint32_t> axiclk_mhz = {};
  std::optional<uint32_t> arcclk_mhz = {};
  std::optional<uint32_t> thermal_shutdowns = {};  // since power-on
  std::optional<uint32_t> pcie_instance = {};      // which of two PCIe tiles is connected: 0 or 1
  std::optional<uint32_t> board_location = {};     // on a board with two chips: which of them
  std::vector<FirmwareVersion> firmware = {};
};

}  // namespace ttfd::client
