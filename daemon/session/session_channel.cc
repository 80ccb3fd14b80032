// Connections of a session, and what they post and take.
#include "daemon/session/session_channel.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "daemon/api/errors.h"

namespace ttfd {
namespace {

// Above this cost a message holds up its reader for longer than the device thread takes to wake up, if the reader
// handles it itself.
constexpr uint64_t kBriefMessage = 64 << 10;

}  // namespace

Status ConnectionGone() { return Error(StatusCode::kCancelled, "the connection is gone"); }

SessionChannel::SessionChannel(Opening opening, const SessionLimits& limits, Clock& clock,
                               const std::shared_ptr<UserUse>& user,
                               std::function<void()> memory_freed,
                               std::function<void(bool brief)> has_input)
    : limits_(limits),
      clock_(clock),
      peer_(opening.peer),
      welcome_(std::move(opening.welcome)),
      transport_(std::move(opening.transport)),
      has_input_(std::move(has_input)),
      unacknowledged_(std::make_shared<OutputUse>(limits, user)),
      window_(limits, std::shared_ptr<WindowPool>(user, &user->window_pool()),
              std::move(memory_freed)),
      outbox_(window_, limits, user, transport_->newest,
              {opening.output, false, opening.peer.pid, ReconnectTimeout(opening.hello)},
              opening.waits_for_lease),
      inbox_(window_, welcome_.token, opening.output, opening.waits_for_lease) {
  transport_->Attach(unacknowledged_);
}

Duration SessionChannel::ReconnectTimeout(const HelloRequest& hello) const {
  return std::chrono::milliseconds(
      std::min(hello.reconnect_timeout_ms, limits_.reconnect_timeout_ms));
}

StatusOr<WelcomeReply> SessionChannel::Attach(const PeerIdentity& peer, const HelloRequest& hello,
                                              const std::string& next_token,
                                              SessionOutput* output) {
  // One answer for all: it says nothing about sessions of others.
  const bool same_user = peer.uid == peer_.uid && peer.certificate == peer_.certificate;
  std::optional<uint64_t> window;
  const auto connect = [&] {
    window = outbox_.Connect(output, peer.pid, ReconnectTimeout(hello));
    return window.has_value();
  };
  if (!same_user || next_token.empty() ||
      !inbox_.Attach(hello.resume.token, next_token, output, connect)) {
    return SessionLost(hello.resume.session);
  }
  Wake(/*brief=*/true);
  WelcomeReply welcome = welcome_;
  welcome.token = next_token;
  welcome.window_bytes = *window;
  return welcome;
}

Status SessionChannel::Accept(const SessionOutput* from, MessageRequest message,
                              absl::FunctionRef<void()> accepted) {
  message.arrived = clock_.Now();
  const bool brief = message.cost <= kBriefMessage && !message.finish && !message.leave;
  ASSIGN_OR_RETURN(const bool first, inbox_.Post(from, std::move(message), accepted));
  if (first) has_input_(brief);
  return OkStatus();
}

SessionOutputBatch SessionChannel::TakeOutput(const SessionOutput* from, uint64_t max_bytes) {
  bool wake = false;
  SessionOutputBatch batch = outbox_.Take(from, max_bytes, &wake);
  if (wake) Wake(/*brief=*/true);
  return batch;
}

SessionPort::Ending SessionChannel::CheckEnd(const SessionOutput* from, bool acknowledged,
                                             Status* status) {
  const SessionPort::Ending ending = outbox_.CheckEnd(from, acknowledged, status);
  const bool ended = ending == SessionPort::Ending::kEnded;
  if (ended || outbox_.acknowledged()) Wake(/*brief=*/!ended);
  return ending;
}

void SessionChannel::Abandon(const SessionOutput* from, bool lost) {
  const std::optional<Connection> left = outbox_.Disconnect(from, lost);
  if (!left) return;
  if (left->gone) inbox_.Close(ConnectionGone());
  Wake(/*brief=*/false);
}

void SessionChannel::Post(Control control) {
  if (inbox_.Post(std::move(control))) has_input_(/*brief=*/false);
}

void SessionChannel::Wake(bool brief) {
  if (inbox_.Wake()) has_input_(brief);
}

}  // namespace ttfd
