// Sessions that rounds of the device thread have changed: each publishes its figures and its output at the end of a
// round. Progress of a client that has sent commands ahead is gathered over several rounds: to wake the poller thread
// costs about as much as a launch.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"

namespace ttfd {

class Session;

// Device thread.
class ChangedSessions {
 public:
  // Time for which progress of a queue that continues is kept back at most, while there are rounds.
  static constexpr Duration kInterval = std::chrono::microseconds(100);

  // Not again before it has published.
  void Add(std::shared_ptr<Session> session) { changed_.push_back({std::move(session)}); }
  // Has each publish that is due, also those that this changes. `now`: TimePoint::max() makes all due. False: none has.
  bool Publish(TimePoint now);

 private:
  struct Changed {
    std::shared_ptr<Session> session;
    TimePoint due = TimePoint::max();  // set when it is kept back
  };
  std::vector<Changed> changed_;
};

}  // namespace ttfd
