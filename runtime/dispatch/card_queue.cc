// One hardware queue of a booted card.
#include "runtime/dispatch/card_queue.h"

#include "runtime/command/control_encoder.h"

namespace ttfd {

void CardQueue::Forget() {
  link.reset();
  ordering = Ordering();
  reads.Clear();
  timeline.Forget();
  go_table.Clear();
  marks_.clear();
  completed_mark_ = {};
  entries_done_ = 0;
}

uint64_t CardQueue::Submitted(uint32_t first_entry) {
  ordering.Encoded();
  marks_.push_back({ordering.Now(), first_entry});
  return timeline.Submit();
}

Status CardQueue::Event(uint32_t number, uint64_t ticket) {
  return EventBehind(number, ticket,
                     ticket > timeline.completed() ? MarkOf(ticket) : Ordering::Mark{});
}

Status CardQueue::EventBehind(uint32_t number, uint64_t ticket, const Ordering::Mark& mark) {
  RETURN_IF_ERROR(ordering.BeforeTelling(*link, mark));
  RETURN_IF_ERROR(EncodeEvent(timeline.next_event(), static_cast<uint16_t>(number),
                              reads.ExpectEvent(), *link));
  timeline.Ask(ticket, {mark, link->entries_appended()});
  return link->Flush();
}

Status CardQueue::Seen(const CompletionQueue::Record& record) {
  RETURN_IF_ERROR(reads.CheckTurn(record));
  if (record.command.is_event == 0) return reads.Deliver(record);
  const auto id = record.first.size() >= sizeof(uint32_t) ? LoadAt<uint32_t>(record.first.data())
                                                          : ~timeline.due();
  const uint64_t before = timeline.completed();
  const auto event = timeline.Seen(id);
  if (!event.has_value()) {
    return Internal("the card reported event {} where {} is due", id, timeline.due());
  }
  const auto done = static_cast<std::ptrdiff_t>(timeline.completed() - before);
  if (done > 0) {
    completed_mark_ = marks_[static_cast<size_t>(done) - 1].mark;
    marks_.erase(marks_.begin(), marks_.begin() + done);
  }
  entries_done_ = event->mark.entries;
  ordering.Happened(event->mark.ordering);
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
  if (records > 0 && timeline.idle()) {
    RETURN_IF_ERROR(completions.Acknowledge(true));
    completions.Clear();
    link->ring().ClearBelow(entries_done_);
  }
  return records;
}

}  // namespace ttfd
