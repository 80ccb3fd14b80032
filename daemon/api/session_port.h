// The seam between daemon/rpc and the rest of the daemon: sessions to open and to drive.
//
// Calls go down, callbacks up: daemon/rpc implements SessionOutput and SessionTransport, and nothing below includes
// daemon/rpc.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/api/admin.h"
#include "daemon/api/reply.h"
#include "daemon/api/request.h"
#include "runtime/base/status.h"

namespace ttfd {

// Identity of the other end of a connection: of a unix socket from SO_PEERCRED and SO_PEERGROUPS when the
// daemon accepted it; of TLS from the client's certificate, whose name has a number as `uid` that no
// user of this machine has (or that of the user whom the configuration names for it).
struct PeerIdentity {
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t pid = 0;
  std::vector<uint32_t> groups;  // supplementary groups
  bool may_raise = false;        // may ask for more than Limits.weight and Limits.priority
  uint64_t connection = 0;       // never reused while the daemon runs
  std::string certificate;       // name of the client certificate; empty on the unix socket
};

// Implemented by daemon/rpc, one per connection. Outlives the session's last call to it, which is before
// SessionPort::Abandon returns, or SessionPort::CheckEnd returns kEnded.
class SessionOutput {
 public:
  virtual ~SessionOutput() = default;
  // TakeOutput may return something, or the session has ended. Called on any thread, with the outbox locked: must not
  // block and must not call back into the session.
  virtual void OutputReady() = 0;
};

// Counts the output that one keeper of a session holds for its client. Thread-safe, but for Set, which one thread calls
// at a time.
class OutputBudget {
 public:
  virtual ~OutputBudget() = default;
  // So many bytes are held from now on.
  virtual void Set(uint64_t bytes) = 0;
  // Bytes that the keeper may hold: `most`, or less while all sessions of the user keep too much. A keeper that holds
  // as much adds nothing until its client reads, or acknowledges.
  virtual uint64_t Limit(uint64_t most) const = 0;
};

// State that the transport keeps of a session across its connections. The session owns it.
class SessionTransport {
 public:
  virtual ~SessionTransport() = default;
  // The session is opened: what the transport keeps for the client is counted there from now on. Called once, before
  // Open returns.
  virtual void Attach(std::shared_ptr<OutputBudget> unacknowledged) = 0;

  // The newest connection of the session, also when that is gone: all others were replaced by it. Set by the session,
  // only compared.
  std::atomic<const SessionOutput*> newest{nullptr};
};

// A session, as one of its connections drives it. When another connection has resumed the session, every call of this
// one is answered with ABORTED, or with nothing. Thread-safe; Accept is called by one thread at a time, and
// TakeOutput by one other.
class SessionPort {
 public:
  virtual ~SessionPort() = default;
  // Welcome of this connection. A session that waits for its lease has it sent only when TakeOutput says so, and
  // accepts nothing before.
  virtual const WelcomeReply& welcome() const = 0;
  // As it was when the session was opened, whatever connection opened it.
  virtual const std::shared_ptr<SessionTransport>& transport() const = 0;

  // All of the message, or a failed status: a protocol error, which ends the connection and the session with it. Errors
  // of commands are output. An empty message confirms that the client is there. `accepted` is called, with the inbox
  // locked, exactly when all of the message counts: another connection that resumes the session never finds it accepted
  // and not counted, or counted and not accepted.
  virtual Status Accept(MessageRequest message, absl::FunctionRef<void()> accepted) = 0;

  // The content of the next message, at most about `max_bytes` of data; empty if there is none now.
  virtual SessionOutputBatch TakeOutput(uint64_t max_bytes) = 0;

  enum class Ending {
    kOpen,  // there is or may be more
    kUnacknowledged,  // everything is taken; a session that can be resumed waits until all of it is acknowledged
    kEnded,  // `status` is what the connection ends with
  };
  // `acknowledged`: the client has acknowledged everything that was taken. Once it has returned kEnded nothing but that
  // is returned, and Abandon is not needed.
  virtual Ending CheckEnd(bool acknowledged, Status* status) = 0;

  // The connection is gone. With `lost` a session with a reconnect timeout is kept for its client; after a protocol
  // error, and without the timeout, it ends and everything is freed. The last call.
  virtual void Abandon(bool lost) = 0;
};

// Everything that a front end needs of the daemon. Thread-safe.
class DaemonService {
 public:
  virtual ~DaemonService() = default;
  // A new session keeps `transport`; a resumed one has its own.
  virtual StatusOr<std::shared_ptr<SessionPort>> Open(
      const PeerIdentity& peer, const HelloRequest& hello, SessionOutput* output,
      std::shared_ptr<SessionTransport> transport) = 0;
  virtual Admin& admin() = 0;

  // `calling`: the calling thread is the poller thread from here on, and promises to call RunDeviceRounds soon after
  // every other call here or of a SessionPort. Else it is that no more, and there is none.
  virtual void SetPollerThread(bool /*calling*/) {}
  // Handles what those calls have posted on the calling thread, for 100 us, if the device thread sleeps: to wake that
  // would take longer. Poller thread.
  virtual void RunDeviceRounds() {}
};

}  // namespace ttfd
