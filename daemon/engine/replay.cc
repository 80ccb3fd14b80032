// What becomes of the works that were on a card that had to be reset.
#include "daemon/engine/replay.h"

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
bool Follows(const WorkInFlight& later, const WorkInFlight& earlier) {
  if (later.work.track == earlier.work.track && later.work.route == earlier.work.route) return true;
  const uint32_t queue = earlier.work.track->route().hardware_queue;
  return std::any_of(later.after.begin(), later.after.end(), [&](const Ticket& ticket) {
    return ticket.hardware_queue == queue && ticket.number >= earlier.ticket;
  });
}

class Decision {
 public:
  explicit Decision(std::span<Verdict> works) : works_(works) {}

  void Run() {
    for (size_t i = 0; i < works_.size(); ++i) {
      Verdict& one = works_[i];
      if (one.entry->work.runs_kernels()) Launch(i, &one);
    }
    // By then it is known which launches began.
    for (size_t i = 0; i < works_.size(); ++i) {
      if (works_[i].fate == WorkFate::kUndecided) Transfer(i, &works_[i]);
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
    const Work& work = works_[index].entry->work;
    return std::any_of(works_.begin(), works_.begin() + static_cast<ptrdiff_t>(index),
                       [&work](const Verdict& before) {
                         const Work& elder = before.entry->work;
                         return elder.runs_kernels() && NotEnded(before.state) &&
                                ShareWorkers(elder, work);
                       });
  }

  void Transfer(size_t index, Verdict* one) {
    const WorkInFlight& entry = *one->entry;
    const std::optional<Place> source = ReadsFrom(entry.work.command);
    for (size_t i = index + 1; i < works_.size(); ++i) {
      const Verdict& later = works_[i];
      const WorkInFlight& other = *later.entry;
      if (other.work.flow != entry.work.flow || later.state == ExecutionState::kNotStarted)
        continue;
      if (later.fate == WorkFate::kEnded && Follows(other, entry)) return Passed(one);
      if (!source.has_value()) continue;
      // What cannot have begun before it was done changed nothing under it, unless it was done.
      if (other.work.runs_kernels()) {
        return Say(one, WorkFate::kTouched, "a later launch of its session may have changed it");
      }
      if (WritesTo(other.work.command) == source) {
        return Say(one, WorkFate::kTouched, "a later write of its session may have changed it");
      }
    }
    Say(one, WorkFate::kReplayed,
        one->state == ExecutionState::kNotStarted ? "it had not begun" : "it can be done twice");
  }

  // Something that waited for it has ended.
  static void Passed(Verdict* one) {
    const Work& work = one->entry->work;
    if (work.read_into == nullptr || work.read_into->size() == work.bytes) {
      return Say(one, WorkFate::kEnded, "what waited for it had ended");
    }
    one->state = ExecutionState::kCompleted;
    Say(one, WorkFate::kTouched, "it was done, and its data is lost");
  }

  static void Say(Verdict* one, WorkFate fate, const char* why) {
    one->fate = fate;
    one->why = why;
  }

  const std::span<Verdict> works_;
};

}  // namespace

bool ShareWorkers(const Work& a, const Work& b) {
  const TileSet& these = a.route.workers;  // none: all
  const TileSet& those = b.route.workers;
  return these.none() || those.none() || (these & those).any();
}

bool MayOverlap(const Work& now, const Work& next) {
  if (!ShareWorkers(now, next)) return true;
  return now.flow == next.flow && std::holds_alternative<LaunchCommand>(next.command);
}

void DecideFates(std::span<Verdict> works) { Decision(works).Run(); }

}  // namespace ttfd
