// One session over streams that come and go.
#include "client/cpp/src/connection.h"

#include <algorithm>
#include <utility>

#include "client/cpp/src/options.h"

namespace ttfd::client {
namespace {

bool HasContents(const v1::ServerMessage& message) {
  return message.notices_size() != 0 || message.data_size() != 0 || message.errors_size() != 0 ||
         message.progress_size() != 0;
}

}  // namespace

Connection::Connection(const ConnectOptions& options, v1::Hello hello)
    : options_(options), hello_(std::move(hello)) {}

void Connection::Start() { stream_ = std::make_unique<Stream>(options_.address, options_.tls); }

Connection::Event Connection::Handle(Stream::Event event, Instant now) {
  switch (event) {
    case Stream::Event::kTimeout:
      if (reconnect_.reconnecting() && now >= reconnect_.give_up_at()) {
        GiveUp();
      }
      break;
    case Stream::Event::kStarted:
      SendHello();
      break;
    case Stream::Event::kRead:
      return Receive(now);
    case Stream::Event::kWrote:
      writing_ = false;
      break;
    case Stream::Event::kNotTaken:
      break;  // the stream's end follows
    case Stream::Event::kEnded:
      HandleStreamEnd(now);
      break;
  }
  return Event::kNone;
}

void Connection::SendHello() {
  v1::ClientMessage message;
  *message.mutable_hello() = hello_;
  if (established_) {
    v1::Resume* resume = message.mutable_hello()->mutable_resume();
    resume->set_session(session_);
    resume->set_token(token_);
    resume->set_received(link_.received());
  }
  stream_->ReadNext();
  state_ = State::kGreeting;
  Write(Stream::Encode(message));
}

void Connection::Write(const Stream::Encoded& message) {
  writing_ = true;
  stream_->StartWrite(message);
}

void Connection::ReadNext() {
  if (state_ == State::kGreeting || state_ == State::kOpen) {
    stream_->ReadNext();
  }
}

Connection::Event Connection::Receive(Instant now) {
  const v1::ServerMessage& message = stream_->received();
  if (message.has_welcome() != (state_ == State::kGreeting)) {
    const bool waits = std::all_of(message.notices().begin(), message.notices().end(),
                                   [](const v1::Notice& notice) { return notice.has_waiting(); });
    if (state_ == State::kGreeting && waits) {
      return Event::kWaiting;
    }
    return EndOnViolation(message.has_welcome() ? "a second Welcome" : "a message before Welcome");
  }
  if (message.has_welcome()) {
    return HandleWelcome(message.welcome(), now);
  }
  if (message.sequence() == 0 && HasContents(message)) {
    return EndOnViolation("a message without a sequence");
  }
  const uint64_t expected = link_.received() + 1;
  switch (link_.Receive(message, stream_->received_bytes(), now)) {
    case Link::Accept::kNew:
      return Event::kMessage;
    case Link::Accept::kDuplicate:
      return Event::kAck;
    case Link::Accept::kGap:
      return EndOnViolation("message " + std::to_string(message.sequence()) + " where " +
                            std::to_string(expected) + " was expected");
    case Link::Accept::kBadAck:
      break;
  }
  return EndOnViolation("an ack of message " + std::to_string(message.ack()) + " where " +
                        std::to_string(link_.sent()) + " were sent");
}

Connection::Event Connection::HandleWelcome(const v1::Welcome& welcome, Instant now) {
  if (welcome.revision() != kRevision) {
    return EndOnViolation("a Welcome of revision " + std::to_string(welcome.revision()) +
                          " where " + std::to_string(kRevision) + " was requested");
  }
  token_ = welcome.token();
  state_ = State::kOpen;
  if (established_) {
    if (!link_.Resume(welcome.received())) {
      return EndOnViolation("a resume from message " + std::to_string(welcome.received()) +
                            " where " + std::to_string(link_.peer_received()) + " to " +
                            std::to_string(link_.sent()) + " are possible");
    }
    reconnect_.OnResumed(now);
    return Event::kResumed;
  }
  established_ = true;
  session_ = welcome.session();
  link_.SetUnacknowledgedLimit(welcome.limits().unacknowledged_bytes());
  const std::chrono::milliseconds longest(welcome.limits().reconnect_timeout_ms());
  reconnect_.SetTimeout(std::min(options_.reconnect_timeout, longest), session_);
  return Event::kWelcome;
}

Connection::Event Connection::EndOnViolation(const std::string& what) {
  stream_->Cancel();
  End(Status(Code::kInternal, "the daemon at " + options_.address + " has sent " + what +
                                  ", which the API forbids; the session is ended"));
  return Event::kNone;
}

void Connection::HandleStreamEnd(Instant now) {
  const Status& end = stream_->status();
  // A certificate that cannot be read may just be being renewed.
  const bool may_return = end.reason() == "UNREACHABLE" || end.error().field.starts_with("tls.");
  if (established_ && reconnect_.enabled() && !shutdown_.last_attempt && may_return) {
    reconnect_.OnLoss(now, link_.received() + link_.peer_received());
    state_ = State::kDown;
    writing_ = false;
    return;
  }
  End(established_ ? DescribeLoss(end) : end);
}

bool Connection::Reconnect(Instant now) {
  if (now >= reconnect_.give_up_at()) {
    GiveUp();
    return false;
  }
  if (shutdown_.leaving) {
    shutdown_.last_attempt = true;  // at once, and no other: closing does not wait for the daemon
  } else if (now < reconnect_.retry_at()) {
    return false;
  }
  reconnect_.OnAttempt(now);
  state_ = State::kConnecting;
  Start();
  return true;
}

Connection::Instant Connection::wake_at() const {
  if (state_ == State::kDown) {
    return std::min(reconnect_.retry_at(), reconnect_.give_up_at());
  }
  if (state_ == State::kOpen) {
    return writing_ ? Instant::max() : link_.ack_deadline();
  }
  return reconnect_.reconnecting() ? reconnect_.give_up_at() : Instant::max();
}

bool Connection::WriteResend() {
  const Stream::Encoded* const message = link_.NextResend();
  if (message != nullptr) {
    Write(*message);
  }
  return message != nullptr;
}

void Connection::SendAckIfDue(Instant now) {
  // After Finish the daemon ends the call when it has the ack of everything.
  if (CanWrite() && (link_.AckDue(now) || (shutdown_.finishing && link_.HasPendingAck()))) {
    Write(link_.CommitAck());
  }
}

bool Connection::SendLeave() {
  if (shutdown_.leave_sent) {
    return false;
  }
  shutdown_.leave_sent = true;
  v1::ClientMessage message;
  message.mutable_leave();
  link_.Stamp(&message);
  Send(message);
  return true;
}

void Connection::Cancel() {
  if (state_ != State::kDown && state_ != State::kEnded) {
    stream_->Cancel();
  }
}

void Connection::End(Status end) {
  state_ = State::kEnded;
  end_ = std::move(end);
}

void Connection::GiveUp() {
  End(Status(ErrorInfo{.code = Code::kUnavailable,
                       .message = "the connection to the daemon at " + options_.address +
                                  " was lost and could not be made again within " +
                                  std::to_string(reconnect_.timeout().count()) + " ms",
                       .reason = "CONNECTION_LOST",
                       .retryable = true}));
}

Status Connection::DescribeLoss(const Status& end) const {
  ErrorInfo error = end.error();
  if (error.reason == "UNREACHABLE") {
    error.code = Code::kUnavailable;
    error.message = "the connection to the daemon at " + options_.address +
                    " was lost, and the session with it";
    error.reason = "CONNECTION_LOST";
  } else if (error.reason == "SESSION_LOST") {
    error.code = Code::kUnavailable;
    error.message = "the daemon at " + options_.address +
                    " no longer has this session: it restarted, or the reconnect timeout of " +
                    std::to_string(reconnect_.timeout().count()) + " ms has passed";
  } else if (error.code != Code::kUnavailable) {
    return end;
  }
  error.retryable = true;
  return Status(error);
}

}  // namespace ttfd::client
