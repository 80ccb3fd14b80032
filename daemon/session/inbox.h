// Input of a session between the threads that post it and the device thread, which handles it: messages of its client,
// in order, and controls, which come before all messages. Also which connection may send, and with which token another
// may replace it, so that a message is posted either before a client resumes its session elsewhere, or not at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/api/request.h"
#include "daemon/api/session_port.h"
#include "daemon/session/receive_window.h"
#include "daemon/session/resume_token.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"

namespace ttfd {

class Session;

// A step that the device thread does with a session: an administrator's request, or the result of host work.
using Control = std::function<void(Session&)>;

// Input that was taken and is not handled. Device thread.
struct TakenInput {
  std::vector<Control> controls;
  std::deque<MessageRequest> messages;
};

// Thread-safe.
class Inbox {
 public:
  // `window` outlives the inbox; it is charged for every message that is posted.
  // `waits_for_lease`: until Open, messages are refused.
  Inbox(ReceiveWindow& window, std::string token, const SessionOutput* connection,
        bool waits_for_lease)
      : window_(window),
        token_(std::move(token)),
        connection_(connection),
        waits_for_lease_(waits_for_lease) {}

  // ---- Any thread.

  // Posts a message of this connection. An empty one only confirms that the client is there. `accepted` is called with
  // the inbox locked if the message counts. Returns whether the session has to be given to the device thread: it
  // is idle there. A failed status: a protocol error, or why the session has ended.
  StatusOr<bool> Post(const SessionOutput* from, MessageRequest message,
                      absl::FunctionRef<void()> accepted) ABSL_LOCKS_EXCLUDED(mu_);
  // Also after the session's end. Returns the same.
  bool Post(Control control) ABSL_LOCKS_EXCLUDED(mu_);
  // The device thread is to continue with the session, though there is no further input. Returns the same.
  bool Wake() { return turn_.exchange(Turn::kWoken) == Turn::kIdle; }

  // Another connection, whose client presents `token`, sends from here on; `next` is the token for the one after it.
  // `connect` is called with the inbox locked if the token is that of the session, and may refuse. False: refused, or
  // the inbox is closed.
  bool Attach(const std::string& token, std::string next, const SessionOutput* connection,
              absl::FunctionRef<bool()> connect) ABSL_LOCKS_EXCLUDED(mu_);
  void Open() ABSL_LOCKS_EXCLUDED(mu_);
  // No messages from here on, and those that were not taken are dropped. Further ones get `status`; if that is OK, they
  // are dropped as well.
  void Close(const Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  bool empty() const ABSL_LOCKS_EXCLUDED(mu_);

  // ---- The device thread.

  // Adds all that was posted to what was taken before.
  void Take(TakenInput* taken) ABSL_LOCKS_EXCLUDED(mu_);
  // Everything that was taken is handled. False: there is more. True: the next that is posted has the session given to
  // the device thread again.
  bool BecomeIdle();

 private:
  enum class Turn {
    kIdle,   // the device thread does not have the session
    kTaken,  // it has, with everything that was posted
    kWoken,  // it has, or will, and is to take once more
  };

  ReceiveWindow& window_;
  mutable Mutex mu_;
  ResumeToken token_ ABSL_GUARDED_BY(mu_);
  const SessionOutput* connection_ ABSL_GUARDED_BY(mu_);  // only compared
  bool waits_for_lease_ ABSL_GUARDED_BY(mu_);
  TakenInput posted_ ABSL_GUARDED_BY(mu_);
  bool finished_ ABSL_GUARDED_BY(mu_) = false;  // Finish was posted
  std::optional<Status> closed_ ABSL_GUARDED_BY(mu_);
  std::atomic<Turn> turn_{Turn::kIdle};
};

}  // namespace ttfd
