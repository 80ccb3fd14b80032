// The real daemon as a child process.
#include "tests/support/client_daemon.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support/test_device_text.h"
#include "ttfd/admin.h"

namespace ttfd::testing {
namespace {

// Sanitizers and a busy machine make a boot slow.
constexpr std::chrono::seconds kStartTimeout{60};
constexpr std::chrono::seconds kStopTimeout{20};

}  // namespace

ClientDaemon::ClientDaemon(const std::vector<std::string>& options, const std::string& config,
                           int standard_error)
    : standard_error_(standard_error) {
  char pattern[] = "/tmp/ttfd_client_test_XXXXXX";
  directory_ = mkdtemp(pattern);
  const std::string socket = directory_ + "/ttfd.sock";
  address_ = "unix:" + socket;
  const std::string file = directory_ + "/ttfd.toml";
  std::ofstream(file) << config;
  words_ = {TTFD_CLIENT_TEST_DAEMON, "--config", file, "--socket", socket, "--device",
            DaemonDeviceText("sim")};
  words_.insert(words_.end(), options.begin(), options.end());
  Spawn();
  if (!AwaitServing()) ADD_FAILURE() << "the daemon did not start:\n" << Log();
}

void ClientDaemon::Spawn() {
  std::vector<char*> argv;
  for (std::string& word : words_) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const std::string log = directory_ + "/log";
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("XDG_STATE_HOME", directory_.c_str(), 1);  // hang reports
    const int out = open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(standard_error_ >= 0 ? standard_error_ : out, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
}

bool ClientDaemon::AwaitServing() {
  const auto deadline = std::chrono::steady_clock::now() + kStartTimeout;
  for (;;) {
    const client::Result<std::string> health = client::Admin::Connect(address_).Health();
    if (health.ok() && *health == "SERVING") {
      return true;
    }
    if (waitpid(pid_, nullptr, WNOHANG) != 0 || std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

ClientDaemon::~ClientDaemon() {
  Kill();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void ClientDaemon::Kill() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
}

int ClientDaemon::Stop() {
  kill(pid_, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + kStopTimeout;
  while (std::chrono::steady_clock::now() < deadline) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return -1;
}

std::string ClientDaemon::Log() const {
  std::ifstream file(directory_ + "/log");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string KernelPath(const std::string& name) {
  const std::string file = "/" + name + ".elf";
  const std::string path = TTFD_CLIENT_TEST_KERNELS + file;
  return std::filesystem::exists(path) ? path : TTFD_CLIENT_TEST_DISPATCH_KERNELS + file;
}

}  // namespace ttfd::testing
