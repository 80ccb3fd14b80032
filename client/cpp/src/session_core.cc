// The calls of a session.
#include "client/cpp/src/session_core.h"

#include <algorithm>
#include <string>

#include "client/cpp/src/command_size.h"

namespace ttfd::client {
namespace {

Status WaitDeadline(std::string message) {
  return Status(ErrorInfo{.code = Code::kDeadlineExceeded,
                          .message = std::move(message),
                          .reason = "WAIT",
                          .retryable = true});
}

std::string Within(std::chrono::milliseconds timeout) {
  return " within " + std::to_string(timeout.count()) + " ms";
}

std::string Text(Position position) {
  return "command " + std::to_string(position.value) + " of queue " +
         std::to_string(position.queue);
}

}  // namespace

StreamDriver::Instant SessionCore::CallDeadline() const {
  return StreamDriver::Now() + options_.call_timeout;
}

Status SessionCore::Connect() {
  Status status = loop_.Connect();
  if (status.ok() && options_.background_thread) {
    loop_.StartBackground();
  }
  return status;
}

Status SessionCore::Close() {
  MutexLock lock(&loop_.mu);
  const StreamDriver::Instant deadline = CallDeadline();
  loop_.Until(deadline, [this] {
    loop_.mu.AssertHeld();
    return !loop_.queues().supplies();
  });
  loop_.Finish();
  loop_.Until(deadline, [] { return false; });
  return loop_.ended() ? loop_.end_status()
                       : WaitDeadline("the daemon has not completed this session's commands" +
                                      Within(options_.call_timeout));
}

Status SessionCore::WaitForSpace(uint32_t queue, const MessageSize& size) {
  if (!loop_.queues().Has(queue)) {
    return Status(Code::kInvalidArgument, "this queue belongs to another session");
  }
  const StreamDriver::Instant deadline = CallDeadline();
  Status status;
  do {
    const auto recorded = [&] {
      loop_.mu.AssertHeld();
      return recording_.count(queue) == 0;
    };
    if (!loop_.Until(deadline, recorded) && !loop_.ended()) {
      return WaitDeadline("another thread is still recording a trace on this queue");
    }
    const BatchHeader& header = loop_.queues().timeline(queue).next_header();
    status = WaitForMessage(size + header.size());
  } while (status.ok() && recording_.count(queue) != 0);
  return status;
}

Status SessionCore::WaitForMessage(const MessageSize& size) {
  if (Status status = loop_.message_limits().Check(size); !status.ok()) {
    return status;
  }
  const auto done = [&] {
    loop_.mu.AssertHeld();
    return loop_.queues().outbox().HasSpaceFor(size) || !loop_.CheckUsable().ok();
  };
  if (!done()) {
    loop_.SendNow();
    loop_.Until(CallDeadline(), done);
  }
  const Status usable = loop_.CheckUsable();
  return !usable.ok() || done() ? usable : NoSpace();
}

Status SessionCore::NoSpace() {
  const Outbox& outbox = loop_.queues().outbox();
  return WaitDeadline("the daemon's window had no space for a message of " +
                      std::to_string(outbox.Cost()) + " bytes" + Within(options_.call_timeout) +
                      "; " + std::to_string(outbox.window().available()) + " are available");
}

void SessionCore::SendFullBatch() {
  if (loop_.queues().outbox().commands() >= options_.batch_commands) {
    loop_.SendNow();
  }
}

Result<Position> SessionCore::EnqueueSequence(uint32_t queue, std::span<const MessageSize> sizes,
                                              const std::function<void(size_t, v1::Command*)>& fill,
                                              const std::function<void(v1::Command*)>& abandon) {
  MutexLock lock(&loop_.mu);
  Status status = WaitForSpace(queue, sizes.front());
  if (!status.ok()) {
    return status;
  }
  recording_.insert(queue);
  Position first;
  for (size_t i = 0; i < sizes.size() && status.ok(); ++i) {
    const Position position =
        loop_.queues().Append(queue, sizes[i], [&](v1::Command* command) { fill(i, command); });
    first = i == 0 ? position : first;
    SendFullBatch();
    if (i + 1 < sizes.size()) {
      status = WaitForMessage(sizes[i + 1] + BatchHeader().size());
    }
  }
  if (!status.ok() && loop_.CheckUsable().ok()) {
    loop_.queues().Append(queue, kSmallCommand, abandon);
  }
  recording_.erase(queue);
  loop_.Notify();
  return status.ok() ? Result<Position>(first) : Result<Position>(status);
}

Result<Position> SessionCore::EnqueueRead(uint32_t queue, uint64_t buffer, uint64_t offset,
                                          std::span<std::byte> into) {
  MutexLock lock(&loop_.mu);
  if (Status status = WaitForSpace(queue, kSmallCommand); !status.ok()) {
    return status;
  }
  const Position position = loop_.queues().Append(queue, kSmallCommand, [&](v1::Command* command) {
    v1::Read* read = command->mutable_read();
    read->set_buffer(buffer);
    read->set_offset(offset);
    read->set_size(into.size());
  });
  loop_.queues().timeline(queue).ExpectRead(position.value, into);
  SendFullBatch();
  return position;
}

Status SessionCore::Supply(Position command, std::span<const std::byte> payload) {
  const size_t chunk_bytes = std::max<size_t>(loop_.message_limits().chunk_bytes, 1);
  for (uint64_t offset = 0; offset < payload.size();) {
    const size_t size = std::min<size_t>(chunk_bytes, payload.size() - offset);
    std::function<void(uint64_t, uint64_t)> report;
    {
      MutexLock lock(&loop_.mu);
      if (Status status = WaitForSpace(command.queue, Outbox::DataSize(size)); !status.ok()) {
        loop_.queues().SupplyLater(command, offset, payload.subspan(offset));
        loop_.TrySend();
        return status;
      }
      if (loop_.queues().timeline(command.queue).completed() >= command.value) {
        return Status();  // refused or aborted: the rest is not needed
      }
      loop_.queues().outbox().AddData(command, offset, payload.subspan(offset, size));
      loop_.SendNow();
      report = loop_.callbacks().on_transfer;
    }
    offset += size;
    if (report) {
      report(offset, payload.size());
    }
  }
  return Status();
}

Result<uint32_t> SessionCore::OpenQueue(const QueueOptions& options) {
  Position opened;
  {
    MutexLock lock(&loop_.mu);
    const MessageSize size = SessionQueues::OpenQueueSize(options);
    if (Status status = WaitForSpace(SessionQueues::kControlQueue, size); !status.ok()) {
      return status;
    }
    opened = loop_.queues().OpenQueue(options);
  }
  const Status status = Wait(opened, options_.call_timeout);
  if (status.ok()) {
    return opened.queue;
  }
  MutexLock lock(&loop_.mu);
  if (loop_.queues().timeline(opened.queue).open_failed()) {
    loop_.queues().ReuseNumber(opened.queue);
  }
  return status;
}

Status SessionCore::Cancel(Position from) {
  MutexLock lock(&loop_.mu);
  Status status = loop_.CheckUsable();
  if (status.ok()) {
    loop_.queues().Cancel(from);
    loop_.TrySend();
  }
  return status;
}

void SessionCore::FreeResource(uint64_t handle) {
  MutexLock lock(&loop_.mu);
  loop_.queues().handles().Free(handle);
  if (loop_.CheckUsable().ok()) {
    loop_.queues().AppendFrees();
  }
}

Status SessionCore::Wait(Position position, std::chrono::milliseconds timeout) {
  MutexLock lock(&loop_.mu);
  SessionQueues& queues = loop_.queues();
  if (!queues.Has(position.queue) || position.value > queues.timeline(position.queue).submitted()) {
    return Status(ErrorInfo{.code = Code::kInvalidArgument,
                            .message = "no command of this session has position " +
                                       std::to_string(position.value) + " of queue " +
                                       std::to_string(position.queue),
                            .reason = "INVALID",
                            .field = "position"});
  }
  const Timeline& timeline = queues.timeline(position.queue);
  const auto has_ended = [&] { return timeline.completed() >= position.value; };
  if (!has_ended()) {
    loop_.SendNow();
    loop_.Until(StreamDriver::Now() + timeout, has_ended);
  }
  if (has_ended()) {
    return timeline.Outcome(position.value);
  }
  return loop_.ended() ? loop_.CheckUsable()
                       : WaitDeadline(Text(position) + " has not ended" + Within(timeout));
}

Status SessionCore::WaitAndClear(Position position) {
  Status status = Wait(position, options_.call_timeout);
  if (!status.ok()) {
    WithQueue(position.queue, [&position](Timeline& timeline) {
      timeline.AbandonRead(position.value);
      timeline.ClearErrorOf(position.value);
    });
  }
  return status;
}

Status SessionCore::Flush() {
  MutexLock lock(&loop_.mu);
  loop_.SendNow();
  const bool sent = loop_.Until(CallDeadline(), [this] {
    loop_.mu.AssertHeld();
    return loop_.queues().outbox().empty();
  });
  return sent || loop_.ended() ? loop_.end_status() : NoSpace();
}

Status SessionCore::Poll(std::chrono::milliseconds timeout) {
  MutexLock lock(&loop_.mu);
  loop_.SendNow();
  loop_.Until(StreamDriver::Now() + timeout, [] { return false; });
  return loop_.end_status();
}

Status SessionCore::status() const {
  MutexLock lock(&loop_.mu);
  return loop_.end_status();
}

bool SessionCore::lost() const {
  MutexLock lock(&loop_.mu);
  return loop_.lost();
}

uint64_t SessionCore::reconnects() const {
  MutexLock lock(&loop_.mu);
  return loop_.reconnects();
}

void SessionCore::SetCallbacks(const Callbacks& callbacks) {
  MutexLock lock(&loop_.mu);
  loop_.callbacks() = callbacks;
}

}  // namespace ttfd::client
