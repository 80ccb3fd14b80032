// What a client may send: its windows, and for data the session's turn.
#include <algorithm>
#include <utility>

#include "daemon/session/session.h"

namespace ttfd {

CreditReply Session::Credit() const {
  CreditReply credit = executor_.credit();
  if (grace_ > Duration::zero()) {
    credit.read_bytes = buffer_.data_received() + environment_.windows.read_bytes;
  }
  return credit;
}

// A client that has three quarters of its window left need not hear of more. More bytes are told of in turns: a session
// that has none lives on what it was told before.
void Session::TellCredit() {
  EndTurn();
  CreditReply credit = Credit();
  const SessionWindows& windows = environment_.windows;
  const bool waited = turn_ == Turn::kCame;
  if (credit.bytes - credit_told_.bytes < windows.payload_bytes / 4 || !HasTurn()) {
    credit.bytes = credit_told_.bytes;
  } else if (waited) {
    credit.bytes = std::min(credit.bytes, credit_told_.bytes + windows.turn_bytes());
  }
  if (credit.bytes == credit_told_.bytes &&
      credit.commands - credit_told_.commands < windows.commands / 4 &&
      credit.read_bytes - credit_told_.read_bytes < windows.read_bytes / 4) {
    return;
  }
  credit_told_ = credit;
  buffer_.SetCredit(credit);
}

bool Session::HasTurn() {
  if (turn_ == Turn::kWaits || !open()) return false;
  if (turn_ == Turn::kCame || environment_.host->TakeUploadTurn(id())) {
    turn_ = Turn::kHas;
    return true;
  }
  if (turn_ == Turn::kNone) turn_ = Turn::kWaits;
  return false;
}

// The next one is told when a part of it has come, so that nobody waits for the way there and back.
void Session::EndTurn() {
  if (turn_ != Turn::kHas) return;
  const uint64_t sent = std::min(credit_told_.bytes, executor_.payload_received());
  if (credit_told_.bytes - sent <= environment_.windows.turn_bytes() / 4 * 3) GiveUpTurn();
}

void Session::GiveUpTurn() {
  if (std::exchange(turn_, Turn::kNone) != Turn::kNone) environment_.host->EndUploadTurn(id());
}

// One that has sent nothing since a turn of its own was over gets the credit and leaves the turn to others.
void Session::TurnCame() {
  MutexLock lock(&mu_);
  if (turn_ == Turn::kNone) return;
  turn_ = Turn::kCame;
  Tell();
  if (unused_at_ != executor_.payload_received()) return;
  GiveUpTurn();
  Tell();
}

// It sends nothing, or waits for more: many libraries send a message when there is credit for all of it.
void Session::TurnOver() {
  MutexLock lock(&mu_);
  if (turn_ != Turn::kCame && turn_ != Turn::kHas) return;
  unused_at_ = executor_.payload_received();
  GiveUpTurn();
  Tell();
}

}  // namespace ttfd
