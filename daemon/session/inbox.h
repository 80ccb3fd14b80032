// Input of a session between the threads that receive it and the device thread, which handles it in order: messages of
// its client, and results of host work. Also which connection may send, and with which token another may replace it,
// so that a message is posted either before a client resumes its session elsewhere, or not at all.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "absl/functional/function_ref.h"
#include "daemon/session/receive_window.h"
#include "daemon/session/request.h"
#include "daemon/session/resume_token.h"
#include "daemon/session/service.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"

namespace ttfd {

struct Task;

// A message, or a task whose host work has ended.
using Input = std::variant<MessageRequest, Task*>;

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
  // the inbox locked if the message counts. Returns whether the session has to be given to the device thread: it was
  // taken empty before. A failed status: a protocol error, or why the session has ended.
  StatusOr<bool> Post(const SessionOutput* from, MessageRequest message,
                      absl::FunctionRef<void()> accepted) ABSL_LOCKS_EXCLUDED(mu_);
  // The host work of this task has ended. Also after the session's end. Returns the same.
  bool Post(Task* task) ABSL_LOCKS_EXCLUDED(mu_);
  // The device thread is to continue with the session, though there is no further input. Returns the same.
  bool Wake() ABSL_LOCKS_EXCLUDED(mu_);

  // Another connection, whose client presents `token`, sends from here on; `next` is the token for the one after it.
  // False: the token is not that of the session, or the inbox is closed.
  bool Attach(const std::string& token, std::string next, const SessionOutput* connection)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Open() ABSL_LOCKS_EXCLUDED(mu_);
  // No messages from here on, and those that were not taken are dropped. Further ones get `status`; if that is OK, they
  // are dropped as well.
  void Close(const Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  bool empty() const ABSL_LOCKS_EXCLUDED(mu_);

  // ---- The device thread.

  // The oldest input. None: there is none, and the next that is posted gives the session to the device thread again.
  std::optional<Input> Take() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  bool WakeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  ReceiveWindow& window_;
  mutable Mutex mu_;
  ResumeToken token_ ABSL_GUARDED_BY(mu_);
  const SessionOutput* connection_ ABSL_GUARDED_BY(mu_);  // only compared
  bool waits_for_lease_ ABSL_GUARDED_BY(mu_);
  std::deque<Input> input_ ABSL_GUARDED_BY(mu_);
  bool with_device_thread_ ABSL_GUARDED_BY(mu_) = false;  // which calls Take until it is empty
  bool finished_ ABSL_GUARDED_BY(mu_) = false;            // Finish was posted
  std::optional<Status> closed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
