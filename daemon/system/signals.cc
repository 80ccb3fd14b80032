// Signals through a signalfd.
#include "daemon/system/signals.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>

namespace ttfd {

StatusOr<Signals> Signals::Block() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a full disk is an error of a write, not the daemon's end
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr);
  if (error != 0) return Internal("pthread_sigmask: {}", std::strerror(error));
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return Internal("signalfd: {}", std::strerror(errno));
  return Signals(std::move(fd));
}

std::optional<int> Signals::Wait(Duration timeout) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  pollfd watched{fd_.get(), POLLIN, 0};
  poll(&watched, 1,
       static_cast<int>(std::clamp<int64_t>(milliseconds, 0, std::numeric_limits<int>::max())));
  signalfd_siginfo info{};
  if (read(fd_.get(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace ttfd
