// Slices of each kind of command.
#include "daemon/session/slice_maker.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace ttfd {

bool SliceMaker::Next(Task& task, Work* work) {
  return std::visit([&](auto& one) { return NextOne(one, task, work); }, task.work);
}

bool SliceMaker::AllMade(const Task& task) {
  if (const auto* write = std::get_if<WriteTask>(&task.work)) return write->handed == write->size;
  if (const auto* read = std::get_if<ReadTask>(&task.work)) return read->handed == read->size;
  if (const auto* copy = std::get_if<CopyTask>(&task.work)) return copy->handed == copy->size;
  if (const auto* fill = std::get_if<FillTask>(&task.work)) return fill->handed == fill->size;
  if (const auto* launch = std::get_if<LaunchTask>(&task.work)) return launch->handed;
  if (const auto* record = std::get_if<RecordTraceTask>(&task.work))
    return !record->last || record->handed_segments == TraceSegments(*record->trace->trace);
  if (const auto* replay = std::get_if<ReplayTraceTask>(&task.work))
    return replay->handed_segments == TraceSegments(*replay->trace->trace);
  if (const auto* allocate = std::get_if<AllocateTask>(&task.work)) {
    return allocate->handed == allocate->buffer->whole_bytes;
  }
  return true;
}

uint64_t SliceMaker::SliceBytes(const Buffer& buffer, uint64_t left) const {
  const uint64_t most = std::min<uint64_t>(kMaxTransferBytes, environment_.limits.chunk_bytes);
  return std::min(left, SliceLimit(buffer.memory, buffer.page_bytes, most));
}

// The same for a command that touches whole units.
uint64_t SliceMaker::UnitSliceBytes(const Buffer& buffer, uint64_t offset, uint64_t left,
                                    uint64_t limit) {
  const uint64_t most =
      std::min(limit, SliceLimit(buffer.memory, buffer.page_bytes, kMaxTransferBytes));
  return left <= most ? left : CutAtUnit(buffer.page_bytes, offset, most);
}

bool SliceMaker::NextOne(WriteTask& write, Task&, Work* work) {
  if (write.slices.empty()) return false;
  work->payload = std::move(write.slices.front());
  write.slices.erase(write.slices.begin());  // few: the payload in flight is limited
  work->bytes = work->payload.size();
  work->command = WriteCommand{write.buffer->region(), write.offset + write.handed, {}};
  write.handed += work->bytes;
  return true;
}

bool SliceMaker::NextOne(ReadTask& read, Task&, Work* work) {
  const uint64_t size = SliceBytes(*read.buffer, read.size - read.handed);
  if (size == 0) return false;
  const uint64_t most = use_.OutputLimit(environment_.windows.read_bytes);
  if (outbox_.data_bytes() + size > most) {
    read_blocked_ = true;
    return false;
  }
  work->read_into = std::make_unique<std::string>();
  std::string* const into = work->read_into.get();
  work->command =
      ReadCommand{read.buffer->region(), read.offset + read.handed, size,
                  [into, size](uint64_t at, ByteSpan data) {
                    if (into->empty()) into->reserve(size);
                    if (at == into->size()) {  // as it is for most layouts, and costs no zeroing
                      into->append(reinterpret_cast<const char*>(data.data()), data.size());
                      return;
                    }
                    if (into->size() < size) into->resize(size);
                    std::memcpy(into->data() + at, data.data(), data.size());
                  }};
  work->bytes = size;
  work->read_offset = read.handed;
  read.handed += size;
  outbox_.BeginRead(size);
  return true;
}

bool SliceMaker::NextOne(CopyTask& copy, Task&, Work* work) {
  // Where one side may be cut the other may too (CopyKeepsUnits).
  const uint64_t left = copy.size - copy.handed;
  const uint64_t to_limit = SliceLimit(copy.to->memory, copy.to->page_bytes, kMaxTransferBytes);
  const uint64_t size = UnitSliceBytes(*copy.from, copy.from_offset + copy.handed, left, to_limit);
  if (size == 0) return false;
  work->command = CopyCommand{copy.from->region(), copy.from_offset + copy.handed,
                              copy.to->region(), copy.to_offset + copy.handed, size};
  work->bytes = size;
  copy.handed += size;
  return true;
}

bool SliceMaker::NextOne(FillTask& fill, Task&, Work* work) {
  const uint64_t at = fill.offset + fill.handed;
  const uint64_t size =
      UnitSliceBytes(*fill.buffer, at, fill.size - fill.handed, kMaxTransferBytes);
  if (size == 0) return false;
  // A slice may end within a word.
  const uint32_t word = std::rotr(fill.word, static_cast<int>(fill.handed % 4 * 8));
  work->command = FillCommand{fill.buffer->region(), at, size, word};
  work->bytes = size;
  fill.handed += size;
  return true;
}

// Zeroes all that the buffer takes: a kernel sees the end of the last page and what is between them.
bool SliceMaker::NextOne(AllocateTask& allocate, Task&, Work* work) {
  const uint64_t whole = allocate.buffer->whole_bytes;
  const uint64_t size = std::min(whole - allocate.handed, kMaxTransferBytes);
  if (size == 0) return false;
  work->command = FillCommand{allocate.buffer->whole(), allocate.handed, size, 0};
  work->bytes = size;
  allocate.handed += size;
  return true;
}

bool SliceMaker::NextOne(LaunchTask& launch, Task&, Work* work) {
  if (std::exchange(launch.handed, true)) return false;
  work->command = LaunchCommand{launch.program->program, std::move(launch.resolved)};
  work->launches = 1;
  work->programs = launch.program->ids;
  work->timeout = Patience(launch.timeout);
  return true;
}

// A client may be stricter than the administrator, not more patient: others wait for the card.
Duration SliceMaker::Patience(Duration asked) const {
  const Duration most = timeouts_.kernel();
  return asked != Duration::zero() ? std::min(most, asked) : most;
}

bool SliceMaker::NextOne(RecordTraceTask& record, Task& task, Work* work) {
  if (AllMade(task)) return false;
  const uint32_t segment = record.handed_segments++;
  const TraceObject& trace = *record.trace;
  work->command = RecordTraceCommand{trace.trace, trace.memory.region(), segment};
  work->bytes = TraceSegmentExtent(*trace.trace, segment).bytes;
  return true;
}

bool SliceMaker::NextOne(ReplayTraceTask& replay, Task& task, Work* work) {
  if (AllMade(task)) return false;
  const uint32_t segment = replay.handed_segments++;
  const TraceObject& trace = *replay.trace;
  const SegmentExtent extent = TraceSegmentExtent(*trace.trace, segment);
  work->command = ReplayTraceCommand{trace.trace, replay.TakePatches(extent.end), segment};
  work->launches = extent.end - extent.begin;
  work->programs = trace.ids[segment];
  work->timeout = Patience(trace.timeout);
  return true;
}

}  // namespace ttfd
