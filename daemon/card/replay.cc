// Decides what happens to slices that were on a card that had to be reset.
#include "daemon/card/replay.h"

#include <algorithm>
#include <optional>

namespace ttfd {
namespace {

// Two regions share bytes only if they are the same buffer: an allocation has its address range in all banks.
using Place = std::pair<MemoryKind, uint32_t>;

std::optional<Place> ReadsFrom(const Command& command) {
  if (const auto* read = std::get_if<ReadCommand>(&command)) {
    return Place(read->region.kind, read->region.base_address);
  }
  if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    return Place(copy->from.kind, copy->from.base_address);
  }
  return std::nullopt;
}

std::optional<Place> WritesTo(const Command& command) {
  if (const auto* write = std::get_if<WriteCommand>(&command)) {
    return Place(write->region.kind, write->region.base_address);
  }
  if (const auto* fill = std::get_if<FillCommand>(&command)) {
    return Place(fill->region.kind, fill->region.base_address);
  }
  if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    return Place(copy->to.kind, copy->to.base_address);
  }
  return std::nullopt;
}

// `later` began only when `earlier` was done.
bool Follows(const SubmittedSlice& later, const SubmittedSlice& earlier) {
  if (later.slice.queue == earlier.slice.queue && later.slice.route == earlier.slice.route)
    return true;
  const uint32_t queue = earlier.slice.route.hardware_queue;
  return std::any_of(later.after.begin(), later.after.end(), [&](const Ticket& ticket) {
    return ticket.hardware_queue == queue && ticket.number >= earlier.ticket;
  });
}

class Decision {
 public:
  explicit Decision(std::span<Verdict> slices) : slices_(slices) {}

  void Run() {
    for (size_t i = 0; i < slices_.size(); ++i) {
      Verdict& one = slices_[i];
      if (one.entry->slice.runs_kernels()) Launch(i, &one);
    }
    // By then it is known which launches began.
    for (size_t i = 0; i < slices_.size(); ++i) {
      if (slices_[i].fate == WorkFate::kUndecided) Transfer(i, &slices_[i]);
    }
  }

 private:
  void Launch(size_t index, Verdict* one) {
    if (one->fate != WorkFate::kUndecided) return;
    if (one->state == ExecutionState::kCompleted) {
      return Say(one, WorkFate::kEnded, "all its workers had answered");
    }
    if (one->state == ExecutionState::kUnknown && BehindAnother(index)) {
      one->state = ExecutionState::kNotStarted;
    }
    if (one->state == ExecutionState::kNotStarted) {
      return Say(one, WorkFate::kReplayed, "it had not begun");
    }
    Say(one, WorkFate::kTouched, "its kernels were running, or may have been");
  }

  // Is there a launch before it, not ended, for whose workers it waited?
  bool BehindAnother(size_t index) const {
    const Slice& slice = slices_[index].entry->slice;
    return std::any_of(slices_.begin(), slices_.begin() + static_cast<ptrdiff_t>(index),
                       [&slice](const Verdict& before) {
                         const Slice& elder = before.entry->slice;
                         return elder.runs_kernels() && NotEnded(before.state) &&
                                ShareWorkers(elder, slice);
                       });
  }

  void Transfer(size_t index, Verdict* one) {
    const SubmittedSlice& entry = *one->entry;
    const std::optional<Place> source = ReadsFrom(entry.slice.command);
    for (size_t i = index + 1; i < slices_.size(); ++i) {
      const Verdict& later = slices_[i];
      const SubmittedSlice& other = *later.entry;
      if (other.slice.share().session != entry.slice.share().session ||
          later.state == ExecutionState::kNotStarted)
        continue;
      if (later.fate == WorkFate::kEnded && Follows(other, entry)) return Passed(one);
      if (!source.has_value()) continue;
      // What cannot have begun before it was done changed nothing under it, unless it was done.
      if (other.slice.runs_kernels()) {
        return Say(one, WorkFate::kTouched, "a later launch of its session may have changed it");
      }
      if (WritesTo(other.slice.command) == source) {
        return Say(one, WorkFate::kTouched, "a later write of its session may have changed it");
      }
    }
    Say(one, WorkFate::kReplayed,
        one->state == ExecutionState::kNotStarted ? "it had not begun" : "it can be done twice");
  }

  // Something that waited for it has ended.
  static void Passed(Verdict* one) {
    const Slice& slice = one->entry->slice;
    if (slice.read == nullptr || slice.read->data.size() == slice.bytes) {
      return Say(one, WorkFate::kEnded, "what waited for it had ended");
    }
    one->state = ExecutionState::kCompleted;
    Say(one, WorkFate::kTouched, "it was done, and its data is lost");
  }

  static void Say(Verdict* one, WorkFate fate, const char* why) {
    one->fate = fate;
    one->why = why;
  }

  const std::span<Verdict> slices_;
};

}  // namespace

bool ShareWorkers(const Slice& a, const Slice& b) {
  const TileSet& these = a.route.workers;  // none: all
  const TileSet& those = b.route.workers;
  return these.none() || those.none() || (these & those).any();
}

bool MayOverlap(const Slice& now, const Slice& next) {
  if (!ShareWorkers(now, next)) return true;
  return now.share().session == next.share().session &&
         std::holds_alternative<LaunchCommand>(next.command);
}

void DecideFates(std::span<Verdict> slices) { Decision(slices).Run(); }

}  // namespace ttfd
