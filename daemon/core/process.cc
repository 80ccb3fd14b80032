// Uses a pidfd, which, unlike kill, needs no permission and shows also a process that was not waited for.
#include "daemon/core/process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/unique_fd.h"

namespace ttfd {

bool ProcessHasEnded(uint32_t pid) {
  if (pid == 0) return false;
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  if (!process.valid()) return errno == ESRCH;
  pollfd ended{process.get(), POLLIN, 0};
  return poll(&ended, 1, 0) == 1 && (ended.revents & POLLIN) != 0;
}

}  // namespace ttfd
