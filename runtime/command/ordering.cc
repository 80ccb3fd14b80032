// Waits before the next command of a hardware queue may act.
#include "runtime/command/ordering.h"

#include <algorithm>

#include "runtime/abi/launch.h"
#include "runtime/command/record_writer.h"

namespace ttfd {

bool Ordering::Mark::Covers(const Mark& other) const {
  if (writes < other.writes || commands < other.commands) return false;
  for (uint32_t stream = 0; stream < workers.size(); ++stream) {
    if (workers[stream] < other.workers[stream]) return false;
  }
  return true;
}

void Ordering::Mark::Raise(const Mark& other) {
  writes = std::max(writes, other.writes);
  commands = std::max(commands, other.commands);
  for (uint32_t stream = 0; stream < workers.size(); ++stream) {
    workers[stream] = std::max(workers[stream], other.workers[stream]);
  }
}

void Ordering::Wait(RecordBatch& batch, uint8_t flags, uint32_t stream, uint64_t workers) {
  const bool stall = (flags & abi::kWaitNotifyPrefetch) != 0;
  const uint32_t bytes = InlineRecordBytes(sizeof(abi::Wait)) + (stall ? abi::kEntryAlignment : 0);
  const MutableByteSpan memory = batch.Append(bytes);
  RecordWriter writer(memory);
  abi::Wait wait{};
  wait.id = abi::DispatchId::kWait;
  wait.flags = flags;
  if ((flags & (abi::kWaitStream | abi::kWaitClearStream)) != 0) {
    wait.stream = static_cast<uint16_t>(abi::kFirstWorkerStream + stream);
    wait.count = OnWire(stream, workers);
    waited_[stream] = std::max(waited_[stream], workers);
  }
  if ((flags & abi::kWaitBarrier) != 0) barriered_writes_ = writes_;
  writer.Dispatch(wait);
  if (stall) writer.Stall();
}

void Ordering::WaitForStreams(RecordBatch& batch, StreamMask kernels, const StreamCounts& workers,
                              uint8_t flags) {
  uint32_t last = abi::kMaxSubDevices;
  for (uint32_t stream = 0; stream < abi::kMaxSubDevices; ++stream) {
    if ((kernels >> stream & 1) == 0 || workers[stream] <= waited_[stream]) continue;
    if (last != abi::kMaxSubDevices) {
      Wait(batch, abi::kWaitStream, last, workers[last]);
    }
    last = stream;
  }
  if (last != abi::kMaxSubDevices) {
    Wait(batch, flags | abi::kWaitStream, last, workers[last]);
  } else if (flags != 0) {
    Wait(batch, flags, 0, 0);
  }
}

void Ordering::WaitForWorkers(RecordBatch& batch, uint32_t stream, uint64_t workers) {
  if (workers > waited_[stream]) Wait(batch, abi::kWaitStream, stream, workers);
}

void Ordering::Restart(RecordBatch& batch, uint32_t stream) {
  Wait(batch, abi::kWaitStream | abi::kWaitClearStream, stream, launched_[stream]);
  base_[stream] = launched_[stream];
}

bool Ordering::HasCompletionsFor(uint64_t workers) const {
  for (uint32_t stream = 0; stream < abi::kMaxSubDevices; ++stream) {
    if (outstanding(stream) + workers > hw::kStreamCounterReach) return false;
  }
  return true;
}

void Ordering::BeforeWrite(RecordBatch& batch, StreamMask kernels) {
  WaitForStreams(batch, kernels, launched_, 0);
}

void Ordering::BeforeRead(RecordBatch& batch, StreamMask kernels) {
  bool stalled = stalled_writes_ == writes_;
  for (uint32_t stream = 0; stream < abi::kMaxSubDevices; ++stream) {
    if ((kernels >> stream & 1) != 0 && launched_[stream] > stalled_[stream]) stalled = false;
  }
  if (stalled) return;

  WaitForStreams(batch, kernels, launched_, abi::kWaitBarrier | abi::kWaitNotifyPrefetch);
  stalled_writes_ = writes_;
  // The prefetcher now knows what the dispatcher has waited for on any stream.
  stalled_ = waited_;
}

void Ordering::BeforeTelling(RecordBatch& batch, const Mark& mark) {
  const uint8_t flags = barriered_writes_ < mark.writes ? abi::kWaitBarrier : uint8_t{0};
  WaitForStreams(batch, kAllStreams, mark.workers, flags);
}

void Ordering::Happened(const Mark& mark) {
  seen_.Raise(mark);
  barriered_writes_ = std::max(barriered_writes_, mark.writes);
  stalled_writes_ = std::max(stalled_writes_, mark.writes);
  for (uint32_t stream = 0; stream < abi::kMaxSubDevices; ++stream) {
    waited_[stream] = std::max(waited_[stream], mark.workers[stream]);
    stalled_[stream] = std::max(stalled_[stream], mark.workers[stream]);
  }
}

}  // namespace ttfd
