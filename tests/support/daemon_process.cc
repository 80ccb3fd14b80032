// See daemon_process.h.
#include "tests/support/daemon_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

#include "tests/support/test_device_text.h"

namespace ttfd {
namespace {

// In the child, between fork and exec.
[[noreturn]] void Become(const DaemonProcess::Setup& setup, const std::string& folder,
                         std::vector<char*>& arguments) {
  setenv("NOTIFY_SOCKET", (folder + "/notify").c_str(), 1);
  setenv("XDG_STATE_HOME", folder.c_str(), 1);  // hang reports
  for (const auto& [name, value] : setup.environment) setenv(name.c_str(), value.c_str(), 1);
  if (setup.listening_socket >= 0) {
    setenv("LISTEN_FDS", "1", 1);
    setenv("LISTEN_PID", std::to_string(getpid()).c_str(), 1);
    dup2(setup.listening_socket, 3);
  }
  const int log = open((folder + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(log, 1);
  dup2(log, 2);
  execv(TTFD_DAEMON_BINARY, arguments.data());
  _exit(127);
}

}  // namespace

DaemonProcess::DaemonProcess(const Setup& setup) {
  std::string folder = ::testing::TempDir() + "/ttfd-daemon-XXXXXX";
  folder_ = mkdtemp(folder.data());
  notify_ = UniqueFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder_ + "/notify").copy(address.sun_path, sizeof(address.sun_path) - 1);
  EXPECT_EQ(bind(notify_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  std::ofstream(folder_ + "/ttfd.toml") << setup.config;

  std::vector<std::string> words = {"ttfd", "--config", folder_ + "/ttfd.toml"};
  if (setup.default_socket) words.insert(words.end(), {"--socket", socket_path()});
  const bool says_device = setup.config.find("device") != std::string::npos ||
                           std::find(setup.arguments.begin(), setup.arguments.end(), "--device") !=
                               setup.arguments.end();
  const std::string device = DaemonDeviceText("sim");
  if (!says_device) words.insert(words.end(), {"--device", device});
  words.insert(words.end(), setup.arguments.begin(), setup.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) Become(setup, folder_, arguments);
}

DaemonProcess::~DaemonProcess() {
  if (!WaitForExit(std::chrono::milliseconds(0))) {
    Signal(SIGKILL);
    WaitForExit();
  }
  // In the test's output, because a test whose daemon crashed is not run again (.ci/retry).
  const int signal = -exit_.value_or(0);
  if (signal > 0 && signal != SIGKILL) {
    std::cerr << "the daemon ended by signal " << signal << '\n' << Log();
  } else if (Log().find("Sanitizer") != std::string::npos) {
    std::cerr << Log();
  }
  std::filesystem::remove_all(folder_);
}

std::string DaemonProcess::NextNotification(std::chrono::milliseconds timeout) {
  pollfd watched{notify_.get(), POLLIN, 0};
  if (poll(&watched, 1, static_cast<int>(timeout.count())) <= 0) return "";
  char text[4096];
  const ssize_t size = recv(notify_.get(), text, sizeof(text), MSG_DONTWAIT);
  return size < 0 ? "" : std::string(text, static_cast<size_t>(size));
}

bool DaemonProcess::WaitForNotification(const std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    if (NextNotification(std::chrono::milliseconds(50)).find(text) != std::string::npos)
      return true;
    if (WaitForExit(std::chrono::milliseconds(0))) return false;
  }
  return false;
}

void DaemonProcess::Signal(int number) { kill(pid_, number); }

std::optional<int> DaemonProcess::WaitForExit(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!exit_) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    } else if (std::chrono::steady_clock::now() >= deadline) {
      return std::nullopt;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  return exit_;
}

std::string DaemonProcess::Log() const {
  std::ifstream file(folder_ + "/log");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace ttfd
