// Whether a command fits the rings of a hardware queue now: how many bytes its records take at most.
#include <algorithm>
#include <optional>

#include "runtime/command/command_check.h"
#include "runtime/command/control_encoder.h"
#include "runtime/command/launch_encoder.h"
#include "runtime/command/trace_layout.h"
#include "runtime/command/transfer_encoder.h"
#include "runtime/dispatch/card_dispatcher.h"

namespace ttfd {
namespace {

// Of the waits and events with which one queue tells another how far it is.
constexpr uint64_t kQueueEventBytes = 4 * (abi::kMaxSubDevices + 1) * abi::kEntryAlignment;
// Of the launch that only drops the instruction caches of a program's workers: its message, a list of
// rectangles, a table of targets, and a wait.
constexpr uint64_t kDropCachesBytes = 4096;
// A WAIT for each stream, and a STALL, may come before any command.
constexpr uint64_t kWaitBytes = (abi::kMaxSubDevices + 1) * abi::kEntryAlignment;

}  // namespace

uint64_t CardDispatcher::MaxTraceRecordBytes(const Trace& trace) const {
  uint64_t bytes = TraceBytes(trace) * 5 / 4;
  for (const auto& program : trace.programs) {
    for (const ProgramImage& image : program->images) bytes += MaxImageRecordBytes(image);
    bytes += kDropCachesBytes;
  }
  return bytes;
}

uint64_t CardDispatcher::MaxRecordBytes(const Route& route, const Command& command) const {
  const uint32_t max_record_bytes = geometry_.max_record_bytes();
  if (const auto* write = std::get_if<WriteCommand>(&command)) {
    return kWaitBytes + WriteRecordBytes(write->region, write->offset, write->data.size(),
                                         geometry_, max_record_bytes);
  }
  if (const auto* fill = std::get_if<FillCommand>(&command)) {
    return kWaitBytes +
           WriteRecordBytes(fill->region, fill->offset, fill->size, geometry_, max_record_bytes);
  }
  if (const auto* read = std::get_if<ReadCommand>(&command)) {
    return kWaitBytes + ReadRecordBytes(*read, geometry_, max_piece_bytes_);
  }
  if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    return kWaitBytes + CopyRecordBytes(*copy, geometry_);
  }
  const auto* replay = std::get_if<ReplayTraceCommand>(&command);
  std::optional<uint32_t> number;
  if (replay != nullptr) number = replay->trace->sub_device;
  const uint64_t enter = kWaitBytes + launches_.MaxEnterBytes(route, number);
  if (const auto* launch = std::get_if<LaunchCommand>(&command)) {
    return enter + MaxLaunchRecordBytes(*launch->program, launch->arguments);
  }
  if (const auto* record = std::get_if<RecordTraceCommand>(&command)) {
    return enter + MaxTraceRecordBytes(*record->trace);
  }
  uint64_t patches = 0;
  for (const TracePatch& patch : replay->patches) {
    const LaunchRecords& records = *replay->trace->launches[patch.launch].records;
    records.ForEachArgument(patch.kernel, [&patches](uint32_t, uint32_t size) {
      patches += size + 4 * abi::kEntryAlignment;
    });
  }
  if (replay->trace->prints) patches = ~uint64_t{0};
  patches = std::min(patches, TraceBytes(*replay->trace) * 5 / 4);
  return enter + patches + kMaxEventRecordBytes +
         (launches_.NeedsPlacing(*replay->trace) ? MaxTraceRecordBytes(*replay->trace) : 0);
}

StatusOr<bool> CardDispatcher::HasRoomForEvent(uint32_t queue) {
  StatusOr<bool> room = queues_[queue].link->HasRoom(kQueueEventBytes, true);
  if (!room.ok()) return Lose(room.status());
  return room;
}

StatusOr<bool> CardDispatcher::HasRoomFor(const Route& route, const Command& command) {
  RETURN_IF_ERROR(lost_);
  RETURN_IF_ERROR(CheckCommand(route, command, geometry_));
  CardQueue& queue = queues_[route.hardware_queue];
  // The worker counters stay comparable; an event makes room.
  if (std::holds_alternative<LaunchCommand>(command) &&
      !queue.ordering.HasCompletionsFor(geometry_.worker_count())) {
    return false;
  }
  StatusOr<bool> room = queue.link->HasRoom(MaxRecordBytes(route, command), queue.idle());
  // Workers or kernels may come from another queue, which is then asked to tell when it is done with them.
  const bool kernels = std::holds_alternative<LaunchCommand>(command) ||
                       std::holds_alternative<RecordTraceCommand>(command) ||
                       std::holds_alternative<ReplayTraceCommand>(command);
  for (uint32_t other = 0; kernels && other < kHardwareQueues && room.ok() && *room; ++other) {
    if (other != route.hardware_queue) room = HasRoomForEvent(other);
  }
  if (!room.ok()) return Lose(room.status());
  return room;
}

}  // namespace ttfd
