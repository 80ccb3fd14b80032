// When and how often a session whose connection was lost is reconnected. Pure: the caller's clock is
// an argument. Not thread-safe: SessionCore's mutex guards it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ttfd::client {

class ReconnectState {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  // `timeout`: how long the daemon keeps the session without a connection; 0: not at all.
  // `seed`: spreads the attempts of the clients of a daemon that restarts.
  void SetTimeout(std::chrono::milliseconds timeout, uint64_t seed) {
    timeout_ = timeout;
    first_backoff_ = kFirstBackoff + kFirstBackoff * static_cast<int64_t>(seed % kSeeds) / kSeeds;
  }
  std::chrono::milliseconds timeout() const { return timeout_; }
  bool enabled() const { return timeout_.count() > 0; }

  // The connection was lost, or an attempt has failed. `progress`: messages accepted by either side.
  // A connection that is lost again without progress, soon after it was made, continues the loss before:
  // what breaks it may be what is sent.
  void OnLoss(Instant now, uint64_t progress);
  // A new connection is being made.
  void OnAttempt(Instant now);
  void OnResumed(Instant now);

  // A loss has not been followed by OnResumed.
  bool reconnecting() const { return reconnecting_; }
  Instant retry_at() const { return retry_at_; }  // the next attempt
  Instant give_up_at() const { return give_up_at_; }
  uint64_t count() const { return count_; }  // times resumed

 private:
  static constexpr std::chrono::milliseconds kFirstBackoff{10};
  static constexpr std::chrono::milliseconds kLongestBackoff{1000};
  static constexpr int64_t kSeeds = 8;

  std::chrono::milliseconds timeout_{0};
  std::chrono::milliseconds first_backoff_ = kFirstBackoff;
  std::chrono::milliseconds backoff_{0};
  bool reconnecting_ = false;
  Instant give_up_at_;
  Instant retry_at_;
  Instant resumed_at_;
  uint64_t progress_ = 0;  // at the last loss
  uint64_t count_ = 0;
};

inline void ReconnectState::OnLoss(Instant now, uint64_t progress) {
  const bool continues =
      count_ != 0 && progress == progress_ && now - resumed_at_ < kLongestBackoff;
  if (!reconnecting_ && !continues) {
    progress_ = progress;
    give_up_at_ = now + timeout_;
    retry_at_ = now;  // the first attempt is immediate
    backoff_ = first_backoff_;
  }
  reconnecting_ = true;
}

inline void ReconnectState::OnAttempt(Instant now) {
  retry_at_ = now + backoff_;
  backoff_ = std::min(2 * backoff_, kLongestBackoff);
}

inline void ReconnectState::OnResumed(Instant now) {
  reconnecting_ = false;
  resumed_at_ = now;
  ++count_;
}

}  // namespace ttfd::client
