// Publishing and describing.
#include "daemon/session/session_figures.h"

namespace ttfd {
namespace {

uint64_t Nanoseconds(Duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

// `by_commands`: as far as it follows from the commands. A session that was ended has dropped all but what the card
// has; one that finishes, without commands, lasts until its client has everything.
SessionWait WaitOf(SessionState state, SessionWait by_commands, bool output) {
  if (state == SessionState::kEnding) return SessionWait::kCommands;
  if (by_commands != SessionWait::kNone) return by_commands;
  return output || state == SessionState::kFinishing ? SessionWait::kOutput : SessionWait::kNone;
}

}  // namespace

SessionFigures::SessionFigures(const SessionShare& share, const SessionClient& client,
                               TimePoint opened)
    : opened_(opened) {
  info_.session = share.session;
  info_.client_name = client.name;
  info_.user = client.user;
  info_.uid = share.uid;
  info_.lease = share.lease;
  info_.weight = share.weight;
  info_.priority = share.priority;
}

void SessionFigures::Add(std::span<const Slice> ended) {
  for (const Slice& slice : ended) {
    use_.Add(slice);
    if (slice.first) new_waits_.push_back(slice.times.began - slice.times.arrived);
  }
}

void SessionFigures::Publish(absl::FunctionRef<void(SessionInfoReply*)> change) {
  MutexLock lock(&mu_);
  change(&info_);
  info_.device_ns = Nanoseconds(use_.device_time);
  info_.longest_work_ns = Nanoseconds(use_.longest_work);
  info_.launches = use_.launches;
  info_.bytes_written = use_.bytes_written;
  info_.bytes_read = use_.bytes_read;
  for (const Duration wait : new_waits_) waits_.Add(wait);
  new_waits_.clear();
}

SessionInfoReply SessionFigures::Info(TimePoint now, bool output) const {
  MutexLock lock(&mu_);
  SessionInfoReply info = info_;
  info.waits_for = WaitOf(info.state, info.waits_for, output);
  info.waits = {waits_.count(), Nanoseconds(waits_.total()), Nanoseconds(waits_.Quantile(0.5)),
                Nanoseconds(waits_.Quantile(0.99)), Nanoseconds(waits_.max())};
  info.connected_ms = static_cast<uint64_t>((now - opened_) / std::chrono::milliseconds(1));
  return info;
}

}  // namespace ttfd
