// Kernels on workers of their own that are on the card, and what may run next to them.
//
// The card continues next to these kernels unless it is given something that has to wait for them: the next launch on
// their workers, or a transfer of a queue that has them. It comes to nothing else of the hardware queue before that, so
// it is not submitted before they have ended, however long they take. Launches behind others of their session on the
// same workers are, for little time, so that the card need not wait for the host between the two.
//
// Pure data structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/session/slice.h"
#include "runtime/base/clock.h"
#include "runtime/command/tile_set.h"

namespace ttfd {

// Could both run kernels on the same worker? They then run one after the other, in the order of their submission.
bool ShareWorkers(const Slice& a, const Slice& b);

// May the card place `next` while the kernels of `now` run? Not if the two are of two sessions and share workers: it
// could not be said later which of them hung or faulted. A segment of a trace begins with a wait for the kernels before
// it: nothing of it is placed meanwhile.
bool MayOverlap(const Slice& now, const Slice& next);

class BusyWorkers {
 public:
  // `window`: expected time of the kernels of one session on one set of workers that are on the card at a time. Its
  // later ones wait: the card executes go signals in order, so one that waits for its workers blocks all after it.
  explicit BusyWorkers(Duration window = Duration::zero()) : window_(window) {}

  // A slice of independent kernels (Slice::independent) is on the card, and has ended there.
  void Add(const Slice& slice);
  void Remove(const Slice& slice);
  void Clear() { sets_.clear(); }
  bool empty() const { return sets_.empty(); }
  size_t slices() const;

  // Would the card come to it at once, or soon? `workers`: that it is to have; none: all.
  bool Admit(const Slice& slice, const TileSet& workers) const {
    return sets_.empty() || AdmitWith(slice, workers);
  }

 private:
  struct Set {
    TileSet workers;
    uint64_t session = 0;
    Duration cost{};
    size_t slices = 0;
  };
  bool AdmitWith(const Slice& slice, const TileSet& workers) const;
  std::vector<Set>::iterator SetOf(const Slice& slice);

  Duration window_;
  std::vector<Set> sets_;
};

}  // namespace ttfd
