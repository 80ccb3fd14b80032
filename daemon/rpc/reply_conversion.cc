// Values to protobuf, field by field.
#include "daemon/rpc/reply_conversion.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "daemon/rpc/utf8.h"
#include "runtime/abi/kernel_image.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/launch.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

// A sentence or a few, of whatever origin.
constexpr size_t kMaxErrorMessageBytes = 16 << 10;

void ToProto(const QueuePosition& from, v1::QueuePosition* to) {
  to->set_queue(from.queue);
  to->set_value(from.value);
}

}  // namespace

void ToProto(const ErrorReply& from, v1::Error* to) {
  to->set_code(static_cast<int32_t>(from.code));
  to->set_message(ValidUtf8(from.message, kMaxErrorMessageBytes));
  to->set_reason(from.reason);
  to->set_field(from.field);
  if (from.cause.value != 0) ToProto(from.cause, to->mutable_cause());
  to->set_limit(from.limit);
  to->set_limit_value(from.limit_value);
  to->set_limit_used(from.limit_used);
  to->set_hang_report(from.hang_report);
  to->set_retryable(from.retryable);
}

void ToProto(const DeviceReply& from, v1::Device* to) {
  to->set_index(from.index);
  to->set_board(from.info.board);
  to->set_backend(from.info.backend);
  to->set_grid_x(from.card.grid.x);
  to->set_grid_y(from.card.grid.y);
  to->set_dram_banks(from.card.dram_banks);
  to->set_dram_bank_bytes(from.card.dram_bank_bytes);
  to->set_dram_alignment(SlotAlignment(MemoryKind::kDram));
  to->set_l1_bytes(from.card.l1_bytes);
  to->set_l1_alignment(SlotAlignment(MemoryKind::kL1));
  to->set_clock_hz(from.info.clock_hz);
  to->set_circular_buffers(abi::kMaxCircularBuffers);
  to->set_semaphores(abi::kMaxSemaphores);
  to->set_argument_words(abi::kMaxArgumentWords);
  to->set_circular_buffer_bytes(abi::kCircularBufferBytes);
  to->set_transfer_alignment(hw::kL1Alignment);
  to->set_kernel_bytes(abi::kMaxKernelImageBytes);
  to->set_iommu(from.info.iommu);
}

v1::Priority ToProto(Priority from) {
  switch (from) {
    case Priority::kLow:
      return v1::PRIORITY_LOW;
    case Priority::kNormal:
      return v1::PRIORITY_NORMAL;
    case Priority::kHigh:
      return v1::PRIORITY_HIGH;
  }
  return v1::PRIORITY_NORMAL;
}

void ToProto(const SessionLimits& from, v1::Limits* to) {
  to->set_message_bytes(from.message_bytes);
  to->set_chunk_bytes(from.chunk_bytes);
  to->set_inline_bytes(from.inline_bytes);
  to->set_commands_per_batch(from.commands_per_batch);
  to->set_waits_per_batch(from.waits_per_batch);
  to->set_queues(from.queues);
  to->set_handles(from.handles);
  to->set_dram_bytes(from.dram_bytes);
  to->set_l1_bytes(from.l1_bytes);
  to->set_transfer_bytes(from.transfer_bytes);
  to->set_kernel_elf_bytes(from.kernel_elf_bytes);
  to->set_sessions_per_user(from.sessions_per_user);
  to->set_client_name_bytes(from.client_name_bytes);
  to->set_trace_bytes(from.trace_bytes);
  to->set_buffers(from.buffers);
  to->set_kernels(from.kernels);
  to->set_programs(from.programs);
  to->set_kernel_bytes(from.kernel_bytes);
  to->set_idle_ms(from.idle_ms);
  to->set_lease_ms(from.lease_ms);
  to->set_lease_idle_ms(from.lease_idle_ms);
  to->set_lease_wait_ms(from.lease_wait_ms);
  to->set_weight(from.weight);
  to->set_priority(ToProto(from.priority));
}

void ToProto(const CreditReply& from, v1::Credit* to) {
  to->set_commands(from.commands);
  to->set_bytes(from.bytes);
  to->set_read_bytes(from.read_bytes);
}

void ToProto(const WelcomeReply& from, v1::Welcome* to) {
  to->set_revision(from.revision);
  to->set_daemon_version(from.daemon_version);
  to->set_session(from.session);
  to->set_token(from.token);
  for (const DeviceReply& device : from.devices) ToProto(device, to->add_devices());
  ToProto(from.limits, to->mutable_limits());
  ToProto(from.credit, to->mutable_credit());
  for (const QueuePosition& position : from.accepted) ToProto(position, to->add_accepted());
}

void ToProto(const TimeoutsReply& from, v1::Timeouts* to) {
  to->set_operation_ms(from.operation_ms);
  to->set_kernel_ms(from.kernel_ms);
  to->set_start_ms(from.start_ms);
  to->set_stalled_client_ms(from.stalled_client_ms);
}

TimeoutsReply TimeoutsFromProto(const v1::Timeouts& from) {
  return {from.operation_ms(), from.kernel_ms(), from.start_ms(), from.stalled_client_ms()};
}

void ToProto(const LeaseInfoReply& from, v1::LeaseInfo* to) {
  to->set_lease(from.lease);
  to->set_state(from.state);
  to->set_session(from.session);
  to->set_client_name(ValidUtf8(from.client_name));
  to->set_user(from.user);
  to->set_uid(from.uid);
  to->set_pid(from.pid);
  for (const CoreRange& range : from.workers) {
    v1::CoreRange* added = to->add_workers();
    added->set_x0(range.x0);
    added->set_y0(range.y0);
    added->set_x1(range.x1);
    added->set_y1(range.y1);
  }
  to->set_sessions(from.sessions);
  to->set_since_ms(from.since_ms);
  to->set_left_ms(from.left_ms);
  to->set_position(from.position);
  to->set_holder(ValidUtf8(from.holder));
  to->set_expected_wait_ms(from.expected_wait_ms);
}

void ToProto(const LimitsReply& from, v1::GetLimitsResponse* to) {
  for (const LimitInfoReply& limit : from.limits) {
    v1::LimitInfo* const added = to->add_limits();
    added->set_name(limit.name);
    added->set_value(limit.value);
    added->set_of(limit.of);
    added->set_text(limit.text);
  }
  for (const LimitUsesReply& uses : from.uses) {
    v1::LimitUses* const added = to->add_uses();
    added->set_session(uses.session);
    added->set_uid(uses.uid);
    added->set_user(ValidUtf8(uses.user));
    added->set_client_name(ValidUtf8(uses.client_name));
    for (const LimitUseReply& use : uses.uses) {
      v1::LimitUse* const one = added->add_uses();
      one->set_name(use.name);
      one->set_value(use.value);
      one->set_used(use.used);
    }
  }
}

void ToProto(const SessionInfoReply& from, v1::SessionInfo* to) {
  to->set_session(from.session);
  to->set_client_name(from.client_name);
  to->set_user(from.user);
  to->set_uid(from.uid);
  to->set_pid(from.pid);
  to->set_state(from.state);
  to->set_dram_bytes(from.dram_bytes);
  to->set_l1_bytes(from.l1_bytes);
  to->set_device_ns(from.device_ns);
  to->set_longest_work_ns(from.longest_work_ns);
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
  to->set_lease(from.lease);
  to->set_hangs(from.hangs);
  to->set_suspended(from.suspended);
  for (const QueuePosition& position : from.submitted) ToProto(position, to->add_submitted());
  for (const QueuePosition& position : from.completed) ToProto(position, to->add_completed());
}

void ToProto(const HangStore::Summary& from, v1::HangReportInfo* to) {
  to->set_report(from.id);
  to->set_headline(ValidUtf8(from.headline));
  to->set_text(ValidUtf8(from.text));
  to->set_blamed(ValidUtf8(from.blamed));
  to->set_bytes(from.bytes);
  to->set_complete(from.complete);
}

void ToProto(const StatusReply& from, v1::GetStatusResponse* to) {
  to->set_version(from.version);
  to->set_state(from.state);
  to->set_uptime_ms(from.uptime_ms);
  for (const DeviceReply& device : from.devices) ToProto(device, to->add_devices());
  to->set_sessions(from.sessions);
  to->set_last_error(ValidUtf8(from.last_error));
  to->set_last_hang_report(from.last_hang_report);
  to->set_commands_completed(from.commands_completed);
  to->set_launches_completed(from.launches_completed);
  to->set_bytes_written(from.bytes_written);
  to->set_bytes_read(from.bytes_read);
  to->set_device_resets(from.device_resets);
  for (const MemoryUseReply& use : from.memory) {
    v1::MemoryUse* added = to->add_memory();
    added->set_kind(use.kind);
    added->set_used_bytes(use.used_bytes);
    added->set_total_bytes(use.total_bytes);
    added->set_largest_free_bytes(use.largest_free_bytes);
  }
  for (const HartReport& hart : from.harts) {
    v1::HartState* added = to->add_harts();
    added->set_where(hart.where);
    added->set_waypoint(hart.waypoint);
    added->set_progress(hart.progress);
    added->set_text(ValidUtf8(hart.text));
  }
  for (const HardwareQueueStats& queue : from.hardware_queues) {
    v1::HardwareQueue* added = to->add_hardware_queues();
    added->set_index(queue.index);
    added->set_in_flight(queue.in_flight);
    added->set_completed(queue.completed);
    added->set_waiting(queue.waiting);
    added->set_device_ns(queue.device_ns);
  }
  to->set_quantum_ns(from.quantum_ns);
}

void ToProto(const KernelPrintReply& from, v1::KernelPrint* to) {
  to->set_queue(from.position.queue);
  to->set_value(from.position.value);
  to->set_x(from.print.x);
  to->set_y(from.print.y);
  to->set_processor(static_cast<v1::Processor>(from.print.hart + 1));
  to->set_text(ValidUtf8(from.print.text));
  to->set_kernel(ValidUtf8(from.print.kernel_name));
  to->set_launch(from.print.launch);
  to->set_lost(from.lost);
}

void TakeMessage(SessionOutputBatch* batch, size_t max_error_bytes, v1::ServerMessage* to) {
  if (batch->has_welcome) to->add_notices()->set_lease_token(batch->lease_token);
  batch->has_welcome = false;
  if (batch->has_waiting) {
    v1::LeaseWait* wait = to->add_notices()->mutable_waiting();
    wait->set_position(batch->waiting.position);
    wait->set_holder(ValidUtf8(batch->waiting.holder));
    wait->set_expected_wait_ms(static_cast<uint32_t>(
        std::min<uint64_t>(batch->waiting.expected_wait_ms, std::numeric_limits<uint32_t>::max())));
  }
  batch->has_waiting = false;
  for (const KernelPrintReply& print : batch->prints) {
    ToProto(print, to->add_notices()->mutable_print());
  }
  batch->prints.clear();
  for (std::string& id : batch->hang_reports) to->add_notices()->set_hang_report(std::move(id));
  batch->hang_reports.clear();
  for (DataChunk& chunk : batch->data) {
    v1::Data* data = to->add_data();
    data->set_queue(chunk.queue);
    data->set_value(chunk.value);
    data->set_offset(chunk.offset);
    data->set_payload(std::move(chunk.payload));
  }
  batch->data.clear();
  size_t taken = 0;
  size_t error_bytes = 0;
  while (taken < batch->errors.size() && error_bytes < max_error_bytes) {
    const CommandErrorReply& from = batch->errors[taken++];
    v1::CommandError* error = to->add_errors();
    error->set_queue(from.queue);
    error->set_first_value(from.first_value);
    error->set_last_value(from.last_value);
    ToProto(from.error, error->mutable_error());
    error_bytes += error->ByteSizeLong();
  }
  batch->errors.erase(batch->errors.begin(), batch->errors.begin() + static_cast<ptrdiff_t>(taken));
  if (!batch->errors.empty()) return;
  for (const QueuePosition& position : batch->progress) ToProto(position, to->add_progress());
  batch->progress.clear();
  if (batch->has_credit) ToProto(batch->credit, to->mutable_credit());
  batch->has_credit = false;
  if (batch->has_draining) to->add_notices()->set_draining_within_ms(batch->draining_within_ms);
  batch->has_draining = false;
}

}  // namespace ttfd
