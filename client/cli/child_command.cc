// A child process that ends with this one, and gets its signals.
#include "client/cli/child_command.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "client/cli/exit_code.h"
#include "client/cli/printing.h"

namespace ttfd::cli {
namespace {

constexpr int kCannotRun = 126;  // as shells have it
constexpr int kNoSuchCommand = 127;
constexpr int kSignalled = 128;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// Process that the signals that end this process are passed on to. Before the fork: 0.
std::atomic<pid_t> child_of_signals{0};
std::atomic<int> early_signal{0};

// One that came from the terminal has reached the child already.
void PassOn(int number, siginfo_t* info, void*) {
  if (info->si_code == SI_KERNEL) {
    return;
  }
  const pid_t child = child_of_signals.load();
  if (child > 0) {
    kill(child, number);
  } else {
    early_signal.store(number);
  }
}

void PassSignalsOn() {
  struct sigaction action = {};
  action.sa_sigaction = PassOn;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int number : kSignals) {
    sigaction(number, &action, nullptr);
  }
}

// In the child: nothing but calls that are safe between fork and exec.
[[noreturn]] void Become(char* const* argv, char* const* environment, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) {
    _exit(kSignalled + SIGTERM);
  }
  execvpe(argv[0], argv, environment);
  const int error = errno;
  constexpr char kText[] = "ttfdctl: cannot run the command: ";
  const char* const why = error == ENOENT ? "no such file\n" : "it cannot be executed\n";
  if (write(STDERR_FILENO, kText, sizeof(kText) - 1) < 0 ||
      write(STDERR_FILENO, why, strlen(why)) < 0) {
    _exit(kCannotRun);
  }
  _exit(error == ENOENT ? kNoSuchCommand : kCannotRun);
}

std::vector<char*> Pointers(std::vector<std::string>* words) {
  std::vector<char*> pointers;
  for (std::string& word : *words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// This process's environment with the variables in place of its own of those names.
std::vector<std::string> EnvironmentWith(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(fmt::format("{}={}", name, value));
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    if (!variables.contains(text.substr(0, text.find('=')))) entries.push_back(text);
  }
  return entries;
}

}  // namespace

int RunChild(std::vector<std::string> command,
             const std::map<std::string, std::string>& variables) {
  std::vector<std::string> entries = EnvironmentWith(variables);
  const std::vector<char*> argv = Pointers(&command);
  const std::vector<char*> environment = Pointers(&entries);
  PassSignalsOn();
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    Become(argv.data(), environment.data(), self);
  }
  if (child < 0) {
    PrintMessage(fmt::format("cannot run the command: {}", std::strerror(errno)));
    return kFailed;
  }
  child_of_signals.store(child);
  if (const int number = early_signal.load(); number != 0) {
    kill(child, number);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  child_of_signals.store(0);
  for (const int number : kSignals) signal(number, SIG_DFL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace ttfd::cli
