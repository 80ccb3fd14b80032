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

void SessionFigures::Publish(absl::FunctionRef<void(SessionInfoReply*)> change) {
  MutexLock lock(&mu_);
  change(&info_);
}

void SessionFigures::Add(std::span<const Slice> ended) {
  MutexLock lock(&mu_);
  for (const Slice& slice : ended) account_.Add(slice);
}

SessionInfoReply SessionFigures::Info(TimePoint now, bool output) const {
  MutexLock lock(&mu_);
  SessionInfoReply info = info_;
  info.waits_for = WaitOf(info.state, info.waits_for, output);
  info.device_ns = Nanoseconds(account_.device_time);
  info.longest_work_ns = Nanoseconds(account_.longest_work);
  info.launches = account_.launches;
  info.bytes_written = account_.bytes_written;
  info.bytes_read = account_.bytes_read;
  info.waits = {account_.waits.count(), Nanoseconds(account_.waits.total()),
                Nanoseconds(account_.waits.Quantile(0.5)),
                Nanoseconds(account_.waits.Quantile(0.99)), Nanoseconds(account_.waits.max())};
  info.connected_ms = static_cast<uint64_t>((now - opened_) / std::chrono::milliseconds(1));
  return info;
}

}  // namespace ttfd
