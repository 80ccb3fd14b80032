// A process that the library starts, waits for and ends.
#include "client/ttmlir/src/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::Result;
using client::Status;

std::vector<char*> PointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  Collect();
}

// Its status, or -1: another thread has collected it, or the system collects the processes of this one by itself.
int ChildProcess::Collect() {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(pid_, &status, 0);
  } while (ended < 0 && errno == EINTR);
  pid_ = -1;
  return ended < 0 ? -1 : status;
}

Status ChildProcess::Start(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment,
                           const std::vector<std::pair<int, int>>& files) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 0, 1);
  posix_spawn_file_actions_adddup2(&actions, 0, 2);
  int last = 2;
  for (const auto& file : files) {
    posix_spawn_file_actions_adddup2(&actions, file.first, file.second);
    last = std::max(last, file.second);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, last + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own, with signals as a program expects them.
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  sigset_t signals;
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  const int error = posix_spawn(&pid_, arguments[0].c_str(), &actions, &attributes,
                                PointersTo(arguments).data(), PointersTo(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return Status();
  pid_ = -1;
  return Status(Code::kFailedPrecondition,
                fmt::format("{} does not start: {}", arguments[0], std::strerror(error)));
}

Result<int> ChildProcess::Wait(std::chrono::milliseconds time) {
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (descriptor < 0) {
    return Status(Code::kResourceExhausted,
                  fmt::format("it cannot be waited for: {}", std::strerror(errno)));
  }
  pollfd ended = {descriptor, POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + time;
  int ready = -1;
  do {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    ready = poll(&ended, 1, static_cast<int>(std::clamp<int64_t>(left.count(), 0, INT32_MAX)));
  } while (ready < 0 && errno == EINTR);
  close(descriptor);
  if (ready != 1) {
    return Status(Code::kDeadlineExceeded,
                  fmt::format("it did not end within {} ms", time.count()));
  }
  kill(-pid_, SIGKILL);  // what it started and left behind
  const int status = Collect();
  if (status >= 0) return status;
  return Status(Code::kUnknown, "how it ended is not known: processes of this one are not kept");
}

}  // namespace ttfd::ttmlir
