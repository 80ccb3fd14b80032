// Cost of the message being decoded, charged to the session's window: commands and chunks take parts of it, and
// release them as they end; the rest is released with the message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "daemon/session/receive_window.h"

namespace ttfd {

// Costs are those of ttfd.proto, in bytes. Device thread.
class WindowAccount {
 public:
  // `window` outlives the account.
  explicit WindowAccount(ReceiveWindow& window) : window_(window) {}

  // A message for which the window was charged so much is decoded from here on.
  void BeginMessage(uint64_t cost) { message_cost_ = cost; }
  void EndMessage() { window_.Release(std::exchange(message_cost_, 0)); }
  // Up to `cost` of the message, for the command that holds it from here on.
  uint64_t TakeCost(uint64_t cost) {
    cost = std::min(cost, message_cost_);
    message_cost_ -= cost;
    return cost;
  }
  void PutCostBack(uint64_t cost) { message_cost_ += cost; }
  // Bytes of the command's payload have been written, or are not needed.
  void ReleasePayload(HeldCost& held, uint64_t bytes) {
    window_.Release(held.RemovePayload(bytes));
  }

 private:
  ReceiveWindow& window_;
  uint64_t message_cost_ = 0;  // held by no command or chunk so far
};

}  // namespace ttfd
