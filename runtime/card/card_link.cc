// The connection to a booted card.
#include "runtime/card/card_link.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/abi/host_queue.h"
#include "runtime/command/control_encoder.h"

namespace ttfd {
namespace {

MutableByteSpan CompletionRing(HostMemory& memory, const RingSizes& rings) {
  return memory.bytes().subspan(CompletionRingOffset(rings),
                                size_t{rings.completion_ring_pages} * abi::kCompletionPageBytes);
}

}  // namespace

StatusOr<std::unique_ptr<CardLink>> CardLink::Open(Device& device, Clock& clock,
                                                   const BootPlan& plan, HostMemory& host_memory,
                                                   const Settings& settings,
                                                   RecordFileWriter* capture) {
  ASSIGN_OR_RETURN(std::unique_ptr<Window> prefetch,
                   device.OpenWindow(UnicastTarget(plan.prefetch_tile)));
  ASSIGN_OR_RETURN(std::unique_ptr<Window> dispatch,
                   device.OpenWindow(UnicastTarget(plan.dispatch_tile)));
  return std::unique_ptr<CardLink>(new CardLink(clock, plan, host_memory, settings, capture,
                                                std::move(prefetch), std::move(dispatch)));
}

CardLink::CardLink(Clock& clock, const BootPlan& plan, HostMemory& host_memory,
                   const Settings& settings, RecordFileWriter* capture,
                   std::unique_ptr<Window> prefetch, std::unique_ptr<Window> dispatch)
    : clock_(clock),
      hardware_queue_(settings.hardware_queue),
      capture_(capture),
      start_(settings.capture_start),
      prefetch_(std::move(prefetch)),
      dispatch_(std::move(dispatch)),
      ring_(host_memory.bytes().subspan(abi::kIssueRingOffset, settings.rings.issue_ring_bytes),
            settings.rings.fetch_queue_entries, plan.max_entry_bytes),
      fetch_(*prefetch_,
             host_memory.bytes().subspan(abi::kFetchPointerOffset, sizeof(abi::FetchPointer)),
             plan.block.fetch_queue_address, plan.block.fetch_queue_entries),
      completions_(host_memory.bytes().subspan(abi::kCompletionPointerOffset,
                                               sizeof(abi::CompletionPointer)),
                   CompletionRing(host_memory, settings.rings), *dispatch_),
      go_counts_(host_memory.bytes().subspan(abi::kGoCountsOffset, sizeof(abi::GoCounts))) {
  if (plan.host_queue_address != 0) {
    bridge_.emplace(*prefetch_, plan.host_queue_address, host_memory.bytes(),
                    CompletionRing(host_memory, settings.rings));
  }
}

bool CardLink::Fits(std::initializer_list<const RecordBatch*> batches, uint32_t events) const {
  IssueRing::Space space = ring_.space();
  for (const RecordBatch* batch : batches) {
    for (size_t i = 0; i < batch->entries().size(); ++i) {
      const RecordBatch::Entry& entry = batch->entries()[i];
      if (!space.Take(entry.bytes, entry.stall)) return false;
    }
  }
  for (uint32_t event = 0; event < events; ++event) {
    if (!space.Take(kMaxEventRecords * abi::kEntryAlignment, true)) return false;
  }
  return true;
}

Status CardLink::CheckSize(std::initializer_list<const RecordBatch*> batches,
                           uint32_t events) const {
  uint64_t bytes = uint64_t{events} * kMaxEventRecords * abi::kEntryAlignment;
  uint64_t largest =
      0;  // what is skipped before an entry that does not fit before the end of the ring
  uint64_t entries = events;
  for (const RecordBatch* batch : batches) {
    entries += batch->entries().size();
    for (const RecordBatch::Entry& entry : batch->entries()) {
      bytes += entry.bytes;
      largest = std::max<uint64_t>(largest, entry.bytes);
    }
  }
  if (bytes + largest <= ring_.ring_bytes() && entries <= ring_.slots()) return OkStatus();
  return Error(StatusCode::kResourceExhausted,
               "the records of the command take {} bytes in {} entries; the issue ring "
               "(issue_ring_bytes) has {} bytes and {} entries",
               bytes + largest, entries, ring_.ring_bytes(), ring_.slots());
}

Status CardLink::Commit(const RecordBatch& batch) {
  const std::byte* copied = batch.copied().data();
  for (size_t i = 0; i < batch.entries().size(); ++i) {
    const RecordBatch::Entry& entry = batch.entries()[i];
    if (!ring_.CanExtend(entry.bytes)) RETURN_IF_ERROR(Flush());
    std::byte* to = ring_.Append(entry.bytes).data();
    for (const RecordBatch::Segment& segment : batch.SegmentsOf(i)) {
      const std::byte* from = segment.data;
      if (from == nullptr) from = std::exchange(copied, copied + segment.bytes);
      std::memcpy(to, from, segment.bytes);
      to += segment.bytes;
    }
    if (entry.stall) RETURN_IF_ERROR(Announce(true));
  }
  return OkStatus();
}

Status CardLink::Announce(bool stall) {
  if (!ring_.open()) return OkStatus();
  const IssueRing::Entry entry = ring_.Close();
  if (capture_ != nullptr) {
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(clock_.Now() - start_);
    capture_->Append(hardware_queue_, static_cast<uint64_t>(since.count()), entry.bytes);
  }
  if (bridge_.has_value()) RETURN_IF_ERROR(bridge_->Send(entry.bytes));
  return fetch_.Push(entry.number, static_cast<uint32_t>(entry.bytes.size()), stall);
}

}  // namespace ttfd
