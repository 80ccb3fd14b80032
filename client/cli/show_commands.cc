// Commands that show: status, health, devices, sessions list, timeouts.
#include <fmt/format.h>

#include <cstdio>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/hart_rows.h"
#include "client/cli/json.h"
#include "client/cli/link_rows.h"
#include "client/cli/printing.h"
#include "client/cli/session_rows.h"
#include "client/cli/text.h"

namespace ttfd::cli {
namespace {

using client::Admin;
using client::DeviceInfo;
using client::Result;

constexpr std::chrono::hours kLongestWatch{24 * 366};

Json CoordinateJson(client::Coordinate at) { return {{"x", at.x}, {"y", at.y}}; }

Json BankJson(const client::DramBank& bank) {
  return {{"port", CoordinateJson(bank.port)},
          {"nearest_worker", CoordinateJson(bank.nearest_worker)}};
}

Json LinksJson(const DeviceInfo& device, const std::vector<DeviceInfo>& devices) {
  return JsonList(device.links,
                  [&](const client::EthernetLink& link) { return LinkJson(link, devices); });
}

// `devices`: all of the daemon.
Json DeviceJson(const DeviceInfo& device, const std::vector<DeviceInfo>& devices) {
  return {{"index", device.index},
          {"board", device.board},
          {"backend", client::BackendName(device.backend)},
          {"grid_x", device.grid_x},
          {"grid_y", device.grid_y},
          {"dram_banks", device.dram_banks},
          {"dram_bank_bytes", device.dram_bank_bytes},
          {"dram_alignment", device.dram_alignment},
          {"l1_bytes", device.l1_bytes},
          {"l1_alignment", device.l1_alignment},
          {"clock_hz", device.clock_hz},
          {"circular_buffers", device.circular_buffers},
          {"semaphores", device.semaphores},
          {"argument_words", device.argument_words},
          {"circular_buffer_bytes", device.circular_buffer_bytes},
          {"transfer_alignment", device.transfer_alignment},
          {"kernel_bytes", device.kernel_bytes},
          {"iommu", device.iommu},
          {"l1_base", device.l1_base},
          {"dram_base", device.dram_base},
          {"dram_bank_size", device.dram_bank_size},
          {"worker_x", device.worker_x},
          {"worker_y", device.worker_y},
          {"banks", JsonList(device.banks, BankJson)},
          {"links", LinksJson(device, devices)},
          {"board_id", device.board_id},
          {"asic_id", device.asic_id},
          {"behind", JsonOf(device.behind)}};
}

Json DevicesJson(const std::vector<DeviceInfo>& devices) {
  return JsonList(devices, [&](const DeviceInfo& device) { return DeviceJson(device, devices); });
}

void PrintDevices(const std::vector<DeviceInfo>& devices) {
  std::vector<std::vector<std::string>> rows = {
      {"DEVICE", "BOARD", "BACKEND", "PORT", "WORKERS", "DRAM", "L1/WORKER", "CLOCK", "IOMMU"}};
  for (const DeviceInfo& device : devices) {
    // A model has no clock rate and no IOMMU of its own.
    const bool model =
        device.backend == client::Backend::kEmbedded || device.backend == client::Backend::kTtsim;
    const auto of_card = [model](const std::string& text) { return model ? "-" : text; };
    rows.push_back(
        {std::to_string(device.index), device.board, client::BackendName(device.backend),
         device.behind ? fmt::format("link of {}", *device.behind) : "PCIe",
         device.grid_x == 0 ? "not served" : fmt::format("{}x{}", device.grid_x, device.grid_y),
         Bytes(device.dram_banks * device.dram_bank_bytes), Bytes(device.l1_bytes),
         of_card(fmt::format("{} MHz", device.clock_hz / 1'000'000)),
         of_card(device.iommu ? "on" : "off")});
  }
  PrintTable(rows);
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

Json StatusJson(const client::DaemonStatus& status) {
  return {{"version", status.version},
          {"state", client::DaemonStateName(status.state)},
          {"uptime_ms", status.uptime_ms},
          {"sessions", status.sessions},
          {"commands_completed", status.commands_completed},
          {"launches_completed", status.launches_completed},
          {"bytes_written", status.bytes_written},
          {"bytes_read", status.bytes_read},
          {"device_resets", status.device_resets},
          {"quantum_ns", status.quantum_ns},
          {"last_hang_report", status.last_hang_report},
          {"last_error", status.last_error},
          {"device", status.device},
          {"warnings", status.warnings},
          {"card", CardJson(status.card)},
          {"reading_age_ms", JsonOf(status.reading_age_ms)},
          {"devices", DevicesJson(status.devices)},
          {"memory", JsonList(status.memory, MemoryJson)},
          {"hardware_queues", JsonList(status.hardware_queues, HardwareQueueJson)},
          {"harts", JsonList(status.harts, HartJson)}};
}

void PrintMemory(const std::vector<client::MemoryUse>& memory) {
  std::vector<std::vector<std::string>> rows = {{"MEMORY", "USED", "TOTAL", "LARGEST FREE"}};
  for (const client::MemoryUse& use : memory) {
    const std::string kind = client::MemoryKindName(use.kind);
    rows.push_back({use.kind == client::MemoryKind::kL1 ? kind + " (each worker)" : kind,
                    Bytes(use.used_bytes), Bytes(use.total_bytes), Bytes(use.largest_free_bytes)});
  }
  PrintTable(rows);
}

void PrintHardwareQueues(const std::vector<client::HardwareQueueInfo>& queues) {
  std::vector<std::vector<std::string>> rows = {
      {"QUEUE", "IN FLIGHT", "WAITING", "COMPLETED", "BUSY"}};
  for (const client::HardwareQueueInfo& queue : queues) {
    rows.push_back({fmt::format("CQ{}", queue.index), std::to_string(queue.in_flight),
                    std::to_string(queue.waiting), std::to_string(queue.completed),
                    Duration(queue.device_ns / 1'000'000)});
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

void PrintCard(const client::CardHealth& card) {
  std::string firmware;
  for (const client::FirmwareVersion& one : card.firmware) {
    firmware += fmt::format("{}{} {}", firmware.empty() ? "" : ", ", one.name, one.version);
  }
  const std::string place =
      card.board_location ? fmt::format(", chip {} of its board", *card.board_location) : "";
  std::vector<std::vector<std::string>> rows = {
      {"CARD", fmt::format("{}, PCI address {}{}", card.node, card.pci_address, place)},
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

// Why a reading is old: the device thread reads when asked unless it has to wait for the card.
std::string OldReading(const client::DaemonStatus& status) {
  constexpr uint64_t kFreshMs = 250;
  return *status.reading_age_ms < kFreshMs ? "" : " (the card did not respond since)";
}

void PrintStatusText(const client::DaemonStatus& status) {
  PrintLine(fmt::format("ttfd {}: {}, up {}, {} session{}", status.version,
                        client::DaemonStateName(status.state), Duration(status.uptime_ms),
                        status.sessions, status.sessions == 1 ? "" : "s"));
  PrintLine(fmt::format("done: {} commands, {} launches, {} written, {} read, {} device resets",
                        status.commands_completed, status.launches_completed,
                        Bytes(status.bytes_written), Bytes(status.bytes_read),
                        status.device_resets));
  if (!status.last_error.empty()) {
    PrintLine("last error: " + status.last_error.substr(0, status.last_error.find('\n')));
  }
  if (!status.last_hang_report.empty()) {
    PrintLine("last hang report: " + status.last_hang_report);
  }
  PrintLine(fmt::format("device: {}{}", status.device, status.card ? "" : " (a model, no card)"));
  for (const std::string& warning : status.warnings) PrintLine("warning: " + warning);
  PrintLine(!status.reading_age_ms ? "harts: not read yet"
                                   : fmt::format("harts and busy time: read {} ms ago{}",
                                                 *status.reading_age_ms, OldReading(status)));
  PrintLine("");
  PrintDevices(status.devices);
  if (status.card) {
    PrintLine("");
    PrintCard(*status.card);
  }
  if (!status.memory.empty()) {
    PrintLine("");
    PrintMemory(status.memory);
  }
  if (!status.hardware_queues.empty()) {
    PrintLine("");
    PrintHardwareQueues(status.hardware_queues);
  }
  if (!status.harts.empty()) {
    PrintLine("");
    PrintTable(HartRows(status.harts));
  }
}

Json LinksJson(const client::DaemonStatus& status) {
  return {{"reading_age_ms", JsonOf(status.reading_age_ms)},
          {"devices", JsonList(status.devices, [&status](const DeviceInfo& device) {
             return Json{{"index", device.index}, {"links", LinksJson(device, status.devices)}};
           })}};
}

Json JsonOfPart(const client::DaemonStatus& status, StatusPart part) {
  return part == StatusPart::kLinks ? LinksJson(status) : StatusJson(status);
}

void PrintPart(const client::DaemonStatus& status, StatusPart part) {
  if (part == StatusPart::kAll) return PrintStatusText(status);
  if (!status.reading_age_ms) return PrintLine("links: not read yet");
  PrintTable(LinkRows(status.devices));
}

void PrintTimeouts(const Common& common, const client::Timeouts& timeouts) {
  if (common.json) {
    PrintJson({{"operation_ms", JsonOf(timeouts.operation_ms)},
               {"kernel_ms", JsonOf(timeouts.kernel_ms)},
               {"start_ms", JsonOf(timeouts.start_ms)},
               {"stalled_client_ms", JsonOf(timeouts.stalled_client_ms)}});
    return;
  }
  const auto ms = [](std::optional<uint32_t> value) {
    return value ? fmt::format("{} ms", *value) : "-";
  };
  PrintTable({{"TIMEOUT", "VALUE", "MEANING"},
              {"operation", ms(timeouts.operation_ms),
               "no progress of the dispatch pipeline for this long: a hang"},
              {"kernel", ms(timeouts.kernel_ms), "one launch"},
              {"start", ms(timeouts.start_ms), "from arrival to start of a command"},
              {"stalled-client", ms(timeouts.stalled_client_ms),
               "a client that neither reads nor sends"}});
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

int ShowHealth(const Common& common, const std::string& service) {
  const Result<std::string> health =
      Admin::Connect(common.address, common.timeout()).Health(service);
  if (!health.ok()) {
    return Fail(health.status());
  }
  if (common.json) {
    PrintJson({{"service", service}, {"status", *health}});
  } else {
    PrintLine(*health);
  }
  return *health == "SERVING" ? kOk : kFailed;
}

int ShowDevices(const Common& common) {
  const Result<std::vector<DeviceInfo>> devices =
      Admin::Connect(common.address, common.timeout()).ListDevices();
  if (!devices.ok()) {
    return Fail(devices.status());
  }
  if (common.json) {
    PrintJson({{"devices", DevicesJson(*devices)}});
  } else {
    PrintDevices(*devices);
  }
  return kOk;
}

int ListSessions(const Common& common) {
  const Result<std::vector<client::SessionInfo>> sessions =
      Admin::Connect(common.address, common.timeout()).ListSessions();
  if (!sessions.ok()) {
    return Fail(sessions.status());
  }
  if (common.json) {
    PrintJson({{"sessions", JsonList(*sessions, SessionJson)}});
    return kOk;
  }
  PrintTable(SessionRows(*sessions));
  return kOk;
}

int GetTimeouts(const Common& common, std::optional<uint64_t> session) {
  const Result<client::Timeouts> timeouts =
      Admin::Connect(common.address, common.timeout()).GetTimeouts(session);
  if (!timeouts.ok()) {
    return Fail(timeouts.status());
  }
  PrintTimeouts(common, *timeouts);
  return kOk;
}

int SetTimeouts(const Common& common, std::optional<uint64_t> session,
                const client::Timeouts& timeouts) {
  const Result<client::Timeouts> now =
      Admin::Connect(common.address, common.timeout()).SetTimeouts(timeouts, session);
  if (!now.ok()) {
    return Fail(now.status());
  }
  PrintTimeouts(common, *now);
  return kOk;
}

}  // namespace ttfd::cli
