// The host: its cards, the driver's module, a container; and which heartbeats move.
#include "runtime/device/kmd/doctor/survey.h"

#include <algorithm>

#include "runtime/device/kmd/doctor/reading.h"

namespace ttfd::kmd {
namespace {

constexpr char kModule[] = "/sys/module/tenstorrent";
constexpr char kEfiVariables[] = "/sys/firmware/efi/efivars";
constexpr Duration kHeartbeatLimit = std::chrono::seconds(2);
constexpr Duration kHeartbeatPoll = std::chrono::milliseconds(100);

// Value of the UEFI variable, behind four bytes of attributes.
std::optional<bool> SecureBoot(Files& files) {
  constexpr size_t kValue = 4;
  for (const std::string& name : files.List(kEfiVariables)) {
    if (!name.starts_with("SecureBoot-")) continue;
    const std::optional<std::string> text =
        files.ReadText(fmt::format("{}/{}", kEfiVariables, name));
    if (text.has_value() && text->size() > kValue) return (*text)[kValue] == 1;
  }
  return std::nullopt;
}

ModuleFacts SurveyModule(Files& files) {
  ModuleFacts module = {.version = ReadFact(files, fmt::format("{}/version", kModule)),
                        .lockdown = ReadFact(files, "/sys/kernel/security/lockdown"),
                        .secure_boot = SecureBoot(files)};
  module.loaded = module.version.exists || !files.List(kModule).empty();
  return module;
}

std::string Container(Files& files) {
  if (ReadFact(files, "/run/.containerenv").exists) return "Podman";
  if (ReadFact(files, "/.dockerenv").exists) return "Docker";
  constexpr struct {
    const char* part;
    const char* name;
  } kNames[] = {{"/docker/", "Docker"},
                {"/docker-", "Docker"},
                {"/kubepods", "Kubernetes"},
                {"/libpod", "Podman"},
                {"/lxc", "LXC"}};
  for (const char* const path : {"/proc/1/cgroup", "/proc/self/cgroup"}) {
    const std::string groups = files.ReadText(path).value_or("");
    for (const auto& [part, name] : kNames) {
      if (groups.find(part) != std::string::npos) return name;
    }
  }
  return "";
}

std::string OtherDevice(const std::string& address, const PciId& id) {
  return fmt::format("{} ({}{})", address, id.ToString(), id == kWormhole ? ", Wormhole" : "");
}

std::string TelemetryFolder(const std::string& folder, const std::string& number) {
  return fmt::format("{}/tenstorrent/tenstorrent!{}", folder, number);
}

CardFacts SurveyCard(Kernel& kernel, Files& files, const std::string& address) {
  const std::string folder = PciFolder(address);
  CardFacts card;
  card.pci = SurveyPci(files, address);
  card.pages = SurveyPages(files, folder);
  const std::optional<std::string> number = NodeNumberOf(files, address);
  if (!number.has_value()) return card;
  card.node = SurveyNode(kernel, files, *number);
  card.firmware = SurveyFirmware(files, TelemetryFolder(folder, *number));
  card.sensors = SurveySensors(files, folder);
  return card;
}

// Reads the heartbeat a second time.
void ReadHeartbeat(Files& files, CardFacts* card) {
  FirmwareFacts& firmware = card->firmware;
  if (!firmware.heartbeat.text.has_value() || firmware.heartbeat_moves.value_or(false)) return;
  const std::string folder = PciFolder(card->pci.address);
  const std::optional<std::string> number = NodeNumberOf(files, card->pci.address);
  const std::optional<std::string> now =
      number.has_value() ? files.ReadText(TelemetryFolder(folder, *number) + "/tt_heartbeat")
                         : std::nullopt;
  firmware.heartbeat_moves =
      now.has_value() ? std::optional(*now != *firmware.heartbeat.text) : std::nullopt;
}

void WatchHeartbeats(Files& files, Clock& clock, std::vector<CardFacts>* cards) {
  const auto waits = [](const CardFacts& card) {
    return card.firmware.heartbeat.text.has_value() &&
           !card.firmware.heartbeat_moves.value_or(false);
  };
  const TimePoint end = clock.Now() + kHeartbeatLimit;
  while (std::any_of(cards->begin(), cards->end(), waits) && clock.Now() < end) {
    clock.Sleep(kHeartbeatPoll);
    for (CardFacts& card : *cards) ReadHeartbeat(files, &card);
  }
}

}  // namespace

HostFacts Survey(Kernel& kernel, Files& files, Clock& clock) {
  HostFacts host;
  host.module = SurveyModule(files);
  host.container = Container(files);
  host.hwmon = Lists(files, "/sys/class", "hwmon");
  host.hugetlb = SurveyHugetlb(files);
  for (const std::string& address : files.List(kPciDevices)) {
    const PciId id = ReadPciId(files, address);
    if (id == kBlackhole) {
      host.cards.push_back(SurveyCard(kernel, files, address));
    } else if (id.vendor == kBlackhole.vendor) {
      host.others.push_back(OtherDevice(address, id));
    }
  }
  WatchHeartbeats(files, clock, &host.cards);
  return host;
}

}  // namespace ttfd::kmd
