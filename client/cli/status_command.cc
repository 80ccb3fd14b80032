// ttfdctl status.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "client/cli/commands.h"
#include "client/cli/device_rows.h"
#include "client/cli/exit_code.h"
#include "client/cli/hart_rows.h"
#include "client/cli/json.h"
#include "client/cli/link_rows.h"
#include "client/cli/printing.h"
#include "client/cli/text.h"

namespace ttfd::cli {
namespace {

using client::Admin;
using client::DeviceInfo;
using client::Result;

constexpr std::chrono::hours kLongestWatch{24 * 366};

std::vector<DeviceInfo> DevicesOf(const client::DaemonStatus& status) {
  std::vector<DeviceInfo> devices;
  for (const client::DeviceStatus& one : status.devices) devices.push_back(one.device);
  return devices;
}

Json MemoryJson(const client::MemoryUse& use) {
  return {{"kind", client::MemoryKindName(use.kind)},
          {"used_bytes", use.used_bytes},
          {"total_bytes", use.total_bytes},
          {"largest_free_bytes", use.largest_free_bytes}};
}

Json HardwareQueueJson(const client::HardwareQueueInfo& queue) {
  return {{"index", queue.index},
          {"in_flight", queue.in_flight},
          {"completed", queue.completed},
          {"waiting", queue.waiting},
          {"device_ns", queue.device_ns}};
}

Json HartJson(const client::HartState& hart) {
  return {{"name", hart.name},
          {"waypoint", hart.waypoint},
          {"progress", hart.progress},
          {"description", hart.description}};
}

Json FirmwareJson(const client::FirmwareVersion& firmware) {
  return {{"name", firmware.name}, {"version", firmware.version}};
}

// null: a model.
Json CardJson(const std::optional<client::CardHealth>& card) {
  if (!card) return nullptr;
  return {{"node", card->node},
          {"pci_address", card->pci_address},
          {"driver_version", card->driver_version},
          {"link",
           {{"speed", card->link.speed},
            {"max_speed", card->link.max_speed},
            {"width", card->link.width},
            {"max_width", card->link.max_width}}},
          {"temperature_celsius", JsonOf(card->temperature_celsius)},
          {"power_watts", JsonOf(card->power_watts)},
          {"aiclk_mhz", JsonOf(card->aiclk_mhz)},
          {"aiclk_max_mhz", JsonOf(card->aiclk_max_mhz)},
          {"axiclk_mhz", JsonOf(card->axiclk_mhz)},
          {"arcclk_mhz", JsonOf(card->arcclk_mhz)},
          {"thermal_shutdowns", JsonOf(card->thermal_shutdowns)},
          {"pcie_instance", JsonOf(card->pcie_instance)},
          {"board_location", JsonOf(card->board_location)},
          {"firmware", JsonList(card->firmware, FirmwareJson)}};
}

Json DeviceStatusJson(const client::DeviceStatus& status, const std::vector<DeviceInfo>& devices) {
  Json json = DeviceJson(status.device, devices);
  json.update({{"state", client::DeviceStateName(status.state)},
               {"last_error", status.last_error},
               {"launches_completed", status.launches_completed},
               {"bytes_written", status.bytes_written},
               {"bytes_read", status.bytes_read},
               {"resets", status.resets},
               {"card", CardJson(status.card)},
               {"reading_age_ms", JsonOf(status.reading_age_ms)},
               {"memory", JsonList(status.memory, MemoryJson)},
               {"hardware_queues", JsonList(status.hardware_queues, HardwareQueueJson)},
               {"harts", JsonList(status.harts, HartJson)}});
  return json;
}

Json StatusJson(const client::DaemonStatus& status) {
  const std::vector<DeviceInfo> devices = DevicesOf(status);
  return {{"version", status.version},
          {"state", client::DaemonStateName(status.state)},
          {"uptime_ms", status.uptime_ms},
          {"sessions", status.sessions},
          {"commands_completed", status.commands_completed},
          {"quantum_ns", status.quantum_ns},
          {"last_hang_report", status.last_hang_report},
          {"device", status.device},
          {"warnings", status.warnings},
          {"devices", JsonList(status.devices, [&](const client::DeviceStatus& device) {
             return DeviceStatusJson(device, devices);
           })}};
}

// "3 ms ago": of harts, busy times and links. An old one: the device thread reads when asked unless it has to wait for
// a card.
std::string ReadingText(const client::DeviceStatus& device) {
  constexpr uint64_t kFreshMs = 250;
  if (!device.reading_age_ms) return "none yet";
  return fmt::format("{} ms ago{}", *device.reading_age_ms,
                     *device.reading_age_ms < kFreshMs ? "" : ", no answer since");
}

std::string IndexOf(const client::DeviceStatus& device) {
  return std::to_string(device.device.index);
}

void PrintDevices(const client::DaemonStatus& status) {
  std::vector<std::vector<std::string>> rows = DeviceRows(DevicesOf(status));
  rows[0].insert(rows[0].begin() + 1, "STATE");
  for (size_t i = 0; i < status.devices.size(); ++i) {
    rows[i + 1].insert(rows[i + 1].begin() + 1, client::DeviceStateName(status.devices[i].state));
  }
  PrintTable(rows);
}

void PrintWork(const client::DaemonStatus& status) {
  std::vector<std::vector<std::string>> rows = {
      {"DEVICE", "LAUNCHES", "WRITTEN", "READ", "RESETS", "READING"}};
  for (const client::DeviceStatus& device : status.devices) {
    rows.push_back({IndexOf(device), std::to_string(device.launches_completed),
                    Bytes(device.bytes_written), Bytes(device.bytes_read),
                    std::to_string(device.resets), ReadingText(device)});
  }
  PrintTable(rows);
}

void PrintMemory(const client::DaemonStatus& status) {
  std::vector<std::vector<std::string>> rows = {
      {"DEVICE", "MEMORY", "USED", "TOTAL", "LARGEST FREE"}};
  for (const client::DeviceStatus& device : status.devices) {
    for (const client::MemoryUse& use : device.memory) {
      const std::string kind = client::MemoryKindName(use.kind);
      rows.push_back(
          {IndexOf(device), use.kind == client::MemoryKind::kL1 ? kind + " (each worker)" : kind,
           Bytes(use.used_bytes), Bytes(use.total_bytes), Bytes(use.largest_free_bytes)});
    }
  }
  PrintTable(rows);
}

void PrintHardwareQueues(const client::DaemonStatus& status) {
  std::vector<std::vector<std::string>> rows = {
      {"DEVICE", "QUEUE", "IN FLIGHT", "WAITING", "COMPLETED", "BUSY"}};
  for (const client::DeviceStatus& device : status.devices) {
    for (const client::HardwareQueueInfo& queue : device.hardware_queues) {
      rows.push_back({IndexOf(device), fmt::format("CQ{}", queue.index),
                      std::to_string(queue.in_flight), std::to_string(queue.waiting),
                      std::to_string(queue.completed), Duration(queue.device_ns / 1'000'000)});
    }
  }
  PrintTable(rows);
}

void PrintHarts(const client::DaemonStatus& status) {
  std::vector<std::vector<std::string>> rows;
  for (const client::DeviceStatus& device : status.devices) {
    std::vector<std::vector<std::string>> of_device = HartRows(device.harts);
    for (size_t i = 0; i < of_device.size(); ++i) {
      if (i == 0 && !rows.empty()) continue;
      of_device[i].insert(of_device[i].begin(), i == 0 ? "DEVICE" : IndexOf(device));
      rows.push_back(std::move(of_device[i]));
    }
  }
  PrintTable(rows);
}

// "1350 MHz"; "-": not reported.
template <typename Value>
std::string Measure(const std::optional<Value>& value, const char* unit) {
  return value ? fmt::format("{} {}", *value, unit) : "-";
}

// "32.0 GT/s PCIe x16", "(at most 32.0 GT/s PCIe x16)" where that is more.
std::string LinkText(const client::PcieLink& link) {
  const auto text = [](const std::string& speed, const std::string& width) {
    return speed.empty() || width.empty() ? "-" : fmt::format("{} x{}", speed, width);
  };
  const std::string now = text(link.speed, link.width);
  const std::string most = text(link.max_speed, link.max_width);
  return now == most ? now : fmt::format("{} (at most {})", now, most);
}

void PrintCard(uint32_t index, const client::CardHealth& card) {
  std::string firmware;
  for (const client::FirmwareVersion& one : card.firmware) {
    firmware += fmt::format("{}{} {}", firmware.empty() ? "" : ", ", one.name, one.version);
  }
  const std::string place =
      card.board_location ? fmt::format(", chip {} of its board", *card.board_location) : "";
  std::vector<std::vector<std::string>> rows = {
      {"CARD",
       fmt::format("device {}, {}, PCI address {}{}", index, card.node, card.pci_address, place)},
      {"temperature",
       card.temperature_celsius ? fmt::format("{:.1f} C", *card.temperature_celsius) : "-"},
      {"power", Measure(card.power_watts, "W")},
      {"AICLK",
       card.aiclk_max_mhz
           ? fmt::format("{} (at most {} MHz)", Measure(card.aiclk_mhz, "MHz"), *card.aiclk_max_mhz)
           : Measure(card.aiclk_mhz, "MHz")},
      {"AXICLK, ARCCLK",
       fmt::format("{}, {}", Measure(card.axiclk_mhz, "MHz"), Measure(card.arcclk_mhz, "MHz"))},
      {"PCIe link", LinkText(card.link)},
      {"PCIe tile", card.pcie_instance ? std::to_string(*card.pcie_instance) : "-"},
      {"thermal shutdowns", card.thermal_shutdowns ? std::to_string(*card.thermal_shutdowns) : "-"},
      {"firmware", firmware.empty() ? "-" : firmware},
      {"driver", card.driver_version}};
  PrintTable(rows);
}

void PrintStatusText(const client::DaemonStatus& status) {
  PrintLine(fmt::format("ttfd {}: {}, up {}, {} session{}, {} commands done", status.version,
                        client::DaemonStateName(status.state), Duration(status.uptime_ms),
                        status.sessions, status.sessions == 1 ? "" : "s",
                        status.commands_completed));
  for (const client::DeviceStatus& device : status.devices) {
    if (device.last_error.empty()) continue;
    PrintLine(fmt::format("last error of device {}: {}", device.device.index,
                          device.last_error.substr(0, device.last_error.find('\n'))));
  }
  if (!status.last_hang_report.empty()) {
    PrintLine("last hang report: " + status.last_hang_report);
  }
  const bool card =
      std::any_of(status.devices.begin(), status.devices.end(),
                  [](const client::DeviceStatus& device) { return device.card.has_value(); });
  PrintLine(fmt::format("device: {}{}", status.device, card ? "" : " (a model, no card)"));
  for (const std::string& warning : status.warnings) PrintLine("warning: " + warning);
  PrintLine("");
  PrintDevices(status);
  PrintLine("");
  PrintWork(status);
  for (const client::DeviceStatus& device : status.devices) {
    if (!device.card) continue;
    PrintLine("");
    PrintCard(device.device.index, *device.card);
  }
  PrintLine("");
  PrintMemory(status);
  PrintLine("");
  PrintHardwareQueues(status);
  PrintLine("");
  PrintHarts(status);
}

Json AllLinksJson(const client::DaemonStatus& status) {
  const std::vector<DeviceInfo> devices = DevicesOf(status);
  return {{"devices", JsonList(status.devices, [&](const client::DeviceStatus& device) {
             return Json{{"index", device.device.index},
                         {"reading_age_ms", JsonOf(device.reading_age_ms)},
                         {"links", LinksJson(device.device, devices)}};
           })}};
}

Json JsonOfPart(const client::DaemonStatus& status, StatusPart part) {
  return part == StatusPart::kLinks ? AllLinksJson(status) : StatusJson(status);
}

void PrintPart(const client::DaemonStatus& status, StatusPart part) {
  if (part == StatusPart::kAll) return PrintStatusText(status);
  PrintTable(LinkRows(DevicesOf(status)));
}

}  // namespace

int ShowStatus(const Common& common, StatusPart part) {
  const Result<client::DaemonStatus> status =
      Admin::Connect(common.address, common.timeout()).GetStatus();
  if (!status.ok()) {
    return Fail(status.status());
  }
  if (common.json) {
    PrintJson(JsonOfPart(*status, part));
  } else {
    PrintPart(*status, part);
  }
  return kOk;
}

int WatchStatus(const Common& common, double interval_s, StatusPart part) {
  const std::chrono::milliseconds interval(static_cast<int64_t>(interval_s * 1000));
  bool first = true;
  const client::Status status =
      Admin::Connect(common.address, common.timeout())
          .WatchStatus(interval, kLongestWatch, [&](const client::DaemonStatus& now) {
            if (common.json) {
              PrintText(JsonLine(JsonOfPart(now, part)));
            } else {
              if (!first) {
                PrintLine("");
              }
              PrintPart(now, part);
            }
            first = false;
            std::fflush(stdout);
            return true;
          });
  return status.ok() ? kOk : Fail(status);
}

}  // namespace ttfd::cli
