// One hardware queue of a booted card.
#include "runtime/card/card_queue.h"

#include <algorithm>
#include <utility>

#include "runtime/command/control_encoder.h"

namespace ttfd {
namespace {

// Bytes of each ring that are cleared at every poll for completions while the card is not idle.
constexpr uint32_t kClearedBytes = 4096;

}  // namespace

void CardQueue::Forget() {
  if (!pending_.empty()) {
    if (unknown_to_ == 0) unknown_after_ = completed();
    unknown_to_ = timeline.submitted();
  }
  link.reset();
  Drop();
  ordering.now() = Ordering();
  reads.Clear();
  timeline.Forget();
  go_table.now().Clear();
  pending_.clear();
  ended_.clear();
  independent_ = 0;
  in_order_ = {};
  answered_ = {};
  entries_done_ = 0;
}

void CardQueue::Plan::Clear() {
  waits.Clear();
  batch.Clear();
  sink = nullptr;
  pieces.clear();
}

void CardQueue::Drop() {
  plan.Clear();
  ordering.Drop();
  go_table.Drop();
}

StatusOr<bool> CardQueue::Fits(uint32_t events) {
  if (link->Fits({&plan.waits, &plan.batch}, events)) return true;
  RETURN_IF_ERROR(link->Flush());
  link->FreeFetched();
  return link->Fits({&plan.waits, &plan.batch}, events);
}

// Registers what is expected before the card can answer.
StatusOr<CardQueue::Begin> CardQueue::Commit() {
  Begin begin;
  begin.event = timeline.next_event() - 1;
  begin.gos = ordering.now().gos();
  if (link->ring().open() && !pending_.empty()) pending_.back().shares_entry = true;
  ordering.Commit();
  go_table.Commit();
  RETURN_IF_ERROR(link->Commit(plan.waits));
  begin.entry = link->ring().entries_closed();
  begin.offset = link->ring().open_bytes();
  reads.ExpectRead(std::move(plan.sink), plan.pieces);
  const Status committed = link->Commit(plan.batch);
  plan.Clear();
  if (!committed.ok()) return committed;
  return begin;
}

uint64_t CardQueue::Submitted(const Begin& begin, bool independent,
                              std::unique_ptr<TraceUndo> undo) {
  ordering.now().Encoded();
  Pending& one = pending_.emplace_back();
  one.ticket = timeline.Submit();
  one.mark = ordering->Now();
  one.mark.workers = in_order_;
  one.first_entry = begin.entry;
  one.first_offset = begin.offset;
  one.last_entry = link->ring().entries_closed();
  one.last_offset = link->ring().open_bytes();
  one.event_before = begin.event;
  one.independent = independent;
  one.undo = std::move(undo);
  for (uint32_t stream = 0; stream < in_order_.size(); ++stream) {
    const uint64_t gos = ordering->gos()[stream];
    if (gos == begin.gos[stream]) continue;
    const uint64_t behind = ordering->launched_workers(stream);
    one.launches = {stream, begin.gos[stream] + 1, gos, behind, ordering->OnWire(stream, behind)};
    one.mark.workers[stream] = behind;
    if (!independent) in_order_[stream] = behind;
  }
  independent_ += independent ? 1 : 0;
  return one.ticket;
}

const CardQueue::Pending* CardQueue::Find(uint64_t ticket) const {
  const auto found =
      std::lower_bound(pending_.begin(), pending_.end(), ticket,
                       [](const Pending& known, uint64_t wanted) { return known.ticket < wanted; });
  return found == pending_.end() || found->ticket != ticket ? nullptr : &*found;
}

void CardQueue::Undo(uint64_t ticket) {
  const Pending* const one = Find(ticket);
  if (one != nullptr && one->undo != nullptr) one->undo->Restore();
}

QueueState CardQueue::state() const {
  QueueState state;
  state.entries_announced = link->ring().entries_closed();
  state.entries_taken = link->ring().entries_freed();
  state.awaits_completions = timeline.waits_for_events() || reads.waits();
  state.events_received = timeline.due() - 1;
  state.events_encoded = timeline.next_event() - 1;
  state.completion_pages_read = link->completions().acknowledged();
  state.gos = ordering->gos();
  state.launched = ordering->launched_workers();
  for (uint32_t stream = 0; stream < state.base.size(); ++stream) {
    state.base[stream] = ordering->base(stream);
  }
  state.in_flight.assign(pending_.begin(), pending_.end());
  return state;
}

StatusOr<bool> CardQueue::Event(uint32_t number, uint64_t ticket) {
  const auto last = std::find_if(pending_.rbegin(), pending_.rend(), [ticket](const Pending& one) {
    return !one.independent && one.ticket <= ticket;
  });
  return EventBehind(number, ticket, last == pending_.rend() ? Ordering::Mark() : last->mark);
}

StatusOr<bool> CardQueue::EventBehind(uint32_t number, uint64_t ticket,
                                      const Ordering::Mark& mark) {
  ordering.Change().BeforeTelling(plan.batch, mark);
  EncodeEvent(timeline.next_event(), static_cast<uint16_t>(number), reads.next_check(), plan.batch);
  StatusOr<bool> fits = Fits(0);
  if (!fits.ok() || !*fits) {
    Drop();
    return fits;
  }
  RETURN_IF_ERROR(Commit().status());
  reads.ExpectEvents(1);
  timeline.Ask(ticket, {mark, link->entries_appended()});
  RETURN_IF_ERROR(link->Flush());
  return true;
}

void CardQueue::Done(uint64_t ticket, const StreamCounts& workers) {
  while (!pending_.empty() && !pending_.front().independent && pending_.front().ticket <= ticket) {
    ended_.push_back(pending_.front().ticket);
    pending_.pop_front();
  }
  if (independent_ == 0) return;
  std::erase_if(pending_, [&](const Pending& one) {
    const bool done = one.independent ? one.launches->behind <= workers[one.launches->stream]
                                      : one.ticket <= ticket;
    if (done && one.independent) --independent_;
    if (done) ended_.push_back(one.ticket);
    return done;
  });
}

// Keeps the records in the ring of launches that others have passed, for the diagnosis should one of them hang.
void CardQueue::KeepRecordsBelow(uint32_t entry) {
  constexpr size_t kMostBytes = 16 << 10;  // of one launch: the last, and the last piece whole
  for (Pending& one : pending_) {
    const bool passed = abi::CounterReached(entry, one.last_entry + (one.last_offset > 0 ? 1 : 0));
    if (independent_ == 0 || !passed) break;
    if (!one.independent || std::exchange(one.passed, true)) continue;
    size_t bytes = 0;
    for (const IssueRing::Entry& kept : link->ring().EntriesFrom(one.first_entry)) {
      if (abi::CounterReached(kept.number, one.last_entry + 1)) break;
      ByteSpan part = kept.bytes;
      if (kept.number == one.last_entry) part = part.first(one.last_offset);
      if (kept.number == one.first_entry) part = part.subspan(one.first_offset);
      if (part.empty()) continue;
      bytes += part.size();
      one.records.push_back({kept.number, {part.begin(), part.end()}});
    }
    while (bytes > kMostBytes && one.records.size() > 1) {
      bytes -= one.records.front().bytes.size();
      one.records.erase(one.records.begin());
    }
  }
}

Status CardQueue::Seen(const CompletionQueue::Record& record) {
  RETURN_IF_ERROR(reads.CheckTurn(record));
  if (record.command.is_event == 0) return reads.Deliver(record);
  const auto id = record.first.size() >= sizeof(uint32_t) ? LoadAt<uint32_t>(record.first.data())
                                                          : ~timeline.due();
  const auto event = timeline.Seen(id);
  if (!event.has_value()) {
    return Internal("the card reported event {} where {} is due", id, timeline.due());
  }
  Done(event->ticket, event->mark.ordering.workers);
  ordering.now().Happened(event->mark.ordering);
  FreeBelow(event->mark.entries);
  return OkStatus();
}

void CardQueue::FreeBelow(uint32_t entry) {
  if (abi::CounterReached(entries_done_, entry)) return;
  KeepRecordsBelow(entry);
  entries_done_ = entry;
  link->ring().FreeBelow(entry);
}

// Entries before a launch that has ended were taken by the card, and are done but for independent launches.
StatusOr<uint32_t> CardQueue::CollectIndependent() {
  StreamCounts answered{};
  for (uint32_t stream = 0; stream < answered.size(); ++stream) {
    ASSIGN_OR_RETURN(answered[stream], link->go_counts().Answered(stream, ordering->gos()[stream]));
  }
  if (answered == answered_) return 0;
  answered_ = answered;
  uint32_t entries = entries_done_;
  const size_t left = independent_;
  std::erase_if(pending_, [&](const Pending& one) {
    if (!one.independent || one.launches->last_go > answered[one.launches->stream]) return false;
    Ordering::Mark mark;
    mark.workers[one.launches->stream] = one.launches->behind;
    ordering.now().Happened(mark);
    entries = one.last_entry + (one.last_offset > 0 && !one.shares_entry ? 1 : 0);
    --independent_;
    ended_.push_back(one.ticket);
    return true;
  });
  FreeBelow(entries);
  return static_cast<uint32_t>(left - independent_);
}

StatusOr<uint32_t> CardQueue::Collect() {
  if (!idle() || !settled()) RETURN_IF_ERROR(link->Fetch());
  CompletionQueue& completions = link->completions();
  uint32_t records = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<CompletionQueue::Record> record, completions.Next());
    if (!record.has_value()) break;
    RETURN_IF_ERROR(Seen(*record));
    completions.Pop(*record);
    RETURN_IF_ERROR(completions.Acknowledge(false));
    ++records;
  }
  if (independent_ > 0) {
    ASSIGN_OR_RETURN(const uint32_t ended, CollectIndependent());
    records += ended;
  }
  if (records > 0 && idle()) {
    RETURN_IF_ERROR(completions.Acknowledge(true));
    completions.ClearAll();
    link->ring().ClearBelow(entries_done_, ~0u);
  } else {
    completions.Clear(kClearedBytes);
    link->ring().ClearBelow(entries_done_, kClearedBytes);
  }
  return records;
}

}  // namespace ttfd
