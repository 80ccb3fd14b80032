// Chooses the session whose input the device thread handles next: users take turns, and so do the sessions of a user.
//
// A turn is short (InputBudget), and so is a round of turns, so that the card waits for neither: what is left is
// handled in the next round. The time is charged to the session.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "daemon/session/input_budget.h"
#include "runtime/base/clock.h"

namespace ttfd {

class Session;

class InputTurns {
 public:
  // Time of a round after which no further turn begins.
  static constexpr Duration kRound = std::chrono::microseconds(100);

  // `wake` has the device thread call HandleSome; called without a lock. `charge` gets the time of a turn, on the
  // device thread.
  InputTurns(Clock& clock, std::function<void(bool brief)> wake,
             std::function<void(uint64_t session, Duration)> charge)
      : clock_(clock), wake_(std::move(wake)), charge_(std::move(charge)) {}
  ~InputTurns() { TakeAdded(); }

  // The session has input. Not again before it has returned that there is none left. `brief`: it takes little time.
  // Any thread; does not block.
  void Add(std::shared_ptr<Session> session, bool brief);
  // A round of turns. False: there was no input. Device thread.
  bool HandleSome();
  // Some session has input. Device thread.
  bool any() const { return !users_.empty() || added_.load(std::memory_order_acquire) != nullptr; }

 private:
  using Sessions = std::deque<std::shared_ptr<Session>>;
  struct Added {
    std::shared_ptr<Session> session;
    Added* before = nullptr;
  };

  void TakeAdded();

  Clock& clock_;
  const std::function<void(bool brief)> wake_;
  const std::function<void(uint64_t session, Duration)> charge_;
  std::atomic<Added*> added_{nullptr};  // the newest; owned

  // Device thread.
  std::map<uint32_t, Sessions> users_;  // by uid; none is empty
  uint32_t last_user_ = 0;
};

}  // namespace ttfd
