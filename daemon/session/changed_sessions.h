// Sessions that a round of the device thread has changed: each publishes its figures and its output once, at the end of
// the round.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace ttfd {

class Session;

// Device thread.
class ChangedSessions {
 public:
  // Not again before it has published.
  void Add(std::shared_ptr<Session> session) { sessions_.push_back(std::move(session)); }
  // Has each publish, also those that this changes. False: none has changed.
  bool PublishAll();

 private:
  std::vector<std::shared_ptr<Session>> sessions_;
};

}  // namespace ttfd
