// One hardware queue of a booted card.
#include "runtime/dispatch/card_queue.h"

#include <algorithm>
#include <utility>

#include "runtime/command/control_encoder.h"
#include "runtime/hw/stream.h"

namespace ttfd {
namespace {

// Of each ring, every time the host looks for completions while the card is not at rest.
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
  apart_ = 0;
  in_order_ = {};
  entries_done_ = 0;
}

void CardQueue::Plan::Clear() {
  waits.Clear();
  batch.Clear();
  sink = nullptr;
  pieces.clear();
  events.clear();
}

void CardQueue::Drop() {
  plan.Clear();
  ordering.Drop();
  go_table.Drop();
}

StatusOr<bool> CardQueue::Fits(uint32_t events) {
  if (link->Fits({&plan.waits, &plan.batch}, events)) return true;
  RETURN_IF_ERROR(link->Flush());
  RETURN_IF_ERROR(link->ReadFetched());
  return link->Fits({&plan.waits, &plan.batch}, events);
}

// What is expected is known before the card can answer.
StatusOr<CardQueue::Begin> CardQueue::Commit() {
  Begin begin;
  begin.event = timeline.next_event() - 1;
  begin.workers = ordering.now().launched_workers();
  ordering.Commit();
  go_table.Commit();
  RETURN_IF_ERROR(link->Commit(plan.waits));
  begin.entry = link->ring().entries_closed();
  begin.offset = link->ring().open_bytes();
  reads.ExpectRead(std::move(plan.sink), plan.pieces);
  reads.ExpectEvents(static_cast<uint32_t>(plan.events.size()));
  for (EventMark& event : plan.events) {
    event.entries = begin.entry;
    timeline.Ask(0, event);
  }
  const Status committed = link->Commit(plan.batch);
  plan.Clear();
  if (!committed.ok()) return committed;
  return begin;
}

uint64_t CardQueue::Submitted(const Begin& begin, bool apart, std::unique_ptr<TraceUndo> undo) {
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
  one.apart = apart;
  one.undo = std::move(undo);
  // All launches of a command are counted on the stream of its workers.
  for (uint32_t stream = 0; stream < in_order_.size(); ++stream) {
    const uint64_t behind = ordering->launched_workers(stream);
    if (behind == begin.workers[stream]) continue;
    one.stream = stream;
    one.before = begin.workers[stream];
    one.behind = one.mark.workers[stream] = behind;
    if (!apart) in_order_[stream] = behind;
  }
  apart_ += apart ? 1 : 0;
  return one.ticket;
}

const CardQueue::Pending* CardQueue::Find(uint64_t ticket) const {
  const auto found =
      std::lower_bound(pending_.begin(), pending_.end(), ticket,
                       [](const Pending& known, uint64_t wanted) { return known.ticket < wanted; });
  return found == pending_.end() || found->ticket != ticket ? nullptr : &*found;
}

StatusOr<bool> CardQueue::HasReached(uint32_t stream, uint64_t workers) {
  if (ordering->seen_workers(stream) >= workers || !ordering->Comparable(stream)) {
    return ordering->Reached(stream, workers, 0);
  }
  ASSIGN_OR_RETURN(
      const uint32_t counter,
      ReadWord(link->dispatch_tile(),
               hw::StreamRegister(abi::kFirstWorkerStream + stream, hw::kStreamSpaceAvailable)));
  return ordering->Reached(stream, workers, counter);
}

StatusOr<bool> CardQueue::AnyRuns() {
  const StreamCounts& workers = ordering->launched_workers();
  for (uint32_t stream = 0; stream < workers.size(); ++stream) {
    if (!ordering->Comparable(stream)) continue;
    ASSIGN_OR_RETURN(const bool reached, HasReached(stream, workers[stream]));
    if (!reached) return true;
  }
  return false;
}

StatusOr<bool> CardQueue::HasNews() {
  for (const Pending& one : pending_) {
    if (!one.apart || one.asked) continue;
    ASSIGN_OR_RETURN(const bool ended, HasEnded(one));
    if (ended) return true;
  }
  return false;
}

void CardQueue::TakeBack(uint64_t ticket) {
  const Pending* const one = Find(ticket);
  if (one != nullptr && one->undo != nullptr) one->undo->Restore();
}

StatusOr<bool> CardQueue::Event(uint32_t number, uint64_t ticket) {
  Ordering::Mark mark;
  if (apart_ == 0) {  // then the last covers those before
    if (const Pending* const last = Find(ticket)) mark = last->mark;
    return EventBehind(number, ticket, mark);
  }
  for (const Pending& one : pending_) {
    if (one.ticket <= ticket) mark.Raise(one.mark);
  }
  ASSIGN_OR_RETURN(const bool asked, EventBehind(number, ticket, mark));
  for (Pending& one : pending_) one.asked |= asked && one.ticket <= ticket;
  return asked;
}

StatusOr<bool> CardQueue::EventBeside(uint32_t number, uint64_t ticket) {
  Ordering::Mark mark;
  const Pending* const last = ticket != 0 ? Find(ticket) : nullptr;
  if (last != nullptr) mark = last->mark;
  std::vector<Pending*> ended;
  uint32_t running = 0;  // streams on which a launch has not ended, and so no later one
  for (Pending& one : pending_) {
    if (!one.apart || one.asked || (running >> one.stream & 1) != 0) continue;
    ASSIGN_OR_RETURN(const bool reached, HasEnded(one));
    if (!reached) {
      running |= 1u << one.stream;
      continue;
    }
    ended.push_back(&one);
    mark.workers[one.stream] = std::max(mark.workers[one.stream], one.behind);
  }
  if (last == nullptr && ended.empty()) return true;
  ASSIGN_OR_RETURN(const bool asked, EventBehind(number, ticket, mark));
  for (Pending* one : ended) one->asked = asked;
  return asked;
}

void CardQueue::EncodePlannedEvent(uint32_t number) {
  const auto before = static_cast<uint32_t>(plan.events.size());
  EncodeEvent(timeline.next_event() + before, static_cast<uint16_t>(number),
              reads.next_check() + before, plan.batch);
}

StatusOr<bool> CardQueue::EventBehind(uint32_t number, uint64_t ticket,
                                      const Ordering::Mark& mark) {
  ordering.Change().BeforeTelling(plan.batch, mark);
  EncodePlannedEvent(number);
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

// Announced with what follows, in the same entry. So the event does not show that this entry is done.
void CardQueue::PlanEventOfRestart(uint32_t number, uint32_t stream) {
  Ordering::Mark mark;
  mark.workers[stream] = ordering->launched_workers(stream);
  mark.commands = ordering->Now().commands;
  EncodePlannedEvent(number);
  plan.events.push_back({mark, 0});
}

void CardQueue::Done(uint64_t ticket, const StreamCounts& workers) {
  while (!pending_.empty() && !pending_.front().apart && pending_.front().ticket <= ticket) {
    pending_.pop_front();
  }
  if (apart_ == 0) return;
  std::erase_if(pending_, [&](const Pending& one) {
    const bool done = one.apart ? one.behind <= workers[one.stream] : one.ticket <= ticket;
    if (done && one.apart) --apart_;
    return done;
  });
}

// What the ring held of launches that others have passed is looked at should one of them hang.
void CardQueue::KeepRecordsBelow(uint32_t entry) {
  constexpr size_t kMostBytes = 16 << 10;  // of one launch: the last, and the last piece whole
  for (Pending& one : pending_) {
    const bool passed = abi::CounterReached(entry, one.last_entry + (one.last_offset > 0 ? 1 : 0));
    if (apart_ == 0 || !passed) break;
    if (!one.apart || std::exchange(one.passed, true)) continue;
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
  KeepRecordsBelow(event->mark.entries);
  entries_done_ = event->mark.entries;
  ordering.now().Happened(event->mark.ordering);
  link->ring().FreeBelow(event->mark.entries);
  return OkStatus();
}

StatusOr<uint32_t> CardQueue::Collect() {
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
