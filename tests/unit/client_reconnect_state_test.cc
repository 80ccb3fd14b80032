// When a lost session is reconnected.
#include <gtest/gtest.h>

#include "client/cpp/src/reconnect_state.h"

namespace ttfd::client::client_reconnect_state_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr ReconnectState::Instant kStart{};

class ClientReconnectState : public ::testing::Test {
 protected:
  ClientReconnectState() { state_.SetTimeout(seconds(20), 0); }
  ReconnectState state_;
};

TEST_F(ClientReconnectState, FirstAttempt_IsImmediate) {
  state_.OnLoss(kStart, 5);
  EXPECT_TRUE(state_.reconnecting());
  EXPECT_EQ(state_.retry_at(), kStart);
  EXPECT_EQ(state_.give_up_at(), kStart + seconds(20));
}

TEST_F(ClientReconnectState, Attempts_BackOffUpToOneSecond) {
  state_.OnLoss(kStart, 5);
  ReconnectState::Instant now = kStart;
  milliseconds last{0};
  for (int i = 0; i < 12; ++i) {
    state_.OnAttempt(now);
    state_.OnLoss(now, 5);  // it failed
    const auto wait = std::chrono::duration_cast<milliseconds>(state_.retry_at() - now);
    EXPECT_GE(wait, last);
    EXPECT_LE(wait, seconds(1));
    last = wait;
    now = state_.retry_at();
  }
  EXPECT_EQ(last, seconds(1));
  EXPECT_EQ(state_.give_up_at(), kStart + seconds(20)) << "one loss has one deadline";
}

TEST_F(ClientReconnectState, LossAfterProgress_IsNew) {
  state_.OnLoss(kStart, 5);
  state_.OnAttempt(kStart);
  state_.OnResumed(kStart);
  EXPECT_FALSE(state_.reconnecting());
  state_.OnLoss(kStart + milliseconds(5), 6);
  EXPECT_EQ(state_.retry_at(), kStart + milliseconds(5));
  EXPECT_EQ(state_.give_up_at(), kStart + milliseconds(5) + seconds(20));
  EXPECT_EQ(state_.count(), 1u);
}

TEST_F(ClientReconnectState, LossWithoutProgress_Continues) {
  state_.OnLoss(kStart, 5);
  state_.OnAttempt(kStart);
  state_.OnResumed(kStart);
  state_.OnLoss(kStart + milliseconds(5), 5);
  EXPECT_EQ(state_.give_up_at(), kStart + seconds(20));
  EXPECT_EQ(state_.retry_at(), kStart + milliseconds(10)) << "no immediate attempt";
}

TEST_F(ClientReconnectState, LossLongAfterResume_IsNew) {
  state_.OnLoss(kStart, 5);
  state_.OnAttempt(kStart);
  state_.OnResumed(kStart);
  state_.OnLoss(kStart + seconds(2), 5);
  EXPECT_EQ(state_.give_up_at(), kStart + seconds(22));
}

TEST_F(ClientReconnectState, Sessions_ReconnectAtDifferentTimes) {
  ReconnectState other;
  other.SetTimeout(seconds(20), 4);
  for (ReconnectState* state : {&state_, &other}) {
    state->OnLoss(kStart, 0);
    state->OnAttempt(kStart);
  }
  EXPECT_NE(state_.retry_at(), other.retry_at());
}

TEST_F(ClientReconnectState, ZeroTimeout_Disables) {
  EXPECT_TRUE(state_.enabled());
  state_.SetTimeout(seconds(0), 0);
  EXPECT_FALSE(state_.enabled());
}

}  // namespace
}  // namespace ttfd::client::client_reconnect_state_test
