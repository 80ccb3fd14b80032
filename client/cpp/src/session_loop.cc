// Moves one session.
#include "client/cpp/src/session_loop.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace ttfd::client {
namespace {

// The part of the connect timeout that the daemon has to end the call after Leave, over another connection if need be.
constexpr int kLeavePart = 5;
// For gRPC after a cancel.
constexpr std::chrono::seconds kCancelTimeout{5};
constexpr std::chrono::hours kLongestLeaseWait{24 *
                                               366};  // the longest a daemon can be configured for

bool Never() { return false; }

ErrorInfo Abandoned() {
  return {.code = Code::kCancelled, .message = "the session was ended before its commands"};
}

// How long the library waits for the daemon to grant or refuse a lease.
std::chrono::milliseconds LeaseTimeout(const ConnectOptions& options) {
  const bool bounded = options.lease.has_value() && options.lease->wait.has_value();
  return bounded ? *options.lease->wait + options.connect_timeout : kLongestLeaseWait;
}

}  // namespace

SessionLoop::SessionLoop(const ConnectOptions& options, v1::Hello hello, uint64_t handles_before)
    : StreamDriver(options.interrupted),
      options_(options),
      connection_(options, std::move(hello)),
      queues_(handles_before) {}

Status SessionLoop::Connect() {
  MutexLock lock(&mu);
  connection_.Start();
  const auto welcomed = [this] {
    mu.AssertHeld();
    return connection_.established();
  };
  // The daemon answers at once, if only that the lease has to be waited for. It bounds that wait; the
  // library does, too, for a daemon that falls silent.
  std::chrono::milliseconds timeout = options_.connect_timeout;
  Until(Now() + timeout, [&] {
    mu.AssertHeld();
    return welcomed() || waits_for_lease_;
  });
  if (waits_for_lease_) {
    timeout = LeaseTimeout(options_);
    Until(Now() + timeout, welcomed);
  }
  if (ended_) {
    return end_status_;
  }
  if (!welcomed()) {
    return Status(ErrorInfo{.code = Code::kUnavailable,
                            .message = "no ttfd daemon has answered at " + options_.address +
                                       " within " + std::to_string(timeout.count()) + " ms",
                            .reason = "UNREACHABLE",
                            .retryable = true});
  }
  if (device() == nullptr) {
    return Status(ErrorInfo{.code = Code::kInternal,
                            .message = "the daemon does not describe the device of the session, " +
                                       std::to_string(info_.device)});
  }
  return Status();
}

void SessionLoop::Finish() {
  if (!connection_.shutdown().finishing) {
    connection_.Finish();
    queues_.outbox().AddFinish();
  }
  TrySend();
}

void SessionLoop::Shutdown() {
  {
    MutexLock lock(&mu);
    if (connection_.stream() == nullptr) {
      return;
    }
    if (connection_.established() && !ended_) {
      connection_.Leave();
      Notify();
      TrySend();
      UntilUninterrupted(Now() + options_.connect_timeout / kLeavePart, Never);
    }
    if (!ended_) {
      connection_.Cancel();
      UntilUninterrupted(Now() + kCancelTimeout, Never);
    }
    if (!ended_) {
      ended_ = true;
      end_status_ = Status(Abandoned());
      Notify();
    }
    callbacks_ = Callbacks{.on_print = nullptr};
  }
  StopBackground();
  std::unique_ptr<Stream> closed;  // without the lock: it waits for gRPC
  MutexLock lock(&mu);
  if (!driving()) {
    closed = connection_.TakeStream();
  }
}

bool SessionLoop::lost() const {
  return ended_ && !connection_.shutdown().leaving && end_status_.code() == Code::kUnavailable;
}

Status SessionLoop::CheckUsable() const {
  if (ended_) {
    return end_status_.ok() ? Status(Code::kCancelled, "the session was closed") : end_status_;
  }
  return connection_.shutdown().finishing
             ? Status(Code::kFailedPrecondition, "the session is being closed")
             : Status();
}

const DeviceInfo* SessionLoop::device() const {
  const auto found =
      std::find_if(info_.devices.begin(), info_.devices.end(),
                   [this](const DeviceInfo& device) { return device.index == info_.device; });
  return found == info_.devices.end() ? nullptr : &*found;
}

void SessionLoop::SendNow() {
  queues_.outbox().RequestSend();
  TrySend();
}

void SessionLoop::TrySend() {
  if (ended_ || !connection_.CanWrite() || connection_.WriteResend()) {
    return;
  }
  if (connection_.shutdown().leaving && connection_.SendLeave()) {
    return;
  }
  Outbox& outbox = queues_.outbox();
  v1::ClientMessage* next = nullptr;
  if (connection_.CanSend()) {
    next = outbox.Next([this](v1::ClientMessage* message) {
      mu.AssertHeld();
      connection_.Stamp(message);
    });
  }
  if (next == nullptr) {
    connection_.SendAckIfDue(Now());
    return;
  }
  connection_.Send(*next);
  outbox.MarkSent(next);
  if (!connection_.shutdown().finishing) {
    queues_.AppendFrees();  // those that found no space
    queues_.AppendPayload();
  }
}

void SessionLoop::Move(Instant deadline) {
  if (connection_.state() == Connection::State::kDown && !connection_.Reconnect(Now())) {
    if (connection_.ended()) {
      HandleEnd();
    } else {
      SleepUntil(std::min(deadline, connection_.wake_at()));
    }
    return;
  }
  const Instant until = std::min(deadline, connection_.wake_at());
  Stream* const stream = connection_.stream();  // only the thread with the driver role replaces it
  mu.Unlock();
  const Stream::Event event = stream->Next(until);
  mu.Lock();
  HandleReceived(connection_.Handle(event, Now()));
  if (connection_.ended()) {
    HandleEnd();
  } else {
    TrySend();
  }
}

void SessionLoop::HandleReceived(Connection::Event event) {
  if (event == Connection::Event::kNone) {
    return;
  }
  const v1::ServerMessage& message = connection_.stream()->received();
  Changes changes;
  switch (event) {
    case Connection::Event::kNone:
      break;
    case Connection::Event::kWaiting:
      waits_for_lease_ = true;
      DeliverNotices(message);
      break;
    case Connection::Event::kWelcome:
      HandleWelcome(message.welcome());
      break;
    case Connection::Event::kResumed:
      queues_.outbox().window().Advertise(message.welcome().window_bytes());
      break;
    case Connection::Event::kMessage:
      DeliverNotices(message);
      queues_.Apply(message, &changes);
      [[fallthrough]];
    case Connection::Event::kAck:
      queues_.outbox().window().Advertise(message.window_bytes());
      break;
  }
  connection_.ReadNext();
  Deliver(changes);
}

void SessionLoop::HandleWelcome(const v1::Welcome& welcome) {
  info_ = FromProto(welcome);
  message_limits_ = MessageLimits::From(info_.limits, options_.batch_commands);
  queues_.outbox().SetLimits(message_limits_);
  queues_.outbox().window().Advertise(welcome.window_bytes());
}

void SessionLoop::HandleEnd() {
  ended_ = true;
  const bool finishing = connection_.shutdown().finishing;
  ErrorInfo end = connection_.end().error();
  // Everything was completed and received; only the end of the call was lost with the connection.
  if (connection_.shutdown().leaving) {
    end = Abandoned();
  } else if (finishing && end.reason == "SESSION_LOST" && queues_.AllEnded()) {
    end = {.code = Code::kOk};
  } else if (end.code == Code::kOk && !finishing) {
    end = {.code = Code::kUnavailable, .message = "the daemon has ended this session"};
  } else if (end.code == Code::kUnavailable && connection_.established()) {
    end.message += "; " + queues_.DescribeLoss();
  }
  end_status_ = Status(std::move(end));
}

void SessionLoop::DeliverNotices(const v1::ServerMessage& message) {
  if (message.notices_size() == 0) {
    return;
  }
  const auto on_print = callbacks_.on_print;
  mu.Unlock();
  for (const v1::Notice& notice : message.notices()) {
    if (notice.has_print() && on_print) {
      on_print(FromProto(notice.print()));
    }
    if (notice.has_waiting() && options_.on_waiting) {
      options_.on_waiting(FromProto(notice.waiting()));
    }
  }
  mu.Lock();
}

void SessionLoop::Deliver(const Changes& changes) {
  if (changes.progress.empty() && changes.transfers.empty()) {
    return;
  }
  const auto on_progress = callbacks_.on_progress;
  const auto on_transfer = callbacks_.on_transfer;
  if (!on_progress && !on_transfer) {
    return;
  }
  mu.Unlock();
  for (const Position& position : changes.progress) {
    if (on_progress) {
      on_progress(position);
    }
  }
  for (const auto& [done, size] : changes.transfers) {
    if (on_transfer) {
      on_transfer(done, size);
    }
  }
  mu.Lock();
}

}  // namespace ttfd::client
