// posix_spawn, two pipes, and poll with a deadline.
#include "tests/support/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ttfd {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
};

StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Internal("pipe: {}", std::strerror(errno));
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Reads both pipes until their writers are closed. False: the deadline passed.
bool ReadAll(const Pipe& out, const Pipe& errors, Clock::time_point deadline,
             CommandResult* result) {
  pollfd waits[2] = {{out.reader.get(), POLLIN, 0}, {errors.reader.get(), POLLIN, 0}};
  std::string* const texts[2] = {&result->out, &result->errors};
  while (waits[0].fd >= 0 || waits[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    if (poll(waits, 2, static_cast<int>(left.count())) <= 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (waits[i].fd < 0 || waits[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t size = read(waits[i].fd, buffer, sizeof(buffer));
      if (size <= 0) {
        waits[i].fd = -1;
      } else {
        texts[i]->append(buffer, static_cast<size_t>(size));
      }
    }
  }
  return true;
}

}  // namespace

StatusOr<CommandResult> RunCommand(const std::vector<std::string>& command,
                                   std::chrono::seconds timeout) {
  ASSIGN_OR_RETURN(Pipe out, MakePipe());
  ASSIGN_OR_RETURN(Pipe errors, MakePipe());
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.writer.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.writer.get(), STDERR_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Internal("{}: {}", command[0], std::strerror(error));
  out.writer.Reset();
  errors.writer.Reset();
  CommandResult result;
  const bool finished = ReadAll(out, errors, Clock::now() + timeout, &result);
  if (!finished) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!finished) {
    return Error(StatusCode::kDeadlineExceeded, "{} did not end in {} s", command[0],
                 timeout.count());
  }
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

bool HaveCommand(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    if (access((rest.substr(0, end) + "/" + name).c_str(), X_OK) == 0) return true;
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  return false;
}

StatusOr<MemoryFile> MemoryFile::Create(ByteSpan content) {
  UniqueFd file(memfd_create("ttfd-test", 0));
  if (!file.valid()) return Internal("memfd_create: {}", std::strerror(errno));
  while (!content.empty()) {
    const ssize_t size = write(file.get(), content.data(), content.size());
    if (size <= 0) return Internal("write: {}", std::strerror(errno));
    content = content.subspan(static_cast<size_t>(size));
  }
  return MemoryFile(std::move(file));
}

}  // namespace ttfd
