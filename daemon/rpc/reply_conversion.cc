// Values to protobuf, field by field.
#include "daemon/rpc/reply_conversion.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "daemon/rpc/call_status.h"
#include "runtime/abi/kernel_image.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/launch.h"
#include "runtime/base/utf8.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

void ToProto(const QueuePosition& from, v1::QueuePosition* to) {
  to->set_queue(from.queue);
  to->set_value(from.value);
}

v1::ExecutionState ToProto(ExecutionState from) {
  switch (from) {
    case ExecutionState::kNotStarted:
      return v1::EXECUTION_STATE_NOT_STARTED;
    case ExecutionState::kCompleted:
      return v1::EXECUTION_STATE_COMPLETED;
    case ExecutionState::kRunning:
    case ExecutionState::kUnknown:
      return v1::EXECUTION_STATE_UNKNOWN;
  }
  return v1::EXECUTION_STATE_UNSPECIFIED;
}

v1::Backend BackendOf(const std::string& name) {
  if (name == "embedded") return v1::BACKEND_EMBEDDED;
  if (name == "ttsim") return v1::BACKEND_TTSIM;
  if (name == "kmd") return v1::BACKEND_KMD;
  return v1::BACKEND_UNSPECIFIED;
}

void ToProto(hw::Coordinate from, v1::Coordinate* to) {
  to->set_x(from.x);
  to->set_y(from.y);
}

}  // namespace

namespace {

v1::LinkState ToProto(LinkState from) {
  switch (from) {
    case LinkState::kUp:
      return v1::LINK_STATE_UP;
    case LinkState::kDown:
      return v1::LINK_STATE_DOWN;
    case LinkState::kUnused:
      return v1::LINK_STATE_UNUSED;
    case LinkState::kUnknown:
      break;
  }
  return v1::LINK_STATE_UNKNOWN;
}

}  // namespace

void ToProto(const LinkStatus& from, v1::EthernetLink* to) {
  to->set_channel(from.channel);
  to->set_state(ToProto(from.state));
  to->set_retrains(from.retrains);
  to->set_firmware_version(from.firmware);
  if (!from.peer) return;
  to->mutable_peer()->set_board(from.peer->board);
  to->mutable_peer()->set_asic(from.peer->asic);
  to->mutable_peer()->set_channel(from.peer->channel);
  to->mutable_peer()->set_asic_location(from.peer->location);
}

void ToProto(const DeviceReply& from, v1::Device* to) {
  to->set_index(from.index);
  to->set_board(from.info.board);
  to->set_backend(BackendOf(from.info.backend));
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
  to->set_l1_base(from.card.l1_base);
  to->set_dram_base(from.card.dram_base);
  to->set_dram_bank_size(from.card.dram_bank_size);
  to->mutable_worker_x()->Assign(from.card.worker_x.begin(), from.card.worker_x.end());
  to->mutable_worker_y()->Assign(from.card.worker_y.begin(), from.card.worker_y.end());
  for (const DramBank& bank : from.card.banks) {
    v1::DramBank* const added = to->add_banks();
    ToProto(bank.port, added->mutable_port());
    ToProto(bank.nearest_worker, added->mutable_nearest_worker());
  }
  to->set_board_id(from.info.id.board);
  to->set_asic_id(from.info.id.asic);
  if (from.behind) to->set_behind(*from.behind);
  for (const Neighbour& one : from.neighbours) {
    v1::Neighbour* const added = to->add_neighbours();
    added->set_channel(one.channel);
    added->set_device(one.device);
    added->set_peer_channel(one.peer_channel);
    added->set_system(one.system);
  }
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
  if (from.idle_ms != 0) to->set_idle_ms(from.idle_ms);
  if (from.lease_ms != 0) to->set_lease_ms(from.lease_ms);
  if (from.lease_idle_ms != 0) to->set_lease_idle_ms(from.lease_idle_ms);
  to->set_lease_wait_ms(from.lease_wait_ms);
  to->set_weight(from.weight);
  to->set_priority(ToProto(from.priority));
  to->set_command_bytes(kCommandBytes);
  to->set_nested_messages(from.nested_messages);
  to->set_unacknowledged_bytes(from.unacknowledged_bytes);
  to->set_reconnect_timeout_ms(from.reconnect_timeout_ms);
}

void ToProto(const WelcomeReply& from, v1::Welcome* to) {
  to->set_revision(from.revision);
  to->set_daemon_version(from.daemon_version);
  to->set_session(from.session);
  to->set_token(from.token);
  for (const DeviceReply& device : *from.devices) ToProto(device, to->add_devices());
  ToProto(from.limits, to->mutable_limits());
  to->set_window_bytes(from.window_bytes);
  to->set_device(from.device);
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

void ToProto(const SessionClient& from, v1::SessionClient* to) {
  to->set_session(from.session);
  to->set_client_name(ValidUtf8(from.name));
  to->set_user(ValidUtf8(from.user));
  to->set_uid(from.uid);
  if (from.pid != 0) to->set_pid(from.pid);
}

void ToProto(const LeaseWaitReply& from, v1::LeaseWait* to) {
  to->set_position(from.position);
  HoldersToProto(from.holders, to);
  to->set_expected_wait_ms(static_cast<uint32_t>(
      std::min<uint64_t>(from.expected_wait_ms, std::numeric_limits<uint32_t>::max())));
}

void ToProto(SessionOutputBatch* from, v1::ServerMessage* to) {
  if (from->has_waiting) ToProto(from->waiting, to->add_notices()->mutable_waiting());
  for (const KernelPrintReply& print : from->prints) {
    ToProto(print, to->add_notices()->mutable_print());
  }
  for (DataChunk& chunk : from->data) {
    v1::Data* const data = to->add_data();
    data->set_queue(chunk.queue);
    data->set_value(chunk.value);
    data->set_offset(chunk.offset);
    data->set_payload(std::move(chunk.payload));
  }
  for (const CommandErrorReply& one : from->errors) {
    v1::CommandError* const error = to->add_errors();
    error->set_queue(one.queue);
    error->set_first_value(one.first_value);
    error->set_last_value(one.last_value);
    ToProto(one.error, error->mutable_status());
    error->set_execution_state(ToProto(one.error.execution_state));
  }
  for (const QueuePosition& position : from->progress) ToProto(position, to->add_progress());
  if (from->window_bytes != 0) to->set_window_bytes(from->window_bytes);
}

}  // namespace ttfd
