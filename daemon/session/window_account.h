// What holds a session's window: the message being accepted, commands that have not ended, results that the client has
// not read. The executor reports what begins and ends; the session advertises what is granted.
#pragma once

#include <cstdint>
#include <memory>

#include "daemon/session/environment.h"
#include "daemon/session/outbox.h"
#include "daemon/session/receive_window.h"
#include "daemon/session/usage.h"
#include "runtime/base/status.h"

namespace ttfd {

// Costs are those of ttfd.proto, in bytes. Not thread-safe: guarded by its session's lock.
class WindowAccount {
 public:
  // All outlive the account.
  WindowAccount(SessionEnvironment& environment, const Outbox& outbox, SessionUse& use,
                std::shared_ptr<WindowPool> pool);

  // A message for which the window was charged so much is handled from here on; what nothing takes of it is released
  // with EndMessage.
  void BeginMessage(uint64_t cost) { message_cost_ = cost; }
  void EndMessage();
  // Up to `cost` of the message that is being accepted, for the command that holds it from here on.
  uint64_t TakeCost(uint64_t cost);
  void PutCostBack(uint64_t cost) { message_cost_ += cost; }
  // Bytes of the command's payload have been written, or are not needed.
  void ReleasePayload(HeldCost& held, uint64_t bytes) {
    window_.Release(held.RemovePayload(bytes));
  }
  // A command that held so much has ended. It is released once the client has read its results, which are in memory in
  // place of the command.
  void ReleaseEnded(uint64_t cost);
  // The outbox has handed over everything it had of ended commands.
  void ResultsTaken();
  // Counts what is held among what the session uses, and reports a session that holds nothing any more to the host,
  // which may return memory to the system. Call after changes.
  void Count();
  // The same for what the session keeps for its client.
  void CountOutput() {
    use_.Set(Resource::kUnacknowledgedBytes, outbox_.data_bytes() + outbox_.text_bytes());
  }
  // Grants what has been released, except for as much as unread output takes. Call after a change.
  void Advance() { window_.Advance(outbox_.text_bytes()); }
  // The session is over: it holds nothing.
  void Close();

  ReceiveWindow& window() { return window_; }
  const ReceiveWindow& window() const { return window_; }

 private:
  SessionEnvironment& environment_;
  const Outbox& outbox_;
  SessionUse& use_;
  ReceiveWindow window_;
  uint64_t message_cost_ = 0;  // of the message being accepted, held by no command or chunk so far
  uint64_t unreported_cost_ = 0;  // of ended commands whose results are in the outbox
  uint64_t peak_held_ = 0;        // of the window, since nothing was held
};

}  // namespace ttfd
