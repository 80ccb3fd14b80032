// The card as a PCI device, and what its firmware and sensors report through the driver.
#include <algorithm>
#include <sstream>

#include "runtime/device/kmd/doctor/reading.h"
#include "runtime/device/kmd/doctor/survey.h"

namespace ttfd::kmd {
namespace {

// Name in the line "DRIVER=tenstorrent" of uevent, "" without this line.
std::optional<std::string> BoundDriver(Files& files, const std::string& folder) {
  constexpr std::string_view kKey = "DRIVER=";
  const std::optional<std::string> event = files.ReadText(folder + "/uevent");
  if (!event.has_value()) return std::nullopt;
  for (const std::string& line : LinesOf(*event)) {
    if (line.starts_with(kKey)) return line.substr(kKey.size());
  }
  return "";
}

// BARs of which `resource` has no start; it has a line "start end flags" for each region, and BARs of 64 bits take two.
std::optional<std::vector<int>> BarsWithoutAddress(Files& files, const std::string& folder) {
  const std::optional<std::string> text = files.ReadText(folder + "/resource");
  if (!text.has_value()) return std::nullopt;
  const std::vector<std::string> lines = LinesOf(*text);
  std::vector<int> without;
  for (const int bar : {0, 2, 4}) {
    const auto line = static_cast<size_t>(bar);
    std::string start;
    if (line < lines.size()) std::istringstream(lines[line]) >> start;
    if (UnsignedIn(start).value_or(0) == 0) without.push_back(bar);
  }
  return without;
}

LinkFacts SurveyLink(Files& files, const std::string& folder) {
  // In /sys the folder is a link into the tree of devices, in which the slot's bridge is above the card.
  const std::string slot = folder + "/../";
  return {.speed = files.ReadText(folder + "/current_link_speed"),
          .max_speed = files.ReadText(folder + "/max_link_speed"),
          .slot_speed = files.ReadText(slot + "max_link_speed"),
          .width = files.ReadText(folder + "/current_link_width"),
          .max_width = files.ReadText(folder + "/max_link_width"),
          .slot_width = files.ReadText(slot + "max_link_width")};
}

}  // namespace

PciFacts SurveyPci(Files& files, const std::string& address) {
  const std::string folder = PciFolder(address);
  return {.address = address,
          .driver = BoundDriver(files, folder),
          .bars_without_address = BarsWithoutAddress(files, folder),
          .iommu_type = ReadFact(files, folder + "/iommu_group/type"),
          .iommu_group = !files.List(folder + "/iommu_group").empty(),
          .link = SurveyLink(files, folder)};
}

FirmwareFacts SurveyFirmware(Files& files, const std::string& telemetry_folder) {
  const std::vector<std::string> names = files.List(telemetry_folder);
  const auto reported = [](const std::string& name) { return name.starts_with("tt_"); };
  return {.telemetry = std::any_of(names.begin(), names.end(), reported),
          .heartbeat = ReadFact(files, telemetry_folder + "/tt_heartbeat"),
          .heartbeat_moves = std::nullopt,
          .bundle = ReadFact(files, telemetry_folder + "/tt_fw_bundle_ver"),
          .thermal_events = ReadFact(files, telemetry_folder + "/tt_therm_trip_count")};
}

SensorFacts SurveySensors(Files& files, const std::string& folder) {
  SensorFacts sensors;
  for (const std::string& name : files.List(folder + "/hwmon")) {
    const std::string path = fmt::format("{}/hwmon/{}", folder, name);
    sensors = {.hwmon = name,
               .temperature = NumberIn(files.ReadText(path + "/temp1_input")),
               .limit = NumberIn(files.ReadText(path + "/temp1_max"))};
  }
  return sensors;
}

}  // namespace ttfd::kmd
