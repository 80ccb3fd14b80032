// Values to protobuf, field by field.
#include "daemon/rpc/admin_conversion.h"

#include "daemon/api/errors.h"
#include "daemon/rpc/reply_conversion.h"
#include "runtime/base/utf8.h"

namespace ttfd {
namespace {

void ToProto(const QueuePosition& from, v1::QueuePosition* to) {
  to->set_queue(from.queue);
  to->set_value(from.value);
}

v1::DaemonState ToProto(DaemonState from) {
  switch (from) {
    case DaemonState::kBooting:
      return v1::DAEMON_STATE_BOOTING;
    case DaemonState::kReady:
      return v1::DAEMON_STATE_READY;
    case DaemonState::kDraining:
      return v1::DAEMON_STATE_DRAINING;
    case DaemonState::kRecovering:
      return v1::DAEMON_STATE_RECOVERING;
    case DaemonState::kFailed:
      return v1::DAEMON_STATE_FAILED;
  }
  return v1::DAEMON_STATE_UNSPECIFIED;
}

v1::SessionState ToProto(SessionState from) {
  switch (from) {
    case SessionState::kWaiting:
      return v1::SESSION_STATE_WAITING;
    case SessionState::kActive:
      return v1::SESSION_STATE_ACTIVE;
    case SessionState::kQuarantined:
      return v1::SESSION_STATE_QUARANTINED;
    case SessionState::kFinishing:
      return v1::SESSION_STATE_FINISHING;
    case SessionState::kDetached:
      return v1::SESSION_STATE_DETACHED;
    case SessionState::kEnding:
      return v1::SESSION_STATE_ENDING;
  }
  return v1::SESSION_STATE_UNSPECIFIED;
}

v1::SessionWait ToProto(SessionWait from) {
  switch (from) {
    case SessionWait::kNone:
      return v1::SESSION_WAIT_NONE;
    case SessionWait::kCommands:
      return v1::SESSION_WAIT_COMMANDS;
    case SessionWait::kData:
      return v1::SESSION_WAIT_DATA;
    case SessionWait::kOutput:
      return v1::SESSION_WAIT_OUTPUT;
  }
  return v1::SESSION_WAIT_UNSPECIFIED;
}

v1::LeaseState ToProto(LeaseState from) {
  switch (from) {
    case LeaseState::kWaiting:
      return v1::LEASE_STATE_WAITING;
    case LeaseState::kGranting:
      return v1::LEASE_STATE_GRANTING;
    case LeaseState::kHeld:
      return v1::LEASE_STATE_HELD;
    case LeaseState::kEnding:
      return v1::LEASE_STATE_ENDING;
  }
  return v1::LEASE_STATE_UNSPECIFIED;
}

v1::LimitScope ToProto(LimitScope from) {
  switch (from) {
    case LimitScope::kMessage:
      return v1::LIMIT_SCOPE_MESSAGE;
    case LimitScope::kCommand:
      return v1::LIMIT_SCOPE_COMMAND;
    case LimitScope::kSession:
      return v1::LIMIT_SCOPE_SESSION;
    case LimitScope::kUser:
      return v1::LIMIT_SCOPE_USER;
    case LimitScope::kLease:
      return v1::LIMIT_SCOPE_LEASE;
    case LimitScope::kDaemon:
      return v1::LIMIT_SCOPE_DAEMON;
  }
  return v1::LIMIT_SCOPE_UNSPECIFIED;
}

}  // namespace

void ToProto(const TimeoutsReply& from, v1::Timeouts* to) {
  to->set_operation_ms(from.operation_ms);
  to->set_kernel_ms(from.kernel_ms);
  to->set_start_ms(from.start_ms);
  to->set_stalled_client_ms(from.stalled_client_ms);
}

StatusOr<TimeoutsReply> TimeoutsFromProto(const v1::Timeouts& from) {
  const auto zero = [](const char* field) {
    return ToStatus(InvalidError(field, "a timeout of 0 ms; at least 1 is allowed"));
  };
  if (from.has_operation_ms() && from.operation_ms() == 0) return zero("timeouts.operation_ms");
  if (from.has_kernel_ms() && from.kernel_ms() == 0) return zero("timeouts.kernel_ms");
  if (from.has_start_ms() && from.start_ms() == 0) return zero("timeouts.start_ms");
  if (from.has_stalled_client_ms() && from.stalled_client_ms() == 0) {
    return zero("timeouts.stalled_client_ms");
  }
  return TimeoutsReply{from.operation_ms(), from.kernel_ms(), from.start_ms(),
                       from.stalled_client_ms()};
}

void ToProto(const LeaseInfoReply& from, v1::LeaseInfo* to) {
  to->set_lease(from.lease);
  to->set_state(ToProto(from.state));
  to->set_session(from.session);
  to->set_client_name(ValidUtf8(from.client_name));
  to->set_user(ValidUtf8(from.user));
  to->set_uid(from.uid);
  if (from.pid != 0) to->set_pid(from.pid);
  for (const CoreRange& range : from.workers) {
    v1::CoreRange* added = to->add_workers();
    added->set_x0(range.x0);
    added->set_y0(range.y0);
    added->set_x1(range.x1);
    added->set_y1(range.y1);
  }
  to->mutable_devices()->Assign(from.devices.begin(), from.devices.end());
  to->set_sessions(from.sessions);
  to->set_since_ms(from.since_ms);
  if (from.left_ms) to->set_left_ms(*from.left_ms);
  if (from.position != 0) {
    to->set_position(from.position);
    to->set_expected_wait_ms(from.expected_wait_ms);
  }
  HoldersToProto(from.holders, to);
}

void ToProto(const LimitInfoReply& from, v1::LimitInfo* to) {
  to->set_name(from.name);
  to->set_value(from.value);
  to->set_scope(ToProto(from.scope));
  to->set_description(from.description);
}

void ToProto(const LimitUsageReply& from, v1::LimitUsage* to) {
  to->set_scope(ToProto(from.scope));
  to->set_session(from.session);
  to->set_uid(from.uid);
  to->set_user(ValidUtf8(from.user));
  to->set_client_name(ValidUtf8(from.client_name));
  for (const LimitUseReply& use : from.uses) {
    v1::LimitUse* const one = to->add_uses();
    one->set_name(use.name);
    one->set_value(use.value);
    one->set_used(use.used);
  }
}

void ToProto(const SessionInfoReply& from, v1::SessionInfo* to) {
  to->set_session(from.session);
  to->set_client_name(ValidUtf8(from.client_name));
  to->set_user(ValidUtf8(from.user));
  to->set_uid(from.uid);
  if (from.pid != 0) to->set_pid(from.pid);
  to->set_state(ToProto(from.state));
  to->set_dram_bytes(from.dram_bytes);
  to->set_l1_bytes(from.l1_bytes);
  to->set_device_ns(from.device_ns);
  to->set_longest_operation_ns(from.longest_work_ns);
  to->set_launches(from.launches);
  to->set_bytes_written(from.bytes_written);
  to->set_bytes_read(from.bytes_read);
  v1::Waits* const waits = to->mutable_waits();
  waits->set_count(from.waits.count);
  waits->set_total_ns(from.waits.total_ns);
  waits->set_p50_ns(from.waits.p50_ns);
  waits->set_p99_ns(from.waits.p99_ns);
  waits->set_max_ns(from.waits.max_ns);
  to->set_weight(from.weight);
  to->set_priority(ToProto(from.priority));
  to->set_connected_ms(from.connected_ms);
  to->set_handles(from.handles);
  if (from.lease != 0) to->set_lease(from.lease);
  to->set_hangs(from.hangs);
  to->set_quarantine_reason(from.quarantine_reason);
  to->set_waits_for(ToProto(from.waits_for));
  to->mutable_devices()->Assign(from.devices.begin(), from.devices.end());
  for (const QueuePosition& position : from.submitted) ToProto(position, to->add_submitted());
  for (const QueuePosition& position : from.completed) ToProto(position, to->add_completed());
}

void ToProto(const ProgressReply& from, v1::Progress* to) {
  to->Clear();
  to->set_step(static_cast<v1::ProgressStep>(from.step));
  to->set_left(from.left);
  to->set_done(from.done);
  for (const SessionInfoReply& session : from.sessions) ToProto(session, to->add_sessions());
}

void ToProto(const HangSummary& from, v1::HangReportInfo* to) {
  to->set_report(from.id);
  to->set_bytes(from.bytes);
  to->set_complete(from.complete);
  if (from.time) {
    const auto since = from.time->time_since_epoch();
    to->set_time_unix_ms(static_cast<uint64_t>(since / std::chrono::milliseconds(1)));
  }
  to->set_reason(ValidUtf8(from.reason));
  to->set_headline(ValidUtf8(from.headline));
  if (!from.offender) return;
  v1::HangOffender* const offender = to->mutable_offender();
  ToProto(from.offender->client, offender->mutable_client());
  ToProto(QueuePosition{from.offender->queue, from.offender->value}, offender->mutable_position());
  for (const std::string& kernel : from.offender->kernels) {
    offender->add_kernels(ValidUtf8(kernel));
  }
}

namespace {

void ToProto(const CardHealth& from, v1::CardHealth* to) {
  to->set_node(from.node);
  to->set_pci_address(from.pci_address);
  to->set_driver_version(from.driver);
  v1::PcieLink* const link = to->mutable_link();
  link->set_speed(ValidUtf8(from.link.speed));
  link->set_max_speed(ValidUtf8(from.link.max_speed));
  link->set_width(ValidUtf8(from.link.width));
  link->set_max_width(ValidUtf8(from.link.max_width));
  if (from.temperature_celsius) to->set_temperature_celsius(*from.temperature_celsius);
  if (from.power_watts) to->set_power_watts(*from.power_watts);
  if (from.aiclk_mhz) to->set_aiclk_mhz(*from.aiclk_mhz);
  if (from.aiclk_max_mhz) to->set_aiclk_max_mhz(*from.aiclk_max_mhz);
  if (from.axiclk_mhz) to->set_axiclk_mhz(*from.axiclk_mhz);
  if (from.arcclk_mhz) to->set_arcclk_mhz(*from.arcclk_mhz);
  if (from.thermal_shutdowns) to->set_thermal_shutdowns(*from.thermal_shutdowns);
  if (from.pcie_instance) to->set_pcie_instance(*from.pcie_instance);
  if (from.location) to->set_board_location(*from.location);
  for (const VersionOf& one : from.firmware) {
    v1::FirmwareVersion* const added = to->add_firmware();
    added->set_name(one.name);
    added->set_version(one.version);
  }
}

v1::DeviceState ToProto(DeviceState from) {
  switch (from) {
    case DeviceState::kBooting:
      return v1::DEVICE_STATE_BOOTING;
    case DeviceState::kReady:
      return v1::DEVICE_STATE_READY;
    case DeviceState::kRecovering:
      return v1::DEVICE_STATE_RECOVERING;
    case DeviceState::kFailed:
      return v1::DEVICE_STATE_FAILED;
  }
  return v1::DEVICE_STATE_UNSPECIFIED;
}

void ToProto(const DeviceStatusReply& from, v1::DeviceStatus* to) {
  ToProto(from.device, to->mutable_device());
  for (const LinkStatus& link : from.card.device.links) {
    ToProto(link, to->mutable_device()->add_links());
  }
  to->set_state(ToProto(from.state));
  to->set_last_error(ValidUtf8(from.last_error));
  to->set_launches_completed(from.stats.launches);
  to->set_bytes_written(from.stats.bytes_written);
  to->set_bytes_read(from.stats.bytes_read);
  to->set_resets(from.stats.resets);
  for (const MemoryUseReply& use : from.memory) {
    v1::MemoryUse* added = to->add_memory();
    added->set_kind(use.kind == MemoryKind::kDram ? v1::MEMORY_KIND_DRAM : v1::MEMORY_KIND_L1);
    added->set_used_bytes(use.used_bytes);
    added->set_total_bytes(use.total_bytes);
    added->set_largest_free_bytes(use.largest_free_bytes);
  }
  if (from.card.number != 0) to->set_reading_age_ms(from.card.age_ms);
  for (const HartReport& hart : from.card.harts) {
    v1::HartState* added = to->add_harts();
    added->set_name(hart.where);
    added->set_waypoint(hart.waypoint);
    added->set_progress(hart.progress);
    added->set_description(ValidUtf8(hart.text));
  }
  for (const HardwareQueueStats& queue : from.hardware_queues) {
    v1::HardwareQueue* added = to->add_hardware_queues();
    added->set_index(queue.index);
    added->set_in_flight(queue.in_flight);
    added->set_completed(queue.completed);
    added->set_waiting(queue.waiting);
    added->set_device_ns(queue.device_ns);
  }
  if (from.card.device.health) ToProto(*from.card.device.health, to->mutable_card());
}

}  // namespace

void ToProto(const StatusReply& from, v1::DaemonStatus* to) {
  to->set_version(from.daemon.version);
  to->set_state(ToProto(from.state));
  to->set_uptime_ms(from.uptime_ms);
  for (const DeviceStatusReply& device : from.devices) ToProto(device, to->add_devices());
  to->set_sessions(from.sessions);
  to->set_last_hang_report(from.last_hang_report);
  to->set_commands_completed(from.commands_completed);
  to->set_quantum_ns(from.quantum_ns);
  to->set_device(ValidUtf8(from.daemon.device));
  for (const std::string& warning : from.daemon.warnings) to->add_warnings(warning);
}

}  // namespace ttfd
