// How a session goes on after its transport broke, and what it says when it cannot.
#include <algorithm>
#include <array>

#include "client/cpp/src/convert.h"
#include "client/cpp/src/options.h"
#include "client/cpp/src/session_core.h"

namespace ttfd::client {
namespace {

constexpr uint32_t kRevision = 1;  // of the API that this library speaks
constexpr std::chrono::milliseconds kFirstBackoff{10};
constexpr std::chrono::milliseconds kLongestBackoff{1000};
// The daemon keeps so many errors for a client that does not say that it has them.
constexpr uint64_t kErrorsUnreceipted = 128;
constexpr uint64_t kReadWindowShare = 4;

std::string Count(uint64_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

}  // namespace

Status SessionCore::Greet() {
  stream_->StartRead();
  v1::ClientMessage message;
  v1::Hello* hello = message.mutable_hello();
  hello->set_min_revision(kRevision);
  hello->set_max_revision(kRevision);
  hello->set_client_name(options_.client_name);
  hello->set_weight(options_.weight);
  hello->set_priority(ToProto(options_.priority));
  hello->set_resume_grace_ms(static_cast<uint32_t>(options_.reconnect_for.count()));
  if (back_.reconnecting) {
    v1::Resume* resume = hello->mutable_resume();
    resume->set_session(session_id_);
    resume->set_token(back_.token);
    resume->set_received_prints(back_.prints);
    for (uint32_t queue = 0; queue < queues_.size(); ++queue) {
      queues_[queue].AddReceived(queue, resume);
    }
    back_.unreceipted_bytes = back_.unreceipted_errors = 0;
    if (bye_.leaving) {
      bye_.left = true;  // with the first message: the daemon may not want more of this session
      message.set_ending(v1::ENDING_LEAVE);
    }
  } else if (Status attach = FillAttach(options_, hello); !attach.ok()) {
    return attach;
  }
  Write(Stream::Encode(message));
  return Status();
}

bool SessionCore::CanReconnect(const Status& status) const {
  return resumable() && welcomed_ && !bye_.last_try && status.reason() == "UNREACHABLE";
}

// The first attempt is made at once; a daemon that restarts is not asked by all its clients in one rhythm.
void SessionCore::TransportLost() {
  const Instant now = std::chrono::steady_clock::now();
  // One that breaks again before it has brought anything is the same loss: what breaks it may be what is sent.
  const bool new_loss = back_.reconnects == 0 || ended_commands_ != back_.ended_at_loss ||
                        now - back_.resumed_at >= kLongestBackoff;
  if (!back_.reconnecting && new_loss) {
    back_.ended_at_loss = ended_commands_;
    back_.reconnect_until = now + options_.reconnect_for;
    back_.retry_at = now;
    back_.backoff = kFirstBackoff + kFirstBackoff * (session_id_ % 8) / 8;
  }
  back_.reconnecting = back_.dead = true;
  started_ = writing_ = broken_ = false;
  bye_.finish_sent = bye_.half_closed = bye_.left = false;
}

bool SessionCore::Revive(Instant deadline) {
  const Instant now = std::chrono::steady_clock::now();
  if (now >= back_.reconnect_until) {
    GiveUp();
    return false;
  }
  if (bye_.leaving) {
    // Once and at once: whoever closes a session does not wait for a daemon that is away.
    bye_.last_try = true;
  } else if (now < back_.retry_at) {
    news_.WaitUntil(&mu_, std::min({deadline, back_.retry_at, back_.reconnect_until}));
    return false;
  }
  stream_ = std::make_unique<Stream>(options_.address, options_.tls);
  back_.dead = false;
  back_.retry_at = now + back_.backoff;
  back_.backoff = std::min(2 * back_.backoff, kLongestBackoff);
  return true;
}

void SessionCore::GiveUp() {
  ended_ = true;
  end_status_ = Status(ErrorInfo{.code = Code::kUnavailable,
                                 .message = "the connection to the daemon at " + options_.address +
                                            " was lost and could not be made again within " +
                                            std::to_string(options_.reconnect_for.count()) +
                                            " ms; " + WhatIsGone(),
                                 .reason = "CONNECTION_LOST",
                                 .retryable = true});
}

void SessionCore::Resumed(const v1::Welcome& welcome) {
  back_.reconnecting = false;
  ++back_.reconnects;
  back_.resumed_at = std::chrono::steady_clock::now();
  credit_commands_ = std::max(credit_commands_, welcome.credit().commands());
  // Nobody knows which bytes were lost with the old connection: both sides count those of the new one.
  credit_bytes_ = welcome.credit().bytes();
  sent_bytes_ = 0;
  back_.sent.Rewind();
}

Status SessionCore::LossOf(const Status& end) const {
  ErrorInfo error = end.error();
  if (error.reason == "UNREACHABLE") {
    error.message = "the connection to the daemon at " + options_.address +
                    " was lost, and the session with it; " + WhatIsGone();
    error.reason = "CONNECTION_LOST";
  } else if (error.reason == "SESSION_LOST") {
    error.code = Code::kUnavailable;
    error.message = "the daemon at " + options_.address +
                    " does not have this session any more: it was started again, or the connection "
                    "was away for too long; " +
                    WhatIsGone();
  } else if (error.code == Code::kUnavailable) {
    error.message += "; " + WhatIsGone();
  } else {
    return end;
  }
  error.retryable = true;
  return Status(error);
}

std::string SessionCore::WhatIsGone() const {
  constexpr std::array<std::pair<Owned, const char*>, 4> kNames = {{{Owned::kBuffer, "buffer"},
                                                                    {Owned::kKernel, "kernel"},
                                                                    {Owned::kProgram, "program"},
                                                                    {Owned::kTrace, "trace"}}};
  std::string text = "gone: ";
  for (const auto& [kind, name] : kNames) {
    const auto count = std::count_if(back_.owned.begin(), back_.owned.end(),
                                     [k = kind](const auto& one) { return one.second == k; });
    text += Count(static_cast<uint64_t>(count), name) + ", ";
  }
  uint64_t unanswered = 0;
  for (const Timeline& timeline : queues_) {
    unanswered += timeline.submitted() - timeline.completed();
  }
  return text + Count(unanswered, "command") + " without an answer";
}

bool SessionCore::AllEnded() const {
  return std::all_of(queues_.begin(), queues_.end(), [](const Timeline& timeline) {
    return timeline.completed() == timeline.submitted();
  });
}

bool SessionCore::ReceiptsUrgent() const {
  if (!resumable()) {
    return false;
  }
  // The daemon ends the call when it knows that everything was received.
  const bool at_the_end =
      bye_.finish_sent && std::any_of(queues_.begin(), queues_.end(), [](const Timeline& timeline) {
        return timeline.OwesReceipt(true);
      });
  return at_the_end || back_.unreceipted_bytes >= back_.read_window / kReadWindowShare ||
         back_.unreceipted_errors >= kErrorsUnreceipted;
}

void SessionCore::AddReceipts(v1::ClientMessage* message) {
  for (uint32_t queue = 0; queue < queues_.size(); ++queue) {
    queues_[queue].AddReceipts(queue, bye_.closing, message);
  }
  back_.unreceipted_bytes = back_.unreceipted_errors = 0;
}

void SessionCore::ForgetSent() {
  if (!resumable()) {
    return;
  }
  const uint64_t received =
      credit_bytes_ > back_.window_bytes ? credit_bytes_ - back_.window_bytes : 0;
  back_.sent.Forget(
      [this](Position position) {
        mu_.AssertHeld();
        return queues_[position.queue].completed() >= position.value;
      },
      received);
}

bool SessionCore::lost() const {
  MutexLock lock(&mu_);
  return ended_ && !bye_.leaving && (end_status_.code() == Code::kUnavailable);
}

uint64_t SessionCore::reconnects() const {
  MutexLock lock(&mu_);
  return back_.reconnects;
}

}  // namespace ttfd::client
