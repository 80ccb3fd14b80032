// The session's calls: greeting and ending, commands and payload, waiting. session_pump.cc moves
// the stream.
#include "client/cpp/src/session_core.h"

#include <algorithm>

#include "client/cpp/src/convert.h"
#include "client/cpp/src/options.h"

namespace ttfd::client {

namespace {

constexpr size_t kSmallCommandBytes = 64;  // more than any command of a few numbers takes
// For the daemon to hear that the session is left; and how long the call may take to end after a cancel.
constexpr std::chrono::seconds kLeaveTimeout{2};
constexpr std::chrono::seconds kShutdownTimeout{5};
constexpr std::chrono::hours kLongestLeaseWait{24 * 366};  // what a daemon can be configured for

}  // namespace

SessionCore::SessionCore(const ConnectOptions& options, uint64_t handles_before)
    : options_(options), next_handle_(handles_before + 1) {
  MutexLock lock(&mu_);
  queues_.emplace_back();  // kControlQueue
  queues_.emplace_back();  // kFirstUserQueue
}

SessionCore::~SessionCore() { Shutdown(); }

SessionCore::Instant SessionCore::CallDeadline() const {
  return std::chrono::steady_clock::now() + options_.call_timeout;
}

Status SessionCore::DeadlineStatus(const std::string& what) const {
  return Status(ErrorInfo{
      .code = Code::kDeadlineExceeded, .message = what, .reason = "WAIT", .retryable = true});
}

Status SessionCore::Connect() {
  const Instant deadline = std::chrono::steady_clock::now() + options_.connect_timeout;
  stream_ = std::make_unique<Stream>(options_.address, options_.tls);
  MutexLock lock(&mu_);
  const bool started = PumpUntil(deadline, [this] {
    mu_.AssertHeld();
    return started_;
  });
  if (started) {
    if (Status greeted = Greet(); !greeted.ok()) {
      return greeted;
    }
    Append(kControlQueue, kSmallCommandBytes, 0,
           [](v1::Command* command) { command->mutable_open_queue()->set_queue(kFirstUserQueue); });
    flush_wanted_ = true;
    TrySend();
  }
  // Somebody answers at once, if only that the lease has to be waited for. The daemon bounds that.
  bool welcomed = started && PumpUntil(deadline, [this] {
                    mu_.AssertHeld();
                    return welcomed_ || waits_for_lease_;
                  });
  if (welcomed && !welcomed_) {
    welcomed = PumpUntil(std::chrono::steady_clock::now() + kLongestLeaseWait, [this] {
      mu_.AssertHeld();
      return welcomed_;
    });
  }
  if (!welcomed) {
    return ended_ ? end_status_
                  : Status(ErrorInfo{
                        .code = Code::kUnavailable,
                        .message = "no ttfd daemon answered at " + options_.address + " within " +
                                   std::to_string(options_.connect_timeout.count()) + " ms",
                        .reason = "UNREACHABLE",
                        .retryable = true});
  }
  if (options_.background_thread) {
    background_ = std::thread([this] { RunBackground(); });
  }
  return Status();
}

Status SessionCore::Close() {
  MutexLock lock(&mu_);
  bye_.closing = true;
  flush_wanted_ = true;
  TrySend();
  PumpUntil(CallDeadline(), [] { return false; });
  if (!ended_) {
    return DeadlineStatus("the daemon has not finished this session's commands within " +
                          std::to_string(options_.call_timeout.count()) + " ms");
  }
  return end_status_;
}

void SessionCore::Shutdown() {
  {
    MutexLock lock(&mu_);
    if (stream_ == nullptr) {
      return;
    }
    stop_background_ = true;
    // Else the daemon would keep the session for a client that may come back; also if the connection is broken now.
    if (resumable() && welcomed_ && !ended_) {
      bye_.leaving = true;
      news_.NotifyAll();
      TrySend();
      PumpUntil(std::chrono::steady_clock::now() + kLeaveTimeout, [] { return false; });
    }
    if (!ended_ && !back_.dead) {
      stream_->Cancel();
      PumpUntil(std::chrono::steady_clock::now() + kShutdownTimeout, [] { return false; });
    }
    if (!ended_) {
      ended_ = true;
    }
    if (end_status_.ok()) {
      end_status_ = Status(Code::kCancelled, "the session object has been destroyed");
    }
    on_progress_ = nullptr;
    on_transfer_ = nullptr;
    on_print_ = nullptr;
  }
  if (background_.joinable()) {
    background_.join();
  }
}

Result<Position> SessionCore::EnqueueRead(uint32_t queue, uint64_t buffer, uint64_t offset,
                                          std::span<std::byte> into) {
  MutexLock lock(&mu_);
  if (Status status = AwaitRoom(queue); !status.ok()) {
    return status;
  }
  // Before the command leaves, so that its bytes find their place.
  Timeline& timeline = queues_[queue];
  timeline.ExpectRead(timeline.submitted() + 1, into);
  return Append(queue, kSmallCommandBytes, 0, [&](v1::Command* command) {
    v1::Read* read = command->mutable_read();
    read->set_buffer(buffer);
    read->set_offset(offset);
    read->set_size(into.size());
  });
}

Status SessionCore::Supply(Position command, std::span<const std::byte> payload) {
  for (uint64_t offset = 0; offset < payload.size();) {
    const std::span<const std::byte> chunk =
        payload.subspan(offset, std::min<size_t>(chunk_bytes_, payload.size() - offset));
    std::function<void(uint64_t, uint64_t)> report;
    {
      MutexLock lock(&mu_);
      if (Status status = AwaitRoom(command.queue); !status.ok()) {
        return status;
      }
      if (queues_[command.queue].completed() >= command.value) {
        return Status();  // refused or given up already: nobody waits for the rest
      }
      outbox_.AddData(command, offset, chunk);
      flush_wanted_ = true;
      TrySend();
      report = on_transfer_;
    }
    offset += chunk.size();
    if (report) {
      report(offset, payload.size());
    }
  }
  return Status();
}

void SessionCore::AppendFree(uint64_t handle) {
  const Position position =
      Append(kControlQueue, kSmallCommandBytes, 0,
             [handle](v1::Command* command) { command->mutable_free()->add_handles(handle); });
  frees_.push_back({position.value, handle});
}

void SessionCore::FreeHandle(uint64_t handle) {
  MutexLock lock(&mu_);
  back_.owned.erase(handle);
  if (!ended_ && !broken_ && !bye_.closing) {
    AppendFree(handle);
  }
}

void SessionCore::Own(uint64_t handle, Owned kind) {
  MutexLock lock(&mu_);
  back_.owned[handle] = kind;
}

uint64_t SessionCore::last_handle() const {
  MutexLock lock(&mu_);
  return next_handle_ - 1;
}

uint64_t SessionCore::NewHandle() {
  MutexLock lock(&mu_);
  return next_handle_++;
}

uint32_t SessionCore::NewQueue() {
  MutexLock lock(&mu_);
  const uint32_t queue = static_cast<uint32_t>(queues_.size());
  queues_.emplace_back();
  return queue;
}

Status SessionCore::Cancel(Position from) {
  MutexLock lock(&mu_);
  if (Status status = AwaitRoom(from.queue); !status.ok()) {
    return status;
  }
  const uint64_t sent = queues_[from.queue].submitted();
  if (sent == 0) {
    return Status();
  }
  outbox_.AddCancel(from, sent);
  flush_wanted_ = true;
  TrySend();
  return Status();
}

Status SessionCore::Wait(Position position, std::chrono::milliseconds timeout) {
  MutexLock lock(&mu_);
  if (position.queue >= queues_.size() || position.value > queues_[position.queue].submitted()) {
    return Status(ErrorInfo{.code = Code::kInvalidArgument,
                            .message = "no command of this session has position " +
                                       std::to_string(position.value) + " of queue " +
                                       std::to_string(position.queue),
                            .reason = "INVALID",
                            .field = "position"});
  }
  const Timeline& timeline = queues_[position.queue];
  if (timeline.completed() < position.value) {
    flush_wanted_ = flush_wanted_ || !outbox_.empty();
    TrySend();
    PumpUntil(std::chrono::steady_clock::now() + timeout,
              [&] { return timeline.completed() >= position.value; });
  }
  if (timeline.completed() >= position.value) {
    return timeline.Outcome(position.value);
  }
  if (ended_) {
    return end_status_.ok() ? Status(Code::kCancelled, "the session was closed") : end_status_;
  }
  return DeadlineStatus("command " + std::to_string(position.value) + " of queue " +
                        std::to_string(position.queue) + " has not ended within " +
                        std::to_string(timeout.count()) + " ms");
}

Status SessionCore::WaitTold(Position position) {
  Status status = Wait(position, options_.call_timeout);
  if (!status.ok()) {
    MutexLock lock(&mu_);
    Timeline& timeline = queues_[position.queue];
    timeline.ForgetRead(position.value);
    timeline.ToldCaller(position.value);
  }
  return status;
}

Status SessionCore::Flush() {
  MutexLock lock(&mu_);
  flush_wanted_ = flush_wanted_ || !outbox_.empty();
  TrySend();
  const bool sent = PumpUntil(CallDeadline(), [this] {
    mu_.AssertHeld();
    return outbox_.empty();
  });
  if (ended_) {
    return end_status_;
  }
  return sent ? Status() : DeadlineStatus("the daemon has given no credit to send more commands");
}

Status SessionCore::Poll(std::chrono::milliseconds timeout) {
  MutexLock lock(&mu_);
  flush_wanted_ = flush_wanted_ || !outbox_.empty();
  TrySend();
  PumpUntil(std::chrono::steady_clock::now() + timeout, [] { return false; });
  return ended_ ? end_status_ : Status();
}

uint64_t SessionCore::Submitted(uint32_t queue) const {
  MutexLock lock(&mu_);
  return queues_[queue].submitted();
}

uint64_t SessionCore::Completed(uint32_t queue) const {
  MutexLock lock(&mu_);
  return queues_[queue].completed();
}

Status SessionCore::QueueError(uint32_t queue) const {
  MutexLock lock(&mu_);
  return queues_[queue].FirstError();
}

Status SessionCore::ClearError(uint32_t queue) {
  MutexLock lock(&mu_);
  queues_[queue].ClearError();
  return ended_ ? end_status_ : Status();
}

Status SessionCore::SetNextHeader(uint32_t queue, const std::function<void(BatchHeader*)>& set) {
  MutexLock lock(&mu_);
  set(&queues_[queue].next_header());
  return ended_ ? end_status_ : Status();
}

Status SessionCore::status() const {
  MutexLock lock(&mu_);
  return end_status_;
}

void SessionCore::OnProgress(std::function<void(Position)> callback) {
  MutexLock lock(&mu_);
  on_progress_ = std::move(callback);
}

void SessionCore::OnPrint(std::function<void(const KernelPrint&)> callback) {
  MutexLock lock(&mu_);
  on_print_ = std::move(callback);
}

void SessionCore::OnTransfer(std::function<void(uint64_t, uint64_t)> callback) {
  MutexLock lock(&mu_);
  on_transfer_ = std::move(callback);
}

}  // namespace ttfd::client
