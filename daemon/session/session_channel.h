// The half of a session that its connections use: messages that they post, output that they take, and which of them the
// session is attached to.
//
// A session is attached to at most one connection at a time, known by its SessionOutput. When another connection
// resumes the session, calls of the one before are refused. The transport resends output that was taken and not
// acknowledged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "daemon/api/session_port.h"
#include "daemon/session/inbox.h"
#include "daemon/session/outbox.h"
#include "daemon/session/receive_window.h"
#include "runtime/base/clock.h"

namespace ttfd {

// Thread-safe.
class SessionChannel {
 public:
  // The first connection of a session.
  struct Opening {
    const PeerIdentity& peer;
    const HelloRequest& hello;
    WelcomeReply welcome;
    bool waits_for_lease = false;
    SessionOutput* output = nullptr;
    std::shared_ptr<SessionTransport> transport;
  };
  // `limits` and `clock` outlive the channel, an output until its connection's last call. `has_input` is called when
  // the session has to be given to the device thread, on any thread; `brief`: the input takes little time.
  // `memory_freed`: as of ReceiveWindow.
  SessionChannel(Opening opening, const SessionLimits& limits, Clock& clock,
                 const std::shared_ptr<UserUse>& user, std::function<void()> memory_freed,
                 std::function<void(bool brief)> has_input);

  // Attaches the session to another connection, which must be of the same user and present the token; a connection that
  // it still has is refused from here on. Returns the connection's Welcome. NOT_FOUND with reason SESSION_LOST: it may
  // not be resumed, or not so.
  StatusOr<WelcomeReply> Attach(const PeerIdentity& peer, const HelloRequest& hello,
                                const std::string& next_token, SessionOutput* output);

  // Functions that its connection calls (SessionPort).
  Status Accept(const SessionOutput* from, MessageRequest message,
                absl::FunctionRef<void()> accepted);
  SessionOutputBatch TakeOutput(const SessionOutput* from, uint64_t max_bytes);
  SessionPort::Ending CheckEnd(const SessionOutput* from, bool acknowledged, Status* status);
  void Abandon(const SessionOutput* from, bool lost);
  const std::shared_ptr<SessionTransport>& transport() const { return transport_; }

  // The device thread calls the control before it handles further messages of the session.
  void Post(Control control);
  // The device thread is to continue with the session, though there is no further input. `brief`: to do little.
  void Wake(bool brief);
  // Bytes that the client may have sent in total.
  uint64_t window_bytes() const { return outbox_.advertised(); }
  // Output waits for the transport to take it.
  bool has_output() const { return !outbox_.empty(); }
  // Bytes that the transport keeps until the client acknowledges them.
  uint64_t unacknowledged_bytes() const { return unacknowledged_->bytes(); }

  // For the device thread.
  Inbox& inbox() { return inbox_; }
  const Inbox& inbox() const { return inbox_; }
  Outbox& outbox() { return outbox_; }
  ReceiveWindow& window() { return window_; }
  const ReceiveWindow& window() const { return window_; }

 private:
  Duration ReconnectTimeout(const HelloRequest& hello) const;

  const SessionLimits& limits_;
  Clock& clock_;
  const PeerIdentity peer_;
  const WelcomeReply welcome_;
  const std::shared_ptr<SessionTransport> transport_;
  const std::function<void(bool brief)> has_input_;
  const std::shared_ptr<OutputUse> unacknowledged_;
  ReceiveWindow window_;
  Outbox outbox_;
  Inbox inbox_;
};

// The client's connection is gone, and no other will come.
Status ConnectionGone();

}  // namespace ttfd
