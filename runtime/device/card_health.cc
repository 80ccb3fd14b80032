// Tags and their units.
#include "runtime/device/card_health.h"

#include "runtime/device/telemetry.h"
#include "runtime/hw/arc.h"

namespace ttfd {
namespace {

constexpr struct {
  uint32_t tag;
  const char* name;
} kFirmware[] = {{hw::kTagFirmwareBundle, "bundle"},
                 {hw::kTagArcFirmware, "ARC"},
                 {hw::kTagBoardFirmware, "board"},
                 {hw::kTagEthFirmware, "Ethernet"}};

std::string VersionText(uint32_t version) {
  return fmt::format("{}.{}.{}.{}", version >> 24, version >> 16 & 0xFF, version >> 8 & 0xFF,
                     version & 0xFF);
}

// The instance that is connected to the host.
std::optional<uint32_t> EndpointOf(uint32_t usage) {
  constexpr uint32_t kEndpoint = 1;
  for (const uint32_t instance : {0u, 1u}) {
    if ((usage >> 2 * instance & 3) == kEndpoint) return instance;
  }
  return std::nullopt;
}

}  // namespace

void ReadHealthOf(const Telemetry& telemetry, Window& arc, CardHealth* health) {
  const auto read = [&](uint32_t tag) -> std::optional<uint32_t> {
    const StatusOr<uint32_t> value = telemetry.Read(arc, tag);
    return value.ok() ? std::optional(*value) : std::nullopt;
  };
  if (const auto temperature = read(hw::kTagAsicTemperature)) {
    constexpr double kOne = 65536;
    health->temperature_celsius = static_cast<int32_t>(*temperature) / kOne;
  }
  health->power_watts = read(hw::kTagPowerWatts);
  health->aiclk_mhz = read(hw::kTagAiclkMhz);
  health->aiclk_max_mhz = read(hw::kTagAiclkMaxMhz);
  health->axiclk_mhz = read(hw::kTagAxiclkMhz);
  health->arcclk_mhz = read(hw::kTagArcclkMhz);
  health->thermal_shutdowns = read(hw::kTagThermalShutdowns);
  health->location = read(hw::kTagAsicLocation);
  if (const auto usage = read(hw::kTagPcieUsage)) health->pcie_instance = EndpointOf(*usage);
  for (const auto& [tag, name] : kFirmware) {
    if (const auto version = read(tag)) health->firmware.push_back({name, VersionText(*version)});
  }
}

}  // namespace ttfd
