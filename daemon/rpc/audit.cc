// Formats, limits and writes the lines.
#include "daemon/rpc/audit.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

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

StatusOr<std::shared_ptr<AuditTrail>> AuditTrail::Create(AuditOptions options) {
  if (!options.log) options.log = [](const std::string& line) { LogAlways(line); };
  if (!options.unix_ms) options.unix_ms = TimeOfDay;
  if (!options.user_name) options.user_name = UserName;
  std::shared_ptr<AuditTrail> trail(new AuditTrail(std::move(options)));
  RETURN_IF_ERROR(trail->Reopen());
  return trail;
}

Status AuditTrail::Reopen() {
  if (options_.file.empty()) return OkStatus();
  ASSIGN_OR_RETURN(UniqueFd opened, OpenFile(options_.file));
  MutexLock lock(&mu_);
  file_ = std::move(opened);
  file_failed_ = false;
  return OkStatus();
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
        peer->certificate.empty() ? options_.user_name(peer->uid) : peer->certificate;
    action.who_and_what = fmt::format(
        R"("uid":{},"user":{},"certificate":{},"pid":{},"connection":{},"arguments":{})", peer->uid,
        JsonString(user), JsonString(peer->certificate), peer->pid, peer->connection, what);
  } else {
    action.uid = kOtherUsers;
    action.who_and_what = fmt::format(
        R"("uid":null,"user":"","certificate":"","pid":0,"connection":0,"arguments":{})", what);
  }
  MutexLock lock(&mu_);
  action.id = ++last_id_;
  return action;
}

void AuditTrail::Ended(const Action& action, const Status& status) {
  Write(action, CodeName(status), StatusMessage(status));
}

void AuditTrail::Refused(const Action& action, const Status& status) {
  uint64_t untold = 0;
  {
    MutexLock lock(&mu_);
    const int64_t second = options_.unix_ms() / 1000;
    if (second != second_) {
      second_ = second;
      // What was not told yet is told with the next attempt of its user.
      std::erase_if(refusals_, [](const auto& entry) { return entry.second.untold == 0; });
      for (auto& entry : refusals_) entry.second.told = 0;
    }
    const bool apart = refusals_.size() < kUsersCounted || refusals_.contains(action.uid);
    Refusals& user = refusals_[apart ? action.uid : kOtherUsers];
    if (user.told >= options_.refusals_per_second) {
      ++user.untold;
      return;
    }
    ++user.told;
    untold = std::exchange(user.untold, 0);
  }
  Write(action, CodeName(status), StatusMessage(status), untold);
}

void AuditTrail::Write(const Action& action, std::string_view outcome, std::string_view message,
                       uint64_t untold) {
  const std::string line = fmt::format(
      R"({{"time":"{}","id":{},"action":"{}","outcome":"{}",{},"message":{},"untold":{}}})",
      Utc(options_.unix_ms()), action.id, action.name, outcome, action.who_and_what,
      JsonString(message, kMessageBytes), untold);
  options_.log("audit " + line);
  MutexLock lock(&mu_);
  if (!file_.valid()) return;
  // One write a line: appended whole, also beside other processes' lines.
  const std::string with_end = (file_torn_ ? "\n" : "") + line + "\n";
  const ssize_t written = write(file_.get(), with_end.data(), with_end.size());
  if (written == static_cast<ssize_t>(with_end.size())) {
    file_torn_ = file_failed_ = false;
    return;
  }
  file_torn_ |= written > 0;
  if (!std::exchange(file_failed_, true)) {
    LogError("cannot write to the audit file {}: {}; its lines are in the log only", options_.file,
             std::strerror(errno));
  }
}

}  // namespace ttfd
