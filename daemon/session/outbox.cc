// Adding, taking, connecting.
#include "daemon/session/outbox.h"

#include <utility>

#include "daemon/api/errors.h"

namespace ttfd {

Outbox::Outbox(ReceiveWindow& window, const SessionLimits& limits, std::shared_ptr<UserUse> user,
               std::atomic<const SessionOutput*>& newest, const Connection& connection,
               bool waits_for_lease)
    : window_(window),
      newest_(newest),
      use_(limits, std::move(user)),
      connection_(connection),
      waits_for_lease_(waits_for_lease),
      advertised_(window.granted()) {
  newest_ = connection.output;
}

// ---- device thread

void Outbox::AddPrint(KernelPrintReply print, uint64_t max_bytes) {
  MutexLock lock(&mu_);
  buffer_.AddPrint(std::move(print), max_bytes);
  Count();
}

void Outbox::AddData(DataChunk chunk) {
  MutexLock lock(&mu_);
  buffer_.AddData(std::move(chunk));
  Count();
}

void Outbox::BeginRead(uint64_t bytes) {
  MutexLock lock(&mu_);
  buffer_.BeginRead(bytes);
  Count();
}

void Outbox::EndRead(uint64_t bytes) {
  MutexLock lock(&mu_);
  buffer_.EndRead(bytes);
  Count();
}

void Outbox::AddError(uint32_t queue, uint64_t first_value, uint64_t last_value,
                      const ErrorReply& error) {
  MutexLock lock(&mu_);
  buffer_.AddError(queue, first_value, last_value, error);
  Count();
}

void Outbox::SetOpenError(uint32_t queue, const ErrorReply& error) {
  MutexLock lock(&mu_);
  buffer_.SetOpenError(queue, error);
}

void Outbox::SetWaiting(const LeaseWaitReply& wait) {
  MutexLock lock(&mu_);
  buffer_.SetWaiting(wait);
}

void Outbox::SetWelcome(std::string lease_token) {
  MutexLock lock(&mu_);
  waits_for_lease_ = false;
  buffer_.SetWelcome(std::move(lease_token));
}

void Outbox::ReleaseEnded(uint64_t cost) {
  MutexLock lock(&mu_);
  if (buffer_.has_results()) {
    unreported_cost_ += cost;
  } else {
    window_.Release(cost);
  }
}

bool Outbox::Announce(const Activity& session, Progress* progress) {
  MutexLock lock(&mu_);
  for (const QueuePosition& queue : progress->queues) buffer_.SetProgress(queue.queue, queue.value);
  progress->queues.clear();
  unreported_cost_ += std::exchange(progress->cost, 0);
  activity_ = session;
  const bool taken = buffer_.TestAndClearTaken();
  if (connection_.connected()) AnnounceLocked(WindowDue(window_.Advance(buffer_.text_bytes())));
  return taken && session.awaits_take;
}

void Outbox::AnnounceLocked(bool window_due) {
  if (!connection_.connected() || announced_) return;
  if (!end_ && !ends_after_output_ && buffer_.empty() && !window_due) return;
  announced_ = true;
  connection_.output->OutputReady();
}

bool Outbox::WindowDue(const ReceiveWindow::Reading& window) const {
  if (waits_for_lease_ || end_) return false;
  const uint64_t growth = window.granted - advertised_;
  return growth > 0 && (growth >= window.size / 4 || activity_.idle);
}

void Outbox::Count() { use_.Set(buffer_.data_bytes() + buffer_.text_bytes()); }

void Outbox::EndAfterOutput() {
  MutexLock lock(&mu_);
  if (std::exchange(ends_after_output_, true)) return;
  AnnounceLocked(/*window_due=*/false);
}

void Outbox::EndNow(const Status& status) {
  MutexLock lock(&mu_);
  end_ = status;
  AnnounceLocked(/*window_due=*/false);
}

bool Outbox::empty() const {
  MutexLock lock(&mu_);
  return buffer_.empty();
}

uint64_t Outbox::data_bytes() const {
  MutexLock lock(&mu_);
  return buffer_.data_bytes();
}

// ---- the transport

SessionOutputBatch Outbox::Take(const SessionOutput* from, uint64_t max_bytes, bool* wake) {
  MutexLock lock(&mu_);
  *wake = false;
  if (from != connection_.output) return {};
  SessionOutputBatch batch = buffer_.Take(max_bytes);
  Count();
  if (!buffer_.has_results()) window_.Release(std::exchange(unreported_cost_, 0));
  const ReceiveWindow::Reading window = window_.Advance(buffer_.text_bytes());
  // A Welcome has the window itself, and comes alone.
  if (!waits_for_lease_ && !batch.has_welcome && (batch.has_content() || WindowDue(window))) {
    if (window.granted > advertised_) batch.window_bytes = advertised_ = window.granted;
  }
  batch.last =
      batch.empty() || (!batch.has_welcome && buffer_.empty() && !ends_after_output_ && !end_);
  if (batch.last) announced_ = false;
  *wake = activity_.awaits_take || (batch.last && window.reduced);
  if (*wake) buffer_.TestAndClearTaken();
  return batch;
}

SessionPort::Ending Outbox::CheckEnd(const SessionOutput* from, bool acknowledged, Status* status) {
  MutexLock lock(&mu_);
  if (from != newest_) {
    *status = SessionReplaced();
    return SessionPort::Ending::kEnded;
  }
  if (end_) {
    *status = *end_;
    Disconnected(/*gone=*/true);
    return SessionPort::Ending::kEnded;
  }
  if (!ends_after_output_ || !buffer_.empty()) return SessionPort::Ending::kOpen;
  if (!acknowledged && connection_.reconnect_timeout > Duration::zero()) {
    return SessionPort::Ending::kUnacknowledged;
  }
  acknowledged_.store(true, std::memory_order_release);
  return SessionPort::Ending::kOpen;
}

void Outbox::Disconnected(bool gone) {
  connection_.output = nullptr;
  connection_.gone = gone;
  changes_.fetch_add(1, std::memory_order_release);
}

std::optional<Connection> Outbox::Disconnect(const SessionOutput* from, bool lost) {
  MutexLock lock(&mu_);
  if (from != connection_.output) return std::nullopt;
  // A session whose Welcome, and with it the token, was not sent cannot be resumed.
  const bool resumable = connection_.reconnect_timeout > Duration::zero() && !waits_for_lease_ &&
                         !buffer_.has_welcome();
  Disconnected(!lost || !resumable);
  return connection_;
}

std::optional<uint64_t> Outbox::Connect(SessionOutput* connection, uint32_t pid,
                                        Duration reconnect_timeout) {
  MutexLock lock(&mu_);
  const bool resumable = connection_.reconnect_timeout > Duration::zero() && !waits_for_lease_;
  if (!resumable || connection_.gone || end_) return std::nullopt;
  SessionOutput* const before = connection_.output;
  newest_ = connection;
  connection_ = {connection, false, pid, reconnect_timeout};
  changes_.fetch_add(1, std::memory_order_release);
  if (before != nullptr) before->OutputReady();  // CheckEnd returns that it was replaced
  announced_ = false;
  advertised_ = window_.Advance(buffer_.text_bytes()).granted;
  AnnounceLocked(/*window_due=*/false);
  return advertised_;
}

uint64_t Outbox::advertised() const {
  MutexLock lock(&mu_);
  return advertised_;
}

Connection Outbox::connection() const {
  MutexLock lock(&mu_);
  return connection_;
}

}  // namespace ttfd
