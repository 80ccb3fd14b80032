// Notifications to systemd, and the socket that it hands over. Without systemd every call does nothing.
#pragma once

#include <optional>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {

// Sends notifications to the socket named by NOTIFY_SOCKET. Thread-safe.
class ServiceManager {
 public:
  void Ready(const std::string& status);
  void SetStatus(const std::string& status);
  // The start, or the stop, needs up to `more` from now: do not give up before.
  void ExtendTimeout(Duration more);
  void Stopping(const std::string& status);
  void FeedWatchdog();

  // How often the unit wants to be fed, if it has a WatchdogSec for this process.
  std::optional<Duration> watchdog_period();

  // The one listening socket of socket activation (LISTEN_FDS); invalid without activation.
  StatusOr<UniqueFd> TakeListeningSocket();
};

}  // namespace ttfd
