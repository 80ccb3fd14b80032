// Commands that look: status, health, devices, sessions list, timeouts get.
#include <fmt/format.h>

#include <algorithm>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/text.h"

namespace ttfd::cli {
namespace {

using client::Admin;
using client::DeviceInfo;
using client::Result;

Json DeviceJson(const DeviceInfo& device) {
  return {{"index", device.index},
          {"board", device.board},
          {"backend", device.backend},
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
          {"iommu", device.iommu}};
}

std::string DeviceTable(const std::vector<DeviceInfo>& devices) {
  std::vector<std::vector<std::string>> rows = {
      {"DEVICE", "BOARD", "BACKEND", "WORKERS", "DRAM", "L1/WORKER", "CLOCK", "IOMMU"}};
  for (const DeviceInfo& device : devices) {
    rows.push_back({std::to_string(device.index), device.board, device.backend,
                    fmt::format("{}x{}", device.grid_x, device.grid_y),
                    Bytes(device.dram_banks * device.dram_bank_bytes), Bytes(device.l1_bytes),
                    fmt::format("{} MHz", device.clock_hz / 1'000'000),
                    device.iommu ? "on" : "off"});
  }
  return Table(rows);
}

Json MemoryJson(const client::MemoryUse& use) {
  return {{"kind", use.kind},
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
  return {{"where", hart.where},
          {"waypoint", hart.waypoint},
          {"progress", hart.progress},
          {"text", hart.text}};
}

void PrintStatusJson(const client::DaemonStatus& status) {
  PrintJson({{"version", status.version},
             {"state", status.state},
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
             {"devices", JsonList(status.devices, DeviceJson)},
             {"memory", JsonList(status.memory, MemoryJson)},
             {"hardware_queues", JsonList(status.hardware_queues, HardwareQueueJson)},
             {"harts", JsonList(status.harts, HartJson)}});
}

void PrintStatusText(const client::DaemonStatus& status) {
  fmt::print("ttfd {}: {}, up {}, {} session{}\n", status.version, status.state,
             Duration(status.uptime_ms), status.sessions, status.sessions == 1 ? "" : "s");
  fmt::print("done: {} commands, {} launches, {} written, {} read, {} device resets\n",
             status.commands_completed, status.launches_completed, Bytes(status.bytes_written),
             Bytes(status.bytes_read), status.device_resets);
  if (!status.last_error.empty()) {
    fmt::print("last error: {}\n", status.last_error);
  }
  if (!status.last_hang_report.empty()) {
    fmt::print("last hang report: {}\n", status.last_hang_report);
  }
  fmt::print("\n{}", DeviceTable(status.devices));
  if (!status.memory.empty()) {
    std::vector<std::vector<std::string>> rows = {{"MEMORY", "USED", "TOTAL", "LARGEST FREE"}};
    for (const client::MemoryUse& use : status.memory) {
      rows.push_back({use.kind == "l1" ? "l1 (each worker)" : use.kind, Bytes(use.used_bytes),
                      Bytes(use.total_bytes), Bytes(use.largest_free_bytes)});
    }
    fmt::print("\n{}", Table(rows));
  }
  if (!status.hardware_queues.empty()) {
    std::vector<std::vector<std::string>> rows = {
        {"QUEUE", "IN FLIGHT", "WAITING", "COMPLETED", "AT WORK"}};
    for (const client::HardwareQueueInfo& queue : status.hardware_queues) {
      rows.push_back({fmt::format("CQ{}", queue.index), std::to_string(queue.in_flight),
                      std::to_string(queue.waiting), std::to_string(queue.completed),
                      Duration(queue.device_ns / 1'000'000)});
    }
    fmt::print("\n{}", Table(rows));
  }
  if (!status.harts.empty()) {
    std::vector<std::vector<std::string>> rows = {{"DISPATCH", "WAYPOINT", "PROGRESS", ""}};
    for (const client::HartState& hart : status.harts) {
      rows.push_back({hart.where, hart.waypoint, std::to_string(hart.progress), hart.text});
    }
    fmt::print("\n{}", Table(rows));
  }
}

Json PositionJson(const client::Position& position) {
  return {{"queue", position.queue}, {"value", position.value}};
}

uint64_t Total(const std::vector<client::Position>& positions) {
  uint64_t total = 0;
  for (const client::Position& position : positions) {
    total += position.value;
  }
  return total;
}

const char* PriorityName(client::Priority priority) {
  if (priority == client::Priority::kLow) return "low";
  return priority == client::Priority::kHigh ? "high" : "normal";
}

// "2x high": who would have what of a contended card.
std::string Share(const client::SessionInfo& session) {
  const std::string weight = fmt::format("{}x", std::max(session.weight, 1u));
  if (session.priority == client::Priority::kNormal) return weight;
  return fmt::format("{} {}", weight, PriorityName(session.priority));
}

std::string Waited(const client::Waits& waits) {
  if (waits.count == 0) return "-";
  return fmt::format("{} / {} us", waits.p50_ns / 1000, waits.p99_ns / 1000);
}

Json SessionJson(const client::SessionInfo& session) {
  return {{"session", session.session},
          {"client_name", session.client_name},
          {"user", session.user},
          {"uid", session.uid},
          {"pid", session.pid},
          {"state", session.state},
          {"connected_ms", session.connected_ms},
          {"handles", session.handles},
          {"lease", session.lease},
          {"dram_bytes", session.dram_bytes},
          {"l1_bytes", session.l1_bytes},
          {"weight", session.weight},
          {"priority", PriorityName(session.priority)},
          {"device_ns", session.device_ns},
          {"longest_work_ns", session.longest_work_ns},
          {"launches", session.launches},
          {"bytes_written", session.bytes_written},
          {"bytes_read", session.bytes_read},
          {"hangs", session.hangs},
          {"suspended", session.suspended},
          {"waits",
           {{"count", session.waits.count},
            {"total_ns", session.waits.total_ns},
            {"p50_ns", session.waits.p50_ns},
            {"p99_ns", session.waits.p99_ns},
            {"max_ns", session.waits.max_ns}}},
          {"submitted", JsonList(session.submitted, PositionJson)},
          {"completed", JsonList(session.completed, PositionJson)}};
}

void PrintTimeouts(const Common& common, const client::Timeouts& timeouts) {
  if (common.json) {
    PrintJson({{"operation_ms", timeouts.operation_ms},
               {"kernel_ms", timeouts.kernel_ms},
               {"start_ms", timeouts.start_ms},
               {"stalled_client_ms", timeouts.stalled_client_ms}});
    return;
  }
  const auto ms = [](uint32_t value) { return fmt::format("{} ms", value); };
  fmt::print("{}", Table({{"TIMEOUT", "VALUE", "MEANING"},
                          {"operation", ms(timeouts.operation_ms),
                           "no progress of the dispatch pipeline for so long: a hang"},
                          {"kernel", ms(timeouts.kernel_ms), "one launch"},
                          {"start", ms(timeouts.start_ms), "from arrival to start of a command"},
                          {"stalled-client", ms(timeouts.stalled_client_ms),
                           "a client that neither reads nor sends"}}));
}

}  // namespace

int ShowStatus(const Common& common) {
  const Result<client::DaemonStatus> status =
      Admin::Connect(common.address, common.timeout()).GetStatus();
  if (!status.ok()) {
    return Fail(status.status());
  }
  if (common.json) {
    PrintStatusJson(*status);
  } else {
    PrintStatusText(*status);
  }
  return kOk;
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
    fmt::print("{}\n", *health);
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
    PrintJson({{"devices", JsonList(*devices, DeviceJson)}});
  } else {
    fmt::print("{}", DeviceTable(*devices));
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
  std::vector<std::vector<std::string>> rows = {
      {"SESSION", "CLIENT", "USER", "PID", "STATE", "CONNECTED", "SHARE", "HANDLES", "DRAM",
       "L1/WORKER", "DEVICE TIME", "WRITTEN", "READ", "WAIT P50/P99", "DONE/SENT"}};
  for (const client::SessionInfo& session : *sessions) {
    rows.push_back({std::to_string(session.session), session.client_name,
                    session.user.empty() ? std::to_string(session.uid) : session.user,
                    std::to_string(session.pid), session.state, Duration(session.connected_ms),
                    Share(session), std::to_string(session.handles), Bytes(session.dram_bytes),
                    Bytes(session.l1_bytes), Duration(session.device_ns / 1'000'000),
                    Bytes(session.bytes_written), Bytes(session.bytes_read), Waited(session.waits),
                    fmt::format("{}/{}", Total(session.completed), Total(session.submitted))});
  }
  fmt::print("{}", Table(rows));
  return kOk;
}

int GetTimeouts(const Common& common, uint64_t session) {
  const Result<client::Timeouts> timeouts =
      Admin::Connect(common.address, common.timeout()).GetTimeouts(session);
  if (!timeouts.ok()) {
    return Fail(timeouts.status());
  }
  PrintTimeouts(common, *timeouts);
  return kOk;
}

int SetTimeouts(const Common& common, uint64_t session, const client::Timeouts& timeouts) {
  const Result<client::Timeouts> now =
      Admin::Connect(common.address, common.timeout()).SetTimeouts(timeouts, session);
  if (!now.ok()) {
    return Fail(now.status());
  }
  PrintTimeouts(common, *now);
  return kOk;
}

}  // namespace ttfd::cli
