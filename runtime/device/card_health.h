// The state of a card that changes while it is used: temperature, power, clocks, PCIe link; and versions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ttfd {

class Telemetry;
class Window;

// PCIe link, as the kernel's attributes of the device have it.
struct PcieLink {
  std::string speed, max_speed;  // "32.0 GT/s PCIe"; empty: unknown
  std::string width, max_width;  // lanes: "16"
  bool operator==(const PcieLink&) const = default;
};

struct VersionOf {
  std::string name;     // "bundle"
  std::string version;  // "19.4.0.0"
  bool operator==(const VersionOf&) const = default;
};

// Fields without a value are not reported by the card's firmware.
struct CardHealth {
  std::string node;         // "/dev/tenstorrent/0"
  std::string pci_address;  // "0000:03:00.0"
  std::string driver;       // "2.10.0"
  PcieLink link;
  std::optional<double> temperature_celsius;  // of the ASIC
  std::optional<uint32_t> power_watts;
  std::optional<uint32_t> aiclk_mhz, aiclk_max_mhz;  // of Tensix tiles
  std::optional<uint32_t> axiclk_mhz, arcclk_mhz;    // of the NoC's surroundings, of the ARC
  std::optional<uint32_t> thermal_shutdowns;         // since power-on
  std::optional<uint32_t> pcie_instance;             // which of the two PCIe tiles is connected
  std::optional<uint32_t> location;                  // on a board with two chips: which of them
  std::vector<VersionOf> firmware;
  bool operator==(const CardHealth&) const = default;
};

// Fills what telemetry has: about a dozen loads. What cannot be read stays unset.
void ReadHealthOf(const Telemetry& telemetry, Window& arc, CardHealth* health);

}  // namespace ttfd
