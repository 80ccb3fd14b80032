#include "tests/peer/driver_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "runtime/base/unique_fd.h"

namespace ttfd {
namespace {

constexpr int kTimeoutMs = 60'000;

std::string Contents(int fd) {
  std::string text(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

// Starts the driver and waits for its end. Not empty: what went wrong.
std::string RunDriver(const std::string& library, int input, int output, int errors,
                      const std::string& options, int* status) {
  std::vector<std::string> words;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "TTFD_SIM=", 9) != 0) words.emplace_back(*variable);
  }
  words.push_back("TTFD_SIM=" + options);
  std::vector<char*> environment;
  for (std::string& word : words) environment.push_back(word.data());
  environment.push_back(nullptr);
  std::string driver = TTFD_SEQUENCE_DRIVER, lib = library, sequence = "/dev/stdin";
  char* const arguments[] = {driver.data(), lib.data(), sequence.data(), nullptr};

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, driver.c_str(), &actions, nullptr, arguments, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::strerror(error);
  const UniqueFd ended(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  pollfd waited = {ended.get(), POLLIN, 0};
  const bool in_time = poll(&waited, 1, kTimeoutMs) == 1;
  if (!in_time) kill(pid, SIGKILL);
  waitpid(pid, status, 0);
  return in_time ? "" : "it took too long";
}

// "[CLOCK] ERROR: CATEGORY: ..." at the end of `line`, behind the number of the operation.
bool ParseRefusal(const std::string& line, DriverRun* run) {
  const size_t start = line.find('[');
  const size_t error = line.find("] ERROR: ");
  if (start == std::string::npos || error == std::string::npos) return false;
  run->text = line.substr(start);
  run->clock = std::strtoull(line.c_str() + start + 1, nullptr, 10);
  const size_t category = error + std::strlen("] ERROR: ");
  run->category = line.substr(category, line.find(':', category) - category);
  return true;
}

}  // namespace

std::string DriverRun::ToString() const {
  std::string shown;
  for (const std::string& result : results) shown += result + "\n";
  return shown + (ended ? "end" : trouble.empty() ? text : trouble);
}

DriverRun RunSequence(const std::string& library, const Sequence& sequence,
                      const std::string& options) {
  const UniqueFd input(memfd_create("sequence", MFD_CLOEXEC));
  const UniqueFd output(memfd_create("output", MFD_CLOEXEC));
  const UniqueFd errors(memfd_create("errors", MFD_CLOEXEC));
  std::string text;
  for (const std::string& line : sequence) text += line + "\n";
  DriverRun run;
  if (write(input.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      lseek(input.get(), 0, SEEK_SET) != 0) {
    run.trouble = "the sequence cannot be handed over";
    return run;
  }
  int status = 0;
  run.trouble = RunDriver(library, input.get(), output.get(), errors.get(), options, &status);
  run.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  std::istringstream lines(Contents(output.get()));
  std::string line;
  bool refused = false;
  while (std::getline(lines, line)) {
    if (line == "end") {
      run.ended = true;
    } else if (ParseRefusal(line, &run)) {
      refused = true;
    } else if (const size_t bracket = line.find(" ["); bracket != std::string::npos) {
      run.results.push_back(line.substr(0, bracket + 1));  // libttsim_exit told how fast it was
    } else if (!line.empty()) {
      run.results.push_back(line);
    }
  }
  if (run.trouble.empty() && !run.ended && !(refused && run.exit_status == 1)) {
    run.trouble = fmt::format("exit status {}: {}", run.exit_status, Contents(errors.get()));
  }
  return run;
}

std::string PeerLibrary() {
  const char* const named = std::getenv("TTFD_TTSIM_LIB");
  return named != nullptr ? named : TTFD_TTSIM_LIBRARY;
}

}  // namespace ttfd
