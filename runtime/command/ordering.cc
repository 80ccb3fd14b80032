// What must be waited for before the next command may act.
#include "runtime/command/ordering.h"

#include <algorithm>

#include "runtime/abi/launch.h"
#include "runtime/command/record_writer.h"

namespace ttfd {

Status Ordering::Wait(RecordSink& sink, uint8_t flags, uint64_t workers, bool stall) {
  const uint32_t wait_bytes = InlineRecordBytes(sizeof(abi::Wait));
  const uint32_t bytes = wait_bytes + (stall ? abi::kEntryAlignment : 0);
  ASSIGN_OR_RETURN(MutableByteSpan memory, sink.Append(bytes));
  RecordWriter writer(memory);
  abi::Wait wait{};
  wait.id = abi::DispatchId::kWait;
  wait.flags = flags;
  if ((flags & abi::kWaitStream) != 0) {
    wait.stream = abi::kFirstWorkerStream;
    wait.count = static_cast<uint32_t>(workers);
    waited_workers_ = std::max(waited_workers_, workers);
  }
  if ((flags & abi::kWaitBarrier) != 0) barriered_effects_ = effects_;
  writer.Dispatch(wait);
  if (stall) {
    writer.Stall();
    stalled_effects_ = effects_;
  }
  return OkStatus();
}

Status Ordering::WaitForWorkers(RecordSink& sink, uint64_t workers) {
  if (workers <= waited_workers_) return OkStatus();
  return Wait(sink, abi::kWaitStream, workers, false);
}

Status Ordering::BeforeWrite(RecordSink& sink) { return WaitForWorkers(sink, launched_workers_); }

Status Ordering::BeforeRead(RecordSink& sink) {
  if (stalled_effects_ == effects_) return OkStatus();
  uint8_t flags = abi::kWaitBarrier | abi::kWaitNotifyPrefetch;
  if (launched_workers_ > waited_workers_) flags |= abi::kWaitStream;
  return Wait(sink, flags, launched_workers_, true);
}

Status Ordering::BeforeEvent(RecordSink& sink) {
  uint8_t flags = 0;
  if (barriered_effects_ != effects_) flags |= abi::kWaitBarrier;
  if (launched_workers_ > waited_workers_) flags |= abi::kWaitStream;
  if (flags == 0) return OkStatus();
  return Wait(sink, flags, launched_workers_, false);
}

void Ordering::Happened(const Mark& mark) {
  waited_workers_ = std::max(waited_workers_, mark.workers);
  stalled_effects_ = std::max(stalled_effects_, mark.effects);
  barriered_effects_ = std::max(barriered_effects_, mark.effects);
}

}  // namespace ttfd
