// Starting, watching and ending a child process.
#include "tests/bench/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

extern char** environ;

namespace ttfd::bench {
namespace {

constexpr std::chrono::seconds kStopTimeout{10};
constexpr std::chrono::milliseconds kPollInterval{10};

bool CanConnect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const UniqueFd socket_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
         0;
}

}  // namespace

StatusOr<std::unique_ptr<ScratchFolder>> ScratchFolder::Create() {
  std::string path = std::filesystem::temp_directory_path().string() + "/ttfd-bench-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return Internal("mkdtemp {}: {}", path, strerror(errno));
  return std::unique_ptr<ScratchFolder>(new ScratchFolder(path));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

StatusOr<std::unique_ptr<Child>> Child::Start(const std::vector<std::string>& command,
                                              const std::string& log) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Internal("pipe: {}", strerror(errno));
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, reader.get(), STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Internal("cannot start {}: {}", command[0], strerror(error));
  return std::unique_ptr<Child>(new Child(pid, std::move(writer), log));
}

Child::~Child() {
  input_ = UniqueFd();
  if (Ended()) return;
  kill(pid_, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + kStopTimeout;
  while (!Ended()) {
    if (std::chrono::steady_clock::now() > deadline) kill(pid_, SIGKILL);
    std::this_thread::sleep_for(kPollInterval);
  }
}

bool Child::Ended() {
  if (!reaped_) reaped_ = waitpid(pid_, nullptr, WNOHANG) == pid_;
  return reaped_;
}

Status Child::WaitForSocket(const std::string& path, std::chrono::seconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!CanConnect(path)) {
    if (Ended()) return Internal("the server ended before it listened on {}: {}", path, LogTail());
    if (std::chrono::steady_clock::now() > deadline) {
      return Error(StatusCode::kDeadlineExceeded, "nothing listens on {} after {} s: {}", path,
                   timeout.count(), LogTail());
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return OkStatus();
}

Status Child::Tell(const std::string& line) {
  const std::string text = line + "\n";
  const ssize_t written = write(input_.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return OkStatus();
  return Internal("cannot write to process {}: {}", pid_, LogTail());
}

StatusOr<std::string> Child::WaitForLine(const std::string& beginning, std::chrono::seconds timeout,
                                         std::vector<std::string>* before) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const bool ended = Ended();
    std::ifstream stream(log_);
    stream.seekg(static_cast<std::streamoff>(read_));
    // A line without its end is not all of it.
    for (std::string line; std::getline(stream, line) && !stream.eof();) {
      read_ += line.size() + 1;
      if (line.starts_with(beginning)) return line;
      if (before != nullptr) before->push_back(line);
    }
    if (ended) return Internal("the process ended: {}", LogTail());
    if (std::chrono::steady_clock::now() > deadline) {
      return Error(StatusCode::kDeadlineExceeded, "no '{}' within {} s: {}", beginning,
                   timeout.count(), LogTail());
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

StatusOr<std::chrono::nanoseconds> Child::CpuTime() const {
  clockid_t clock = 0;
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return Internal("CPU clock of process {}: {}", pid_, strerror(errno));
  }
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string Child::LogTail() const {
  std::ifstream stream(log_);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  constexpr size_t kTail = 2000;
  return text.size() > kTail ? text.substr(text.size() - kTail) : text;
}

}  // namespace ttfd::bench
