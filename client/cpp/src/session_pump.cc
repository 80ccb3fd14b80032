// Moving a session's stream: what leaves, and what is done with what comes in.
#include <algorithm>

#include "client/cpp/src/convert.h"
#include "client/cpp/src/options.h"
#include "client/cpp/src/session_core.h"

namespace ttfd::client {

bool SessionCore::Full() const {
  return outbox_.commands() >= max_commands_ || outbox_.bytes() >= kMessageBytes ||
         outbox_.payload_bytes() + chunk_bytes_ > max_payload_bytes_;
}

// Exceeding credit is no error, so a session with nothing under way may always send: a daemon that
// counts differently slows it down and cannot stop it.
bool SessionCore::CreditAllows() const {
  if (!welcomed_ || ended_commands_ == sent_commands_) {
    return true;
  }
  return sent_commands_ + outbox_.commands() <= credit_commands_ &&
         sent_bytes_ + outbox_.payload_bytes() <= credit_bytes_;
}

void SessionCore::TrySend() {
  if (!started_ || writing_ || broken_ || ended_) {
    return;
  }
  if (bye_.leaving) {
    SendEnding();
    return;
  }
  if (back_.reconnecting) {
    return;  // the Welcome comes first
  }
  if (const Stream::Encoded* again = back_.sent.Next(&sent_bytes_)) {
    Write(*again);
    return;
  }
  flush_wanted_ = flush_wanted_ && !outbox_.empty();
  if (flush_wanted_ && CreditAllows()) {
    sent_commands_ += outbox_.commands();
    const uint64_t payload = outbox_.payload_bytes();
    sent_bytes_ += payload;
    if (resumable()) {
      AddReceipts(&outbox_.message());
    }
    const Stream::Encoded message = Stream::Encode(outbox_.message());
    if (resumable()) {
      back_.sent.Add(message, outbox_.message(), payload, sent_bytes_);
    }
    outbox_.Clear();
    flush_wanted_ = false;
    Write(message);
  } else if (ReceiptsUrgent()) {
    // Without them the daemon may hold back the very answers that would bring credit.
    v1::ClientMessage receipts;
    AddReceipts(&receipts);
    Write(Stream::Encode(receipts));
  } else if (outbox_.empty()) {
    SendEnding();
  }
}

void SessionCore::Write(const Stream::Encoded& message) {
  stream_->StartWrite(message);
  writing_ = true;
}

// A connection that is lost looks like a half-close, so the end of a resumable session is said in words first.
void SessionCore::SendEnding() {
  if (bye_.half_closed || !(bye_.closing || bye_.leaving)) {
    return;
  }
  v1::ClientMessage message;
  if (bye_.leaving && !bye_.left) {
    bye_.left = true;
    message.set_ending(v1::ENDING_LEAVE);
    Write(Stream::Encode(message));
  } else if (!bye_.leaving && resumable() && !bye_.finish_sent) {
    bye_.finish_sent = true;
    AddReceipts(&message);
    message.set_ending(v1::ENDING_FINISH);
    Write(Stream::Encode(message));
  } else if (bye_.leaving || !resumable() || AllEnded()) {
    bye_.half_closed = writing_ = true;
    stream_->StartWritesDone();
  }
}

Status SessionCore::AwaitRoom(uint32_t queue) {
  if (queue >= queues_.size()) {
    return Status(Code::kInvalidArgument, "this queue belongs to another session");
  }
  Status status;
  do {
    if (recording_.count(queue) != 0) {
      // The thread that records moves the stream itself if nobody else does.
      const Instant deadline = CallDeadline();
      while (recording_.count(queue) != 0 && std::chrono::steady_clock::now() < deadline) {
        recorded_.WaitUntil(&mu_, deadline);
      }
      if (recording_.count(queue) != 0) {
        return DeadlineStatus("another thread is still recording a trace on this queue");
      }
    }
    status = AwaitSpace();
  } while (status.ok() && recording_.count(queue) != 0);
  return status;
}

Status SessionCore::AwaitSpace() {
  if (Full()) {
    flush_wanted_ = true;
    TrySend();
    PumpUntil(CallDeadline(), [this] {
      mu_.AssertHeld();
      return !Full();
    });
  }
  if (ended_) {
    return end_status_.ok() ? Status(Code::kCancelled, "the session was closed") : end_status_;
  }
  if (bye_.closing) {
    return Status(Code::kFailedPrecondition, "the session is being closed");
  }
  return Full() ? DeadlineStatus("the daemon has given no credit to send more") : Status();
}

void SessionCore::PumpOnce(Instant deadline) {
  if (pumping_) {
    ++sleepers_;
    news_.WaitUntil(&mu_, deadline);
    --sleepers_;
    return;
  }
  pumping_ = true;
  if (back_.dead && !Revive(deadline)) {
    pumping_ = false;
    if (sleepers_ != 0) {
      news_.NotifyAll();
    }
    return;
  }
  if (back_.reconnecting) {
    deadline = std::min(deadline, back_.reconnect_until);
  }
  Stream* const stream = stream_.get();  // only who pumps makes another
  mu_.Unlock();
  const Stream::Event event = stream->Next(deadline);
  if (event == Stream::Event::kRead && stream->received().notices_size() != 0) {
    TellNotices(stream->received());
  }
  mu_.Lock();
  News news;
  Handle(event, &news);
  if (!news.progress.empty() || !news.transfers.empty()) {
    const auto on_progress = on_progress_;
    const auto on_transfer = on_transfer_;
    mu_.Unlock();
    for (const Position& position : news.progress) {
      on_progress(position);
    }
    for (const auto& [done, size] : news.transfers) {
      on_transfer(done, size);
    }
    mu_.Lock();
  }
  pumping_ = false;
  if (sleepers_ != 0) {
    news_.NotifyAll();
  }
}

void SessionCore::TellNotices(const v1::ServerMessage& message) {
  std::function<void(const KernelPrint&)> on_print;
  {
    MutexLock lock(&mu_);
    on_print = on_print_;
  }
  for (const v1::Notice& notice : message.notices()) {
    if (notice.has_print() && on_print) {
      on_print(FromProto(notice.print()));
    }
    if (notice.has_waiting() && options_.on_waiting) {
      const v1::LeaseWait& wait = notice.waiting();
      options_.on_waiting(
          {wait.position(), wait.holder(), std::chrono::milliseconds(wait.expected_wait_ms())});
    }
  }
}

void SessionCore::Handle(Stream::Event event, News* news) {
  switch (event) {
    case Stream::Event::kTimeout:
      if (back_.reconnecting && std::chrono::steady_clock::now() >= back_.reconnect_until) {
        GiveUp();
      }
      return;
    case Stream::Event::kStarted:
      started_ = true;
      if (back_.reconnecting) {
        static_cast<void>(Greet());
      }
      return;
    case Stream::Event::kRead:
      HandleMessage(stream_->received(), news);
      stream_->StartRead();
      TrySend();
      return;
    case Stream::Event::kWrote:
      writing_ = false;
      TrySend();
      return;
    case Stream::Event::kNotTaken:
      broken_ = true;
      return;
    case Stream::Event::kEnded:
      HandleEnd();
      return;
  }
}

void SessionCore::HandleEnd() {
  const Status& end = stream_->status();
  if (CanReconnect(end)) {
    TransportLost();
    return;
  }
  ended_ = true;
  // Everything was done and told, and only the goodbye was lost.
  if (bye_.closing && back_.reconnecting && end.reason() == "SESSION_LOST" && AllEnded()) {
    return;
  }
  end_status_ = welcomed_ ? LossOf(end) : end;
  if (end_status_.ok() && !bye_.closing) {
    end_status_ = Status(Code::kUnavailable, "the daemon has ended this session");
  }
}

void SessionCore::HandleMessage(const v1::ServerMessage& message, News* news) {
  for (const v1::Notice& notice : message.notices()) {
    waits_for_lease_ = waits_for_lease_ || notice.has_waiting();
    if (notice.has_print()) {
      back_.prints += 1 + notice.print().lost();
      if (notice.print().queue() < queues_.size()) {
        queues_[notice.print().queue()].Owe(notice.print().value());
      }
    }
    if (notice.what_case() == v1::Notice::kLeaseToken && !welcomed_) {
      lease_token_ = TokenText(notice.lease_token());
    }
  }
  if (message.has_welcome()) {
    HandleWelcome(message.welcome());
  }
  for (const v1::Data& data : message.data()) {
    HandleData(data, news);
  }
  for (const v1::CommandError& error : message.errors()) {
    ++back_.unreceipted_errors;
    if (error.queue() < queues_.size()) {
      queues_[error.queue()].AddError(error.first_value(), error.last_value(),
                                      FromProto(error.error()));
    }
  }
  for (const v1::QueuePosition& progress : message.progress()) {
    HandleProgress(FromProto(progress), news);
  }
  if (message.has_credit()) {
    credit_commands_ = std::max(credit_commands_, message.credit().commands());
    credit_bytes_ = std::max(credit_bytes_, message.credit().bytes());
  }
  ForgetSent();
}

void SessionCore::HandleWelcome(const v1::Welcome& welcome) {
  back_.token = welcome.token();
  if (welcomed_) {
    Resumed(welcome);
    return;
  }
  session_id_ = welcome.session();
  daemon_version_ = welcome.daemon_version();
  for (const v1::Device& device : welcome.devices()) {
    devices_.push_back(FromProto(device));
  }
  if (devices_.empty()) {
    devices_.emplace_back();
  }
  limits_ = FromProto(welcome.limits());
  credit_commands_ = welcome.credit().commands();
  credit_bytes_ = welcome.credit().bytes();
  back_.window_bytes = credit_bytes_;
  if (welcome.credit().read_bytes() != 0) {
    back_.read_window = welcome.credit().read_bytes();
  }
  // One message must fit into the credit of an idle session, which may be told late.
  if (credit_commands_ != 0) {
    max_commands_ = std::clamp<uint64_t>(credit_commands_ / 2, 1, max_commands_);
  }
  max_batch_ = std::max(options_.batch_commands, 1U);
  if (limits_.commands_per_batch != 0) {
    max_batch_ = std::min(max_batch_, limits_.commands_per_batch);
  }
  if (limits_.chunk_bytes != 0) {
    chunk_bytes_ = std::min<size_t>(chunk_bytes_, limits_.chunk_bytes);
  }
  if (credit_bytes_ != 0) {
    max_payload_bytes_ = std::max<uint64_t>(credit_bytes_ / 2, 1);
    chunk_bytes_ = std::min<size_t>(chunk_bytes_, max_payload_bytes_);
  }
  welcomed_ = true;
}

void SessionCore::HandleProgress(Position position, News* news) {
  if (position.queue >= queues_.size()) {
    return;
  }
  Timeline& timeline = queues_[position.queue];
  const uint64_t before = timeline.completed();
  if (!timeline.Advance(std::min(position.value, timeline.submitted()))) {
    return;
  }
  ended_commands_ += timeline.completed() - before;
  if (position.queue == kControlQueue) {
    RetireFrees();
  } else if (on_progress_) {
    news->progress.push_back(position);
  }
}

void SessionCore::HandleData(const v1::Data& data, News* news) {
  if (data.queue() >= queues_.size()) {
    return;
  }
  uint64_t done = 0;
  uint64_t size = 0;
  const std::string& payload = data.payload();
  back_.unreceipted_bytes += payload.size();
  const bool accepted = queues_[data.queue()].AcceptData(
      data.value(), data.offset(), std::as_bytes(std::span(payload.data(), payload.size())), &done,
      &size);
  if (accepted && on_transfer_) {
    news->transfers.emplace_back(done, size);
  }
}

// A Free that was given up because a creation before it failed is said again: by then the queue is
// open, or its next batch opens it.
void SessionCore::RetireFrees() {
  const Timeline& timeline = queues_[kControlQueue];
  std::vector<uint64_t> again;
  while (!frees_.empty() && frees_.front().value <= timeline.completed()) {
    if (timeline.Aborted(frees_.front().value)) {
      again.push_back(frees_.front().handle);
    }
    frees_.pop_front();
  }
  if (!again.empty()) {
    queues_[kControlQueue].ClearError();
  }
  for (const uint64_t handle : again) {
    AppendFree(handle);
  }
}

void SessionCore::RunBackground() {
  MutexLock lock(&mu_);
  while (!ended_ && !stop_background_) {
    PumpOnce(std::chrono::steady_clock::now() + std::chrono::hours(1));
  }
}

}  // namespace ttfd::client
