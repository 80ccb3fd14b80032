// The notify protocol by libsystemd.
#include "daemon/system/service_manager.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <chrono>

#include "runtime/base/log.h"

namespace ttfd {
namespace {

void Notify(const std::string& text) {
  const int result = sd_notify(/*unset_environment=*/0, text.c_str());
  if (result < 0) LogWarning("cannot notify the service manager: error {}", -result);
}

// A status is one line of the protocol.
std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

void ServiceManager::Ready(const std::string& status) {
  Notify(fmt::format("READY=1\nSTATUS={}", OneLine(status)));
}

void ServiceManager::SetStatus(const std::string& status) {
  Notify(fmt::format("STATUS={}", OneLine(status)));
}

void ServiceManager::ExtendTimeout(Duration more) {
  Notify(fmt::format("EXTEND_TIMEOUT_USEC={}",
                     std::chrono::duration_cast<std::chrono::microseconds>(more).count()));
}

void ServiceManager::Stopping(const std::string& status) {
  Notify(fmt::format("STOPPING=1\nSTATUS={}", OneLine(status)));
}

void ServiceManager::FeedWatchdog() { Notify("WATCHDOG=1"); }

std::optional<Duration> ServiceManager::watchdog_period() {
  uint64_t microseconds = 0;
  if (sd_watchdog_enabled(/*unset_environment=*/0, &microseconds) <= 0) return std::nullopt;
  return std::chrono::microseconds(microseconds);
}

StatusOr<UniqueFd> ServiceManager::TakeListeningSocket() {
  const int count = sd_listen_fds(/*unset_environment=*/1);
  if (count < 0) return Internal("LISTEN_FDS cannot be read: error {}", -count);
  if (count == 0) return UniqueFd();
  if (count > 1) {
    return Error(StatusCode::kFailedPrecondition,
                 "{} sockets were passed on, the daemon listens on one (ttfd.socket)", count);
  }
  return UniqueFd(SD_LISTEN_FDS_START);
}

}  // namespace ttfd
