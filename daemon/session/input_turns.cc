// Rounds of turns.
#include "daemon/session/input_turns.h"

#include <utility>

#include "daemon/session/session.h"

namespace ttfd {

void InputTurns::Add(std::shared_ptr<Session> session) {
  {
    MutexLock lock(&mu_);
    added_.push_back(std::move(session));
    added_any_.store(true, std::memory_order_release);
  }
  wake_();
}

void InputTurns::TakeAdded() {
  if (!added_any_.load(std::memory_order_acquire)) return;
  MutexLock lock(&mu_);
  for (std::shared_ptr<Session>& session : added_) {
    users_[session->uid()].push_back(std::move(session));
  }
  added_.clear();
  added_any_.store(false, std::memory_order_relaxed);
}

bool InputTurns::HandleSome() {
  TakeAdded();
  if (users_.empty()) return false;
  TimePoint now = clock_.Now();
  const TimePoint end = now + kRound;
  while (!users_.empty() && now < end) {
    auto user = users_.upper_bound(last_user_);
    if (user == users_.end()) user = users_.begin();
    last_user_ = user->first;
    const std::shared_ptr<Session> session = std::move(user->second.front());
    user->second.pop_front();
    InputBudget budget;
    if (session->HandleInput(&budget)) user->second.push_back(session);
    if (user->second.empty()) users_.erase(user);
    const TimePoint before = std::exchange(now, clock_.Now());
    charge_(session->id(), now - before);
  }
  return true;
}

}  // namespace ttfd
