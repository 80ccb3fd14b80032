// Formats, limits and writes the lines.
#include "daemon/rpc/audit.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "daemon/rpc/utf8.h"
#include "daemon/session/user_name.h"
#include "runtime/base/log.h"

namespace ttfd {
namespace {

// A client decides how long its arguments are, and so what a line may take.
constexpr size_t kArgumentBytes = 1024;
constexpr size_t kMessageBytes = 512;
// Users whose refused attempts are counted apart; those after them share one count.
constexpr size_t kUsersCounted = 1024;
constexpr uint32_t kOtherUsers = ~uint32_t{0};
constexpr Duration kRest =
    std::chrono::hours(1);  // nothing happens until somebody has something to tell
// For the last lines of a daemon that ends.
constexpr Duration kEndTimeout = std::chrono::milliseconds(500);

int64_t TimeOfDay() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string Utc(int64_t unix_ms) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(static_cast<std::time_t>(unix_ms / 1000)), unix_ms % 1000);
}

// "NOT_FOUND": the canonical names, which are the same in every version of the API.
std::string CodeName(const Status& status) {
  return status.ok() ? "OK" : absl::StatusCodeToString(status.code());
}

std::string WithEnd(const std::string& line, uint64_t untold) {
  return fmt::format(R"({}{}}})", line, untold);
}

StatusOr<UniqueFd> OpenFile(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  constexpr mode_t kMode = 0640;
  UniqueFd fd(open(path.c_str(), kFlags | O_CREAT | O_EXCL, kMode));
  if (fd.valid()) {
    fchmod(fd.get(), kMode);  // a service's umask leaves nothing to its group
  } else if (errno == EEXIST) {
    fd = UniqueFd(open(path.c_str(), kFlags));  // as its administrator made it
  }
  if (!fd.valid()) {
    return Error(StatusCode::kFailedPrecondition, "cannot open the audit file {}: {}", path,
                 std::strerror(errno));
  }
  return fd;
}

}  // namespace

AuditTrail::AuditTrail(AuditOptions options)
    : shared_(std::make_shared<Shared>(std::move(options))),
      writer_([shared = shared_] { shared->Main(); }) {}

AuditTrail::~AuditTrail() {
  {
    MutexLock lock(&shared_->mu);
    shared_->stop = true;
    shared_->changed.NotifyAll();
    const TimePoint until = SteadyClock().Now() + kEndTimeout;
    while (!shared_->ended && SteadyClock().Now() < until) {
      shared_->changed.WaitUntil(&shared_->mu, until);
    }
    if (!shared_->ended) {
      writer_.detach();  // its disk does not answer; what it uses is its own, too
      return;
    }
  }
  writer_.join();
}

StatusOr<std::shared_ptr<AuditTrail>> AuditTrail::Create(AuditOptions options) {
  if (!options.log) options.log = [](const std::string& line) { LogAlways(line); };
  if (!options.unix_ms) options.unix_ms = TimeOfDay;
  if (!options.user_name) options.user_name = UserName;
  std::shared_ptr<AuditTrail> trail(new AuditTrail(std::move(options)));
  RETURN_IF_ERROR(trail->Reopen());
  return trail;
}

Status AuditTrail::Reopen() {
  if (shared_->options.file.empty()) return OkStatus();
  ASSIGN_OR_RETURN(UniqueFd opened, OpenFile(shared_->options.file));
  MutexLock lock(&shared_->mu);
  shared_->file = std::make_shared<UniqueFd>(std::move(opened));
  shared_->file_failed = false;
  return OkStatus();
}

bool AuditTrail::Flush(Duration within) {
  const TimePoint until = SteadyClock().Now() + within;
  MutexLock lock(&shared_->mu);
  const uint64_t told = shared_->told;
  while (shared_->written < told && SteadyClock().Now() < until) {
    shared_->changed.WaitUntil(&shared_->mu, until);
  }
  return shared_->written >= told;
}

Status AuditTrail::Ready() {
  MutexLock lock(&shared_->mu);
  if (shared_->lines.size() < kLinesWaiting) return OkStatus();
  return Error(StatusCode::kUnavailable,
               "{} lines of the audit trail wait to be written: its log or file does not answer, "
               "and what cannot be told is not done",
               shared_->lines.size());
}

AuditTrail::Action AuditTrail::Describe(std::string_view name,
                                        const std::optional<PeerIdentity>& peer,
                                        std::string_view arguments) {
  Action action;
  action.name = std::string(name);
  const std::string what = arguments.size() <= kArgumentBytes
                               ? std::string(arguments)
                               : JsonString(arguments, kArgumentBytes);  // cut, and so no object
  if (peer) {
    action.uid = peer->uid;
    const std::string user =
        peer->certificate.empty() ? shared_->options.user_name(peer->uid) : peer->certificate;
    action.who_and_what = fmt::format(
        R"("uid":{},"user":{},"certificate":{},"pid":{},"connection":{},"arguments":{})", peer->uid,
        JsonString(user), JsonString(peer->certificate), peer->pid, peer->connection, what);
  } else {
    action.uid = kOtherUsers;
    action.who_and_what = fmt::format(
        R"("uid":null,"user":"","certificate":"","pid":0,"connection":0,"arguments":{})", what);
  }
  MutexLock lock(&shared_->mu);
  action.id = ++shared_->last_id;
  return action;
}

std::string AuditTrail::LineOf(const Action& action, std::string_view outcome,
                               std::string_view message) const {
  return fmt::format(
      R"({{"time":"{}","id":{},"action":"{}","outcome":"{}",{},"message":{},"untold":)",
      Utc(shared_->options.unix_ms()), action.id, action.name, outcome, action.who_and_what,
      JsonString(message, kMessageBytes));
}

// Beyond the limit of Ready go only ends of what had begun before.
void AuditTrail::Tell(const Action& action, std::string_view outcome, std::string_view message) {
  std::string line = WithEnd(LineOf(action, outcome, message), 0);
  MutexLock lock(&shared_->mu);
  shared_->lines.push_back(std::move(line));
  ++shared_->told;
  shared_->changed.NotifyAll();
}

void AuditTrail::Ended(const Action& action, const Status& status) {
  Tell(action, CodeName(status), StatusMessage(status));
}

void AuditTrail::Refused(const Action& action, const Status& status) {
  std::string line = LineOf(action, CodeName(status), StatusMessage(status));
  MutexLock lock(&shared_->mu);
  shared_->BeginSecond();
  auto& refusals = shared_->refusals;
  const bool apart = refusals.size() < kUsersCounted || refusals.contains(action.uid);
  Refusals& user = refusals[apart ? action.uid : kOtherUsers];
  user.tried = shared_->second;
  if (user.told >= shared_->options.refusals_per_second || shared_->lines.size() >= kLinesWaiting) {
    if (++user.untold == 1) shared_->changed.NotifyAll();
    user.last = std::move(line);
    return;
  }
  ++user.told;
  shared_->lines.push_back(WithEnd(line, std::exchange(user.untold, 0)));
  user.last.clear();
  ++shared_->told;
  shared_->changed.NotifyAll();
}

// ---- the writing thread, and what it shares

void AuditTrail::Shared::BeginSecond() {
  const int64_t now = options.unix_ms() / 1000;
  if (now == second) return;
  second = now;
  std::erase_if(refusals, [](const auto& entry) { return entry.second.untold == 0; });
  for (auto& entry : refusals) entry.second.told = 0;
}

// Whose last attempts found no place, and who has made none in this second.
void AuditTrail::Shared::TellSilent() {
  BeginSecond();
  TellUntold(/*silent=*/true);
}

void AuditTrail::Shared::TellUntold(bool silent) {
  for (auto& [uid, user] : refusals) {
    if (user.untold == 0 || (silent && user.tried == second) || lines.size() >= kLinesWaiting)
      continue;
    ++user.told;
    lines.push_back(WithEnd(user.last, std::exchange(user.untold, 0) - 1));
    user.last.clear();
    ++told;
  }
}

void AuditTrail::Shared::Main() {
  MutexLock lock(&mu);
  while (true) {
    if (stop) TellUntold(/*silent=*/false);
    if (stop && lines.empty()) break;
    if (!lines.empty()) {
      const std::string line = lines.front();
      mu.Unlock();
      Write(line);
      mu.Lock();
      lines.pop_front();
      ++written;
      changed.NotifyAll();
      continue;
    }
    const bool untold = std::any_of(refusals.begin(), refusals.end(),
                                    [](const auto& entry) { return entry.second.untold > 0; });
    changed.WaitUntil(&mu, SteadyClock().Now() + (untold ? options.look_every : kRest));
    TellSilent();
  }
  ended = true;
  changed.NotifyAll();
}

void AuditTrail::Shared::Write(const std::string& line) {
  options.log("audit " + line);
  std::shared_ptr<UniqueFd> open;
  {
    MutexLock lock(&mu);
    open = file;
  }
  if (open == nullptr) return;
  // One write a line: appended whole, also beside other processes' lines.
  const std::string with_end = (file_torn ? "\n" : "") + line + "\n";
  const ssize_t done = write(open->get(), with_end.data(), with_end.size());
  const int problem = errno;
  const bool whole = done == static_cast<ssize_t>(with_end.size());
  file_torn = !whole && (file_torn || done > 0);
  bool tell = false;
  {
    MutexLock lock(&mu);
    tell = !std::exchange(file_failed, !whole) && !whole;
  }
  if (tell) {
    LogError("cannot write to the audit file {}: {}; its lines are in the log only", options.file,
             std::strerror(problem));
  }
}

}  // namespace ttfd
