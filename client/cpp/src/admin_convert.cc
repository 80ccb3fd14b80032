// Messages of the admin service to the values of ttfd/admin_types.h.
#include "client/cpp/src/admin_convert.h"

#include "client/cpp/src/convert.h"

namespace ttfd::client {
namespace {

// Unset where the message has no value.
template <typename Value>
std::optional<Value> Optional(bool has, Value value) {
  return has ? std::optional<Value>(value) : std::nullopt;
}

CardHealth FromProto(const v1::CardHealth& card) {
  const v1::PcieLink& link = card.link();
  CardHealth out{
      .node = card.node(),
      .pci_address = card.pci_address(),
      .driver_version = card.driver_version(),
      .link = {link.speed(), link.max_speed(), link.width(), link.max_width()},
      .temperature_celsius = Optional(card.has_temperature_celsius(), card.temperature_celsius()),
      .power_watts = Optional(card.has_power_watts(), card.power_watts()),
      .aiclk_mhz = Optional(card.has_aiclk_mhz(), card.aiclk_mhz()),
      .aiclk_max_mhz = Optional(card.has_aiclk_max_mhz(), card.aiclk_max_mhz()),
      .axiclk_mhz = Optional(card.has_axiclk_mhz(), card.axiclk_mhz()),
      .arcclk_mhz = Optional(card.has_arcclk_mhz(), card.arcclk_mhz()),
      .thermal_shutdowns = Optional(card.has_thermal_shutdowns(), card.thermal_shutdowns()),
      .pcie_instance = Optional(card.has_pcie_instance(), card.pcie_instance()),
      .board_location = Optional(card.has_board_location(), card.board_location())};
  for (const v1::FirmwareVersion& one : card.firmware()) {
    out.firmware.push_back({one.name(), one.version()});
  }
  return out;
}

DeviceStatus FromProto(const v1::DeviceStatus& status) {
  DeviceStatus out{
      .device = client::FromProto(status.device()),
      .state = EnumOf<DeviceState>(status.state()),
      .last_error = status.last_error(),
      .launches_completed = status.launches_completed(),
      .bytes_written = status.bytes_written(),
      .bytes_read = status.bytes_read(),
      .resets = status.resets(),
      .reading_age_ms = Optional<uint64_t>(status.has_reading_age_ms(), status.reading_age_ms())};
  if (status.has_card()) out.card = FromProto(status.card());
  for (const v1::MemoryUse& use : status.memory()) {
    out.memory.push_back({EnumOf<MemoryKind>(use.kind()), use.used_bytes(), use.total_bytes(),
                          use.largest_free_bytes()});
  }
  for (const v1::HartState& hart : status.harts()) {
    out.harts.push_back({hart.name(), hart.waypoint(), hart.progress(), hart.description()});
  }
  for (const v1::HardwareQueue& queue : status.hardware_queues()) {
    out.hardware_queues.push_back(
        {queue.index(), queue.in_flight(), queue.completed(), queue.waiting(), queue.device_ns()});
  }
  return out;
}

}  // namespace

DaemonStatus FromProto(const v1::DaemonStatus& status) {
  DaemonStatus out{.version = status.version(),
                   .state = EnumOf<DaemonState>(status.state()),
                   .uptime_ms = status.uptime_ms(),
                   .devices = {},
                   .sessions = status.sessions(),
                   .last_hang_report = status.last_hang_report(),
                   .commands_completed = status.commands_completed(),
                   .quantum_ns = status.quantum_ns(),
                   .device = status.device(),
                   .warnings = {status.warnings().begin(), status.warnings().end()}};
  for (const v1::DeviceStatus& device : status.devices()) {
    out.devices.push_back(FromProto(device));
  }
  return out;
}

SessionInfo FromProto(const v1::SessionInfo& info) {
  SessionInfo out{.session = info.session(),
                  .client_name = info.client_name(),
                  .uid = info.uid(),
                  .pid = Optional(info.has_pid(), info.pid()),
                  .user = info.user(),
                  .state = EnumOf<SessionState>(info.state()),
                  .dram_bytes = info.dram_bytes(),
                  .l1_bytes = info.l1_bytes(),
                  .device_ns = info.device_ns(),
                  .connected_ms = info.connected_ms(),
                  .handles = info.handles(),
                  .lease = Optional<uint64_t>(info.has_lease(), info.lease()),
                  .submitted = {},
                  .completed = {},
                  .weight = info.weight(),
                  .priority = FromProto(info.priority()),
                  .launches = info.launches(),
                  .bytes_written = info.bytes_written(),
                  .bytes_read = info.bytes_read(),
                  .waits = {info.waits().count(), info.waits().total_ns(), info.waits().p50_ns(),
                            info.waits().p99_ns(), info.waits().max_ns()},
                  .longest_operation_ns = info.longest_operation_ns(),
                  .hangs = info.hangs(),
                  .quarantine_reason = info.quarantine_reason(),
                  .waits_for = EnumOf<SessionWait>(info.waits_for()),
                  .devices = {info.devices().begin(), info.devices().end()}};
  for (const v1::QueuePosition& position : info.submitted()) {
    out.submitted.push_back(FromProto(position));
  }
  for (const v1::QueuePosition& position : info.completed()) {
    out.completed.push_back(FromProto(position));
  }
  return out;
}

Progress FromProto(const v1::Progress& progress) {
  Progress out{EnumOf<ProgressStep>(progress.step()), progress.left(), progress.done(), {}};
  for (const v1::SessionInfo& session : progress.sessions()) {
    out.sessions.push_back(FromProto(session));
  }
  return out;
}

LeaseInfo FromProto(const v1::LeaseInfo& info) {
  LeaseInfo out{
      .lease = info.lease(),
      .state = EnumOf<LeaseState>(info.state()),
      .session = info.session(),
      .client_name = info.client_name(),
      .user = info.user(),
      .uid = info.uid(),
      .pid = Optional(info.has_pid(), info.pid()),
      .devices = {info.devices().begin(), info.devices().end()},
      .workers = {},
      .sessions = info.sessions(),
      .since_ms = info.since_ms(),
      .left_ms = Optional<uint64_t>(info.has_left_ms(), info.left_ms()),
      .position = Optional(info.has_position(), info.position()),
      .holders = ListFromProto(info.holders()),
      .more_holders = info.more_holders(),
      .expected_wait_ms = Optional<uint64_t>(info.has_expected_wait_ms(), info.expected_wait_ms())};
  for (const v1::CoreRange& range : info.workers()) {
    out.workers.push_back(FromProto(range));
  }
  return out;
}

LimitInfo FromProto(const v1::LimitInfo& info) {
  return {info.name(), info.value(), EnumOf<LimitScope>(info.scope()), info.description()};
}

LimitUsage FromProto(const v1::LimitUsage& usage) {
  LimitUsage out{.scope = EnumOf<LimitScope>(usage.scope()),
                 .session = usage.session(),
                 .client_name = usage.client_name(),
                 .uid = usage.uid(),
                 .user = usage.user(),
                 .uses = {}};
  for (const v1::LimitUse& use : usage.uses()) {
    out.uses.push_back({use.name(), use.value(), use.used()});
  }
  return out;
}

HangReportInfo FromProto(const v1::HangReportInfo& info) {
  HangReportInfo out{
      .report = info.report(),
      .time_unix_ms = Optional<uint64_t>(info.has_time_unix_ms(), info.time_unix_ms()),
      .reason = info.reason(),
      .headline = info.headline(),
      .offender = {},
      .bytes = info.bytes(),
      .complete = info.complete()};
  if (info.has_offender()) {
    const v1::HangOffender& offender = info.offender();
    out.offender = {FromProto(offender.client()),
                    FromProto(offender.position()),
                    {offender.kernels().begin(), offender.kernels().end()}};
  }
  return out;
}

Timeouts FromProto(const v1::Timeouts& timeouts) {
  return {Optional(timeouts.has_operation_ms(), timeouts.operation_ms()),
          Optional(timeouts.has_kernel_ms(), timeouts.kernel_ms()),
          Optional(timeouts.has_start_ms(), timeouts.start_ms()),
          Optional(timeouts.has_stalled_client_ms(), timeouts.stalled_client_ms())};
}

void ToProto(const Timeouts& timeouts, v1::Timeouts* proto) {
  if (timeouts.operation_ms) {
    proto->set_operation_ms(*timeouts.operation_ms);
  }
  if (timeouts.kernel_ms) {
    proto->set_kernel_ms(*timeouts.kernel_ms);
  }
  if (timeouts.start_ms) {
    proto->set_start_ms(*timeouts.start_ms);
  }
  if (timeouts.stalled_client_ms) {
    proto->set_stalled_client_ms(*timeouts.stalled_client_ms);
  }
}

}  // namespace ttfd::client
