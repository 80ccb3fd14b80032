// The commands of a session.
#include "client/cpp/src/session_queues.h"

#include <algorithm>

#include "client/cpp/src/command_size.h"
#include "client/cpp/src/convert.h"

namespace ttfd::client {

SessionQueues::SessionQueues(uint64_t handles_before) : handles_(handles_before) {
  for (const uint32_t queue : {kControlQueue, kFirstUserQueue}) {
    timelines_.emplace_back();
    outbox_.AddOpenQueue(queue, {});
  }
}

MessageSize SessionQueues::OpenQueueSize(const QueueOptions& options) {
  return Outbox::OpenQueueSize(options) + BatchHeader().size() + kSmallCommand;
}

Position SessionQueues::OpenQueue(const QueueOptions& options) {
  auto queue = static_cast<uint32_t>(timelines_.size());
  if (reusable_.empty()) {
    timelines_.emplace_back();
  } else {
    queue = reusable_.back();
    reusable_.pop_back();
    timelines_[queue].Reopen();
  }
  outbox_.AddOpenQueue(queue, options);
  return Append(queue, kSmallCommand, [](v1::Command* command) { command->mutable_barrier(); });
}

void SessionQueues::AppendFrees() {
  const MessageSize size = kSmallCommand + MessageSize{kFreesPerCommand * kVarintBytes, 0};
  while (handles_.any_to_free() && outbox_.HasSpaceFor(size + BatchHeader().size())) {
    std::vector<uint64_t> handles = handles_.Take(kFreesPerCommand);
    const MessageSize taken = kSmallCommand + MessageSize{handles.size() * kVarintBytes, 0};
    const Position position = Append(kControlQueue, taken, [&handles](v1::Command* command) {
      command->mutable_free()->mutable_handles()->Add(handles.begin(), handles.end());
    });
    handles_.Sent(position.value, std::move(handles));
  }
}

void SessionQueues::SupplyLater(Position command, uint64_t offset,
                                std::span<const std::byte> payload) {
  payloads_.push_back({command, offset, {payload.begin(), payload.end()}});
  AppendPayload();
}

void SessionQueues::AppendPayload() {
  const size_t chunk_bytes = std::max<size_t>(outbox_.limits().chunk_bytes, 1);
  while (!payloads_.empty()) {
    Payload& payload = payloads_.front();
    const size_t size = std::min(chunk_bytes, payload.bytes.size() - payload.sent);
    if (size == 0 || timelines_[payload.command.queue].completed() >= payload.command.value) {
      payloads_.pop_front();  // all sent; or refused or aborted
      continue;
    }
    if (!outbox_.HasSpaceFor(Outbox::DataSize(size))) {
      break;
    }
    outbox_.AddData(payload.command, payload.offset + payload.sent,
                    std::span(payload.bytes).subspan(payload.sent, size));
    payload.sent += size;
    outbox_.RequestSend();
  }
}

void SessionQueues::Apply(const v1::ServerMessage& message, Changes* changes) {
  for (const v1::Data& data : message.data()) {
    uint64_t done = 0;
    uint64_t size = 0;
    const std::string& payload = data.payload();
    if (Has(data.queue()) &&
        timelines_[data.queue()].AcceptData(
            data.value(), data.offset(), std::as_bytes(std::span(payload.data(), payload.size())),
            &done, &size)) {
      changes->transfers.emplace_back(done, size);
    }
  }
  for (const v1::CommandError& error : message.errors()) {
    if (Has(error.queue())) {
      timelines_[error.queue()].AddError(error.first_value(), error.last_value(), FromProto(error));
    }
  }
  for (const v1::QueuePosition& progress : message.progress()) {
    AddProgress(progress, changes);
  }
}

void SessionQueues::AddProgress(const v1::QueuePosition& progress, Changes* changes) {
  if (!Has(progress.queue())) {
    return;
  }
  Timeline& timeline = timelines_[progress.queue()];
  if (!timeline.Advance(std::min(progress.value(), timeline.submitted()))) {
    return;
  }
  if (progress.queue() != kControlQueue) {
    changes->progress.push_back(FromProto(progress));
    return;
  }
  // The queue is open by the time a Free is sent again, or the next batch opens it.
  if (handles_.Retire(timeline)) {
    timeline.ClearError();
    AppendFrees();
  }
}

uint64_t SessionQueues::Unanswered() const {
  uint64_t count = 0;
  for (const Timeline& timeline : timelines_) {
    count += timeline.submitted() - timeline.completed();
  }
  return count;
}

std::string SessionQueues::DescribeLoss() const {
  return "gone: " + handles_.Describe() + ", " + Counted(Unanswered(), "command") +
         " without an answer";
}

}  // namespace ttfd::client
