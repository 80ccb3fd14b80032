// The next slice of a queue, and of each kind of operation.
#include "daemon/session/slice_maker.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace ttfd {

void SliceMaker::MakeNext(SessionQueue& queue) {
  QueueTimeline& timeline = queue.timeline;
  while (queue.slices.next() == nullptr && timeline.passed() < timeline.begun()) {
    const std::shared_ptr<Operation>& operation = timeline.at(timeline.passed());
    if (operation->error || queue.errors.IsFailing(operation->first_value)) return;
    Slice slice;
    if (AllMade(*operation)) {
      if (!operation->counted) AddWaits(queue, *operation);
      if (!operation->counted && !queue.after.empty()) queue.slices.AddJoin(operation->last_value);
      timeline.PassNext();
      continue;
    }
    if (!Next(*operation, &slice)) return;
    if (!slice.runs_kernels()) slice.timeout = timeouts_.own_operation();
    slice.first = !std::exchange(operation->counted, true);
    if (slice.first) AddWaits(queue, *operation);
    slice.after = std::exchange(queue.after, {});
    slice.queue = &queue;
    slice.operation = operation;
    slice.route = queue.route;
    slice.times.arrived = operation->arrived;
    queue.slices.Append(std::move(slice));
  }
}

void SliceMaker::AddWaits(SessionQueue& queue, const Operation& op) const {
  for (const QueuePosition& wait : op.waits) {
    const SessionQueue& other = queues_.At(wait.queue);
    if (other.Ended(wait.value)) continue;
    const auto known = std::find_if(queue.after.begin(), queue.after.end(),
                                    [&](const QueueWait& one) { return one.queue == &other; });
    if (known == queue.after.end()) {
      queue.after.push_back({&other, wait.value});
    } else {
      known->value = std::max(known->value, wait.value);
    }
  }
}

bool SliceMaker::Next(Operation& op, Slice* slice) {
  return std::visit([&](auto& one) { return NextOne(one, op, slice); }, op.body);
}

bool SliceMaker::AllMade(const Operation& op) {
  if (const auto* write = std::get_if<WriteOperation>(&op.body))
    return write->handed == write->size;
  if (const auto* read = std::get_if<ReadOperation>(&op.body)) return read->handed == read->size;
  if (const auto* copy = std::get_if<CopyOperation>(&op.body)) return copy->handed == copy->size;
  if (const auto* fill = std::get_if<FillOperation>(&op.body)) return fill->handed == fill->size;
  if (const auto* launch = std::get_if<LaunchOperation>(&op.body)) return launch->handed;
  if (const auto* record = std::get_if<RecordTraceOperation>(&op.body))
    return !record->last || record->handed_segments == TraceSegments(*record->trace->trace);
  if (const auto* replay = std::get_if<ReplayTraceOperation>(&op.body))
    return replay->handed_segments == TraceSegments(*replay->trace->trace);
  if (const auto* allocate = std::get_if<AllocateOperation>(&op.body)) {
    return allocate->handed == allocate->buffer->whole_bytes;
  }
  return true;
}

uint64_t SliceMaker::SliceBytes(const Buffer& buffer, uint64_t left) const {
  const uint64_t most =
      std::min<uint64_t>(buffer.card->description.transfer_bytes, limits_.chunk_bytes);
  return std::min(left, SliceLimit(buffer.memory, buffer.page_bytes, most));
}

// The same for a command that touches whole units.
uint64_t SliceMaker::UnitSliceBytes(const Buffer& buffer, uint64_t offset, uint64_t left,
                                    uint64_t limit) {
  const uint64_t most = std::min(
      limit, SliceLimit(buffer.memory, buffer.page_bytes, buffer.card->description.transfer_bytes));
  return left <= most ? left : CutAtUnit(buffer.page_bytes, offset, most);
}

bool SliceMaker::NextOne(WriteOperation& write, Operation&, Slice* slice) {
  if (write.slices.empty()) return false;
  slice->payload = std::move(write.slices.front());
  write.slices.erase(write.slices.begin());  // few: the payload in flight is limited
  slice->bytes = slice->payload.size();
  slice->command = WriteCommand{write.buffer->region(), write.offset + write.handed, {}};
  write.handed += slice->bytes;
  return true;
}

bool SliceMaker::NextOne(ReadOperation& read, Operation&, Slice* slice) {
  const uint64_t size = SliceBytes(*read.buffer, read.size - read.handed);
  if (size == 0) return false;
  const uint64_t most = use_.OutputLimit(limits_.read_bytes);
  if (outbox_.data_bytes() + size > most) return false;
  slice->read = std::make_unique<ReadPart>(&outbox_, read.handed, size);
  std::string* const into = &slice->read->data;
  slice->command =
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
  slice->bytes = size;
  read.handed += size;
  return true;
}

bool SliceMaker::NextOne(CopyOperation& copy, Operation&, Slice* slice) {
  // Where one side may be cut the other may too (CopyKeepsUnits).
  const uint64_t left = copy.size - copy.handed;
  const uint64_t to_limit =
      SliceLimit(copy.to->memory, copy.to->page_bytes, copy.to->card->description.transfer_bytes);
  const uint64_t size = UnitSliceBytes(*copy.from, copy.from_offset + copy.handed, left, to_limit);
  if (size == 0) return false;
  slice->command = CopyCommand{copy.from->region(), copy.from_offset + copy.handed,
                               copy.to->region(), copy.to_offset + copy.handed, size};
  slice->bytes = size;
  copy.handed += size;
  return true;
}

bool SliceMaker::NextOne(FillOperation& fill, Operation&, Slice* slice) {
  const uint64_t at = fill.offset + fill.handed;
  const uint64_t size =
      UnitSliceBytes(*fill.buffer, at, fill.size - fill.handed, kMaxTransferBytes);
  if (size == 0) return false;
  // A slice may end within a word.
  const uint32_t word = std::rotr(fill.word, static_cast<int>(fill.handed % 4 * 8));
  slice->command = FillCommand{fill.buffer->region(), at, size, word};
  slice->bytes = size;
  fill.handed += size;
  return true;
}

// Zeroes all that the buffer takes: a kernel sees the end of the last page and what is between them.
bool SliceMaker::NextOne(AllocateOperation& allocate, Operation&, Slice* slice) {
  const uint64_t whole = allocate.buffer->whole_bytes;
  const uint64_t size =
      std::min(whole - allocate.handed, allocate.buffer->card->description.transfer_bytes);
  if (size == 0) return false;
  slice->command = FillCommand{allocate.buffer->whole(), allocate.handed, size, 0};
  slice->bytes = size;
  allocate.handed += size;
  return true;
}

bool SliceMaker::NextOne(LaunchOperation& launch, Operation&, Slice* slice) {
  if (std::exchange(launch.handed, true)) return false;
  slice->command = LaunchCommand{launch.program->program, std::move(launch.resolved)};
  slice->launches = 1;
  slice->programs = launch.program->ids;
  slice->timeout = TimeoutOf(launch.timeout);
  return true;
}

// A client may be stricter than the administrator, not more patient: others wait for the card.
Duration SliceMaker::TimeoutOf(Duration asked) const {
  const Duration most = timeouts_.kernel();
  return asked != Duration::zero() ? std::min(most, asked) : most;
}

bool SliceMaker::NextOne(RecordTraceOperation& record, Operation& op, Slice* slice) {
  if (AllMade(op)) return false;
  const uint32_t segment = record.handed_segments++;
  const TraceObject& trace = *record.trace;
  slice->command = RecordTraceCommand{trace.trace, trace.memory.region(), segment};
  slice->bytes = TraceSegmentExtent(*trace.trace, segment).bytes;
  return true;
}

bool SliceMaker::NextOne(ReplayTraceOperation& replay, Operation& op, Slice* slice) {
  if (AllMade(op)) return false;
  const uint32_t segment = replay.handed_segments++;
  const TraceObject& trace = *replay.trace;
  const SegmentExtent extent = TraceSegmentExtent(*trace.trace, segment);
  slice->command = ReplayTraceCommand{trace.trace, replay.TakePatches(extent.end), segment};
  slice->launches = extent.end - extent.begin;
  slice->programs = trace.ids[segment];
  slice->timeout = TimeoutOf(trace.timeout);
  return true;
}

}  // namespace ttfd
