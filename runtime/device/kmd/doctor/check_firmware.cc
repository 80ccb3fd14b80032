// The card's own firmware, its temperature and sensors.
#include <charconv>

#include "runtime/device/kmd/doctor/checks.h"

namespace ttfd::kmd {
namespace {

constexpr DriverVersion kFirstHeartbeat = {2, 7, 0};  // and count of thermal events
constexpr DriverVersion kOldestBundle = {18, 4, 0};
constexpr uint32_t kOldNumbers = 80;  // 80.18.1 came before 18.2
constexpr int64_t kNearLimit = 5000;  // in 1/1000 degrees
constexpr char kNoNode[] = "the driver has made no node";
constexpr char kNoTelemetry[] = "the firmware reports nothing";
constexpr char kReset[] = "reset the card (tt-smi -r), or power the host off and on";

// Parses "18.4.0.0", without its last number.
std::optional<DriverVersion> ParseBundle(const std::string& text) {
  const size_t last = text.rfind('.');
  return last == std::string::npos ? std::nullopt : ParseDriverVersion(text.substr(0, last));
}

std::string Degrees(int64_t thousandths) {
  return fmt::format("{:.1f}", static_cast<double>(thousandths) / 1000);
}

}  // namespace

DoctorCheck CheckFirmware(const HostFacts& host, const CardFacts& card) {
  constexpr char kName[] = "firmware";
  const FirmwareFacts& firmware = card.firmware;
  if (card.node.path.empty()) return Found(kName, CheckResult::kSkipped, kNoNode);
  if (!firmware.telemetry) {
    return Wrong(kName, Problem::kFirmwareNotReady, "no telemetry: the driver has no tt_ file",
                 {"the card's ARC was not ready when the driver looked: it may take five minutes "
                  "after power-on",
                  fmt::format("wait, then reload the driver; else {}", kReset)});
  }
  if (!firmware.heartbeat.exists) {
    const std::optional<DriverVersion> version = VersionOf(host);
    const bool old = version.has_value() && *version < kFirstHeartbeat;
    return old ? Found(kName, CheckResult::kOk,
                       "has telemetry; drivers before 2.7 do not show its heartbeat")
               : Found(kName, CheckResult::kUnknown, "has telemetry, but reports no heartbeat");
  }
  if (!firmware.heartbeat_moves.has_value()) {
    return Found(kName, CheckResult::kUnknown, "tt_heartbeat cannot be read");
  }
  if (*firmware.heartbeat_moves) return Found(kName, CheckResult::kOk, "its heartbeat moves");
  return Wrong(
      kName, Problem::kFirmwareNotReady,
      fmt::format("its heartbeat stays at {} for 2 s", firmware.heartbeat.text.value_or("")),
      {"the card's ARC has stopped, or its link is down", kReset});
}

DoctorCheck CheckFirmwareVersion(const CardFacts& card) {
  constexpr char kName[] = "firmware version";
  if (card.node.path.empty()) return Found(kName, CheckResult::kSkipped, kNoNode);
  if (!card.firmware.telemetry) return Found(kName, CheckResult::kSkipped, kNoTelemetry);
  const FileFact& bundle = card.firmware.bundle;
  if (!bundle.text.has_value()) {
    return Found(kName, CheckResult::kUnknown,
                 bundle.exists ? "tt_fw_bundle_ver cannot be read" : "it is not reported");
  }
  const std::optional<DriverVersion> version = ParseBundle(*bundle.text);
  if (!version.has_value() || *version == DriverVersion{}) {
    return Found(kName, CheckResult::kUnknown,
                 fmt::format("tt_fw_bundle_ver says '{}'", *bundle.text));
  }
  if (*version >= kOldestBundle && version->major < kOldNumbers) {
    return Found(kName, CheckResult::kOk, *bundle.text);
  }
  return Wrong(kName, Problem::kFirmwareUnsupported, *bundle.text,
               {version->major >= kOldNumbers
                    ? "bundles with numbers from 80 on are older than 18.2; 18.4 is needed"
                    : "bundles before 18.4 do not report what is needed",
                "install a newer bundle with tt-flash"});
}

DoctorCheck CheckTemperature(const CardFacts& card) {
  constexpr char kName[] = "temperature";
  if (card.node.path.empty()) return Found(kName, CheckResult::kSkipped, kNoNode);
  const FileFact& file = card.firmware.thermal_events;
  const std::string events = file.text.value_or("");
  const auto& [hwmon, temperature, limit] = card.sensors;
  const bool measured = temperature.has_value() && limit.has_value();
  if (!measured && !file.text.has_value()) {
    return Found(kName, CheckResult::kUnknown,
                 file.exists ? "tt_therm_trip_count cannot be read, and there is no sensor"
                             : "no sensor, and no count of thermal events (since driver 2.7)");
  }
  std::vector<std::string> parts;
  if (measured) parts.push_back(fmt::format("{} of {} C", Degrees(*temperature), Degrees(*limit)));
  if (!measured) parts.emplace_back("no sensor");
  parts.push_back(file.text.has_value() ? fmt::format("{} thermal events", events)
                                        : std::string("thermal events are not counted"));
  const std::string found = fmt::format("{}", fmt::join(parts, ", "));
  const bool near = measured && *temperature >= *limit - kNearLimit;
  const bool counted = file.text.has_value() && events != "0";
  if (!near && !counted) return Found(kName, CheckResult::kOk, found);
  return Wrong(kName, Problem::kThrottled, found,
               {near ? "the card is near the temperature at which it slows down"
                     : "the card was too hot, and slowed down or cut itself off",
                "check its fans and the air that flows through the host"});
}

DoctorCheck CheckSensors(const HostFacts& host, const CardFacts& card) {
  constexpr char kName[] = "sensors";
  if (card.node.path.empty()) return Found(kName, CheckResult::kSkipped, kNoNode);
  if (!card.sensors.hwmon.empty()) return Found(kName, CheckResult::kOk, card.sensors.hwmon);
  const Remedy remedy =
      host.hwmon ? Remedy{"the driver registered none, such as without telemetry",
                          "see dmesg; reload the driver once the firmware is ready"}
                 : Remedy{"the kernel was built without CONFIG_HWMON, as Debian's for clouds",
                          "boot a kernel that has CONFIG_HWMON"};
  return Wrong(kName, Problem::kNoSensors, "no hwmon folder: temperature and power are not shown",
               remedy);
}

}  // namespace ttfd::kmd
