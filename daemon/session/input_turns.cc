// Rounds of turns.
#include "daemon/session/input_turns.h"

#include <utility>

#include "daemon/session/session.h"

namespace ttfd {

void InputTurns::Add(std::shared_ptr<Session> session, bool brief) {
  auto* const added = new Added{std::move(session), added_.load(std::memory_order_relaxed)};
  while (!added_.compare_exchange_weak(added->before, added, std::memory_order_acq_rel)) continue;
  wake_(brief);
}

void InputTurns::TakeAdded() {
  Added* next = added_.exchange(nullptr, std::memory_order_acq_rel);
  Added* oldest = nullptr;  // the list in its order
  while (next != nullptr) {
    std::swap(next->before, oldest);
    std::swap(next, oldest);
  }
  while (oldest != nullptr) {
    const std::unique_ptr<Added> added(std::exchange(oldest, oldest->before));
    const uint32_t uid = added->session->uid();
    users_[uid].push_back(std::move(added->session));
  }
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
