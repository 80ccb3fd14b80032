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

#include "runtime/base/log.h"
#include "runtime/base/utf8.h"

namespace ttfd {
namespace {

constexpr size_t kMessageBytes = 512;
// Users whose refused attempts are counted apart; those after them share one count.
constexpr size_t kUsersCounted = 1024;
constexpr uint32_t kOtherUsers = ~uint32_t{0};
// How long it waits for space in the log before it checks whether the trail ends.
constexpr Duration kLogTimeout = std::chrono::milliseconds(100);
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

std::string WithEnd(const std::string& line, uint64_t suppressed) {
  return fmt::format(R"({}{}}})", line, suppressed);
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
  const TimePoint stop_by = SteadyClock().Now() + kEndTimeout;
  {
    MutexLock lock(&shared_->mu);
    shared_->stop_by = stop_by;
    shared_->changed.NotifyAll();
  }
  writer_.JoinUntil(stop_by);
}

StatusOr<std::shared_ptr<AuditTrail>> AuditTrail::Create(AuditOptions options) {
  if (!options.log) {
    options.log = [](const std::string& line) {
      return LogAlways(line, SteadyClock().Now() + kLogTimeout);
    };
  }
  if (!options.unix_ms) options.unix_ms = TimeOfDay;
  if (!options.user_name) options.user_name = [](uint32_t uid) { return std::to_string(uid); };
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
  const uint64_t pushed = shared_->pushed;
  while (shared_->written < pushed && SteadyClock().Now() < until) {
    shared_->changed.WaitUntil(&shared_->mu, until);
  }
  return shared_->written >= pushed;
}

Status AuditTrail::Ready() {
  MutexLock lock(&shared_->mu);
  if (shared_->lines.size() < kLinesWaiting) return OkStatus();
  return Error(StatusCode::kUnavailable,
               "the audit trail is backlogged, {} of at most {} lines wait to be written: "
               "administrative calls are refused until its file and standard error take them",
               shared_->lines.size(), kLinesWaiting);
}

AuditTrail::Action AuditTrail::Describe(std::string_view name,
                                        const std::optional<PeerIdentity>& peer,
                                        std::string_view arguments) {
  Action action;
  action.name = std::string(name);
  if (peer) {
    const std::string user =
        peer->certificate.empty() ? shared_->options.user_name(peer->uid) : peer->certificate;
    action.who_and_what = fmt::format(
        R"("uid":{},"user":{},"certificate":{},"pid":{},"connection":{},"arguments":{})", peer->uid,
        JsonString(user), JsonString(peer->certificate), peer->pid, peer->connection, arguments);
  } else {
    action.who_and_what = fmt::format(
        R"("uid":null,"user":"","certificate":"","pid":0,"connection":0,"arguments":{})",
        arguments);
  }
  MutexLock lock(&shared_->mu);
  action.id = ++shared_->last_id;
  return action;
}

std::string AuditTrail::LineOf(const Action& action, std::string_view outcome,
                               std::string_view message) const {
  return fmt::format(
      R"({{"time":"{}","id":{},"action":"{}","outcome":"{}",{},"message":{},"suppressed_count":)",
      Utc(shared_->options.unix_ms()), action.id, action.name, outcome, action.who_and_what,
      JsonString(message, kMessageBytes));
}

// Beyond the limit of Ready go only ends of what had begun before.
void AuditTrail::Append(const Action& action, std::string_view outcome, std::string_view message) {
  std::string line = WithEnd(LineOf(action, outcome, message), 0);
  MutexLock lock(&shared_->mu);
  shared_->Push(std::move(line));
}

void AuditTrail::Ended(const Action& action, const Status& status) {
  Append(action, CodeName(status), StatusMessage(status));
}

void AuditTrail::Refused(std::string_view name, const std::optional<PeerIdentity>& peer,
                         const std::function<std::string()>& arguments, const Status& status) {
  const uint32_t uid = peer ? peer->uid : kOtherUsers;
  std::optional<uint64_t> suppressed;
  {
    MutexLock lock(&shared_->mu);
    suppressed = shared_->CountRefusal(uid);
  }
  const Action action = Describe(name, peer, suppressed ? arguments() : "null");
  std::string line = LineOf(action, CodeName(status), StatusMessage(status));
  MutexLock lock(&shared_->mu);
  if (suppressed) {
    shared_->Push(WithEnd(line, *suppressed));
  } else {
    shared_->RefusalsOf(uid).last = std::move(line);
  }
}

// ---- the writing thread, and what it shares

void AuditTrail::Shared::Push(std::string line) {
  lines.push_back(std::move(line));
  ++pushed;
  changed.NotifyAll();
}

AuditTrail::Refusals& AuditTrail::Shared::RefusalsOf(uint32_t uid) {
  const bool apart = refusals.size() < kUsersCounted || refusals.contains(uid);
  return refusals[apart ? uid : kOtherUsers];
}

std::optional<uint64_t> AuditTrail::Shared::CountRefusal(uint32_t uid) {
  BeginSecond();
  Refusals& user = RefusalsOf(uid);
  user.second = second;
  if (user.lines >= options.refusals_per_second || lines.size() >= kLinesWaiting) {
    if (++user.suppressed == 1) changed.NotifyAll();
    return std::nullopt;
  }
  ++user.lines;
  user.last.clear();
  return std::exchange(user.suppressed, 0);
}

void AuditTrail::Shared::BeginSecond() {
  const int64_t now = options.unix_ms() / 1000;
  if (now == second) return;
  second = now;
  std::erase_if(refusals, [](const auto& entry) { return entry.second.suppressed == 0; });
  for (auto& entry : refusals) entry.second.lines = 0;
}

void AuditTrail::Shared::PushSuppressed(bool silent) {
  for (auto& [uid, user] : refusals) {
    if (user.suppressed == 0 || user.last.empty() || (silent && user.second == second) ||
        lines.size() >= kLinesWaiting) {
      continue;
    }
    ++user.lines;
    Push(WithEnd(user.last, std::exchange(user.suppressed, 0) - 1));
    user.last.clear();
  }
}

void AuditTrail::Shared::Main() {
  MutexLock lock(&mu);
  while (true) {
    if (stop_by) PushSuppressed(/*silent=*/false);
    if (stop_by && lines.empty()) return;
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
    const bool suppressed = std::any_of(refusals.begin(), refusals.end(), [](const auto& entry) {
      return entry.second.suppressed > 0;
    });
    changed.WaitUntil(&mu, SteadyClock().Now() + (suppressed ? options.check_every : kIdleWait));
    BeginSecond();
    PushSuppressed(/*silent=*/true);
  }
}

bool AuditTrail::Shared::GivesUp() {
  MutexLock lock(&mu);
  return stop_by && SteadyClock().Now() >= *stop_by;
}

void AuditTrail::Shared::Write(const std::string& line) {
  while (!options.log("audit " + line) && !GivesUp()) continue;
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
  bool fails_anew = false;
  {
    MutexLock lock(&mu);
    fails_anew = !std::exchange(file_failed, !whole) && !whole;
  }
  if (fails_anew) {
    LogError("cannot write to the audit file {}: {}; its lines are in the log only", options.file,
             std::strerror(problem));
  }
}

}  // namespace ttfd
