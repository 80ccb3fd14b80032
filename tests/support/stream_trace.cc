// A random stream's traces: commands put into device memory, replayed, patched.
#include <algorithm>

#include "tests/support/stream_emit.h"
#include "tests/support/stream_queue.h"

namespace ttfd::testing {

size_t StreamQueue::TraceSlice(size_t number) const {
  size_t at = queue_ * kTracesOfQueue + number;
  for (size_t i = 0;; ++i) {
    if (world_.slices[i].kind == SliceKind::kTrace && at-- == 0) return i;
  }
}

// What a trace finds when it is replayed is not what there is now: it brings all it needs along, and the
// counters are zero before it.
void StreamQueue::RecordTrace() {
  const uint32_t number = world_.Pick(0, kTracesOfQueue - 1);
  Trace& trace = traces_[number];
  trace = Trace();
  trace.log_page = world_.Pick(abi::kMinExecPageShift, abi::kMaxExecPageShift);
  const auto banks = static_cast<uint32_t>(world_.layout.dram_xy.size());
  const uint32_t most = std::min(kTraceBytes * banks, world_.Pick(1, 12) * 2048);
  const Carried carried = carried_;
  const std::vector<Slice> slices = world_.slices;
  const uint32_t events = events_;
  recording_ = &trace;
  SyncPrefetch();
  std::fill(carried_.expected.begin(), carried_.expected.end(), 0);
  SetWriteOffsets();
  carried_.ring_offset = carried_.ring_write_pointer = 0;
  Emit([](RecordWriter& writer) { writer.SetRingbufferOffset(0, true); });
  SetGoTargets();
  // The last operation may be longer than what is left: then it is taken back.
  Trace kept = trace;
  for (Carried before = carried_;; before = carried_, kept = trace) {
    std::vector<std::pair<bool, bool>> flags;
    for (const Slice& slice : world_.slices) {
      flags.emplace_back(slice.multicast_pending, slice.unknown_to_prefetch);
    }
    Operation();
    if (trace.bytes.size() + abi::kEntryAlignment <= most) continue;
    trace = kept;
    carried_ = before;
    for (size_t i = 0; i < flags.size(); ++i) {
      world_.slices[i].multicast_pending = flags[i].first;
      world_.slices[i].unknown_to_prefetch = flags[i].second;
    }
    break;
  }
  Emit([](RecordWriter& writer) { writer.ExecBufEnd(); });
  recording_ = nullptr;
  for (size_t i = 0; i < world_.slices.size(); ++i) {
    if (world_.slices[i].owner != queue_) continue;
    if (world_.slices[i].multicast_pending) trace.multicast_pending.insert(i);
    if (world_.slices[i].unknown_to_prefetch) trace.unknown_to_prefetch.insert(i);
  }
  trace.after = carried_;
  carried_ = carried;
  world_.slices = slices;
  events_ = events;
  UploadTrace(number);
  ReplayTrace();
}

void StreamQueue::UploadTrace(size_t number) {
  const Trace& trace = traces_[number];
  const Slice& slice = world_.slices[TraceSlice(number)];
  const uint32_t page_bytes = 1u << trace.log_page;
  const uint32_t most = std::min(InlineRoom() / 16 * 16 - 32, page_bytes);
  const auto banks = static_cast<uint32_t>(world_.layout.dram_xy.size());
  for (uint32_t at = 0; at < trace.bytes.size();) {
    const uint32_t page = at / page_bytes;
    const uint32_t size = std::min(
        {most, page_bytes - at % page_bytes, static_cast<uint32_t>(trace.bytes.size()) - at});
    auto write = Command<abi::WriteLinear>(abi::DispatchId::kWriteLinear);
    write.noc_xy = world_.layout.dram_xy[page % banks];
    write.address = slice.address + page / banks * page_bytes + at % page_bytes;
    write.length = size;
    Dispatch(write, ByteSpan(trace.bytes).subspan(at, size));
    at += size;
  }
  BeforeWrite(TraceSlice(number), false);
}

void StreamQueue::ReplayTrace() {
  const uint32_t number = world_.Pick(0, kTracesOfQueue - 1);
  const Trace& trace = traces_[number];
  if (trace.bytes.empty()) return;
  for (const size_t slice : trace.slices) {
    if (world_.slices[slice].owner != queue_) return;
  }
  for (size_t i = 0; i < sub_devices_.size(); ++i) AwaitGos(i, true);
  BeforeRead(TraceSlice(number));
  const uint32_t pages =
      DivideRoundUp(static_cast<uint32_t>(trace.bytes.size()), uint32_t{1} << trace.log_page);
  const auto address = static_cast<uint32_t>(world_.slices[TraceSlice(number)].address);
  std::vector<std::byte> exec(abi::kEntryAlignment);
  RecordWriter(exec).ExecBuf(address, trace.log_page, pages);
  if (world_.OneIn(2) || entry_.size() + exec.size() > world_.options.command_ring_bytes / 2) {
    CloseEntry();
  }
  entry_.insert(entry_.end(), exec.begin(), exec.end());
  CloseEntry(true);
  carried_ = trace.after;
  for (Slice& slice : world_.slices) {
    if (slice.owner == queue_) slice.multicast_pending = slice.unknown_to_prefetch = false;
  }
  for (const size_t slice : trace.multicast_pending) world_.slices[slice].multicast_pending = true;
  for (const size_t slice : trace.unknown_to_prefetch) {
    world_.slices[slice].unknown_to_prefetch = true;
  }
}

// 16 bytes of data that a recorded command carries.
void StreamQueue::PatchTrace() {
  const uint32_t number = world_.Pick(0, kTracesOfQueue - 1);
  Trace& trace = traces_[number];
  if (trace.data.empty()) return;
  const auto [begin, end] =
      trace.data[world_.Pick(0, static_cast<uint32_t>(trace.data.size()) - 1)];
  const uint32_t first = AlignUp(begin, 16u);
  if (first + 16 > end) return;
  const uint32_t at = first + world_.Pick(0, (end - first) / 16 - 1) * 16;
  const auto data = world_.Data(16);
  std::copy(data.begin(), data.end(), trace.bytes.begin() + at);
  const uint32_t page_bytes = 1u << trace.log_page;
  const auto banks = static_cast<uint32_t>(world_.layout.dram_xy.size());
  auto write = Command<abi::WriteLinear>(abi::DispatchId::kWriteLinear);
  write.noc_xy = world_.layout.dram_xy[at / page_bytes % banks];
  write.address = world_.slices[TraceSlice(number)].address + at / page_bytes / banks * page_bytes +
                  at % page_bytes;
  write.length = 16;
  Dispatch(write, data);
  BeforeWrite(TraceSlice(number), false);
}

}  // namespace ttfd::testing
