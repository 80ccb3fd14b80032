#include "runtime/device/ttsim/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/device/ttsim/wire.h"

extern char** environ;

namespace ttfd::ttsim {
namespace {

constexpr size_t kKeptOutput = 8192;
constexpr int kReadsInARow = 16;
// A dead child's output is at its end as soon as it is reaped, unless a descendant holds it.
constexpr int kLastOutputMs = 1000;

Status Gone() { return Error(StatusCode::kUnavailable, "the simulator's process is gone"); }

// The file actions of posix_spawn; the child's descriptors are those of wire.h whatever ours are.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void Pass(int fd, int as) { posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  void PassNothingFrom(int fd) { posix_spawn_file_actions_addclosefrom_np(&actions_, fd); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// A copy of `fd` that no dup2 to a low number overwrites; closed on exec.
UniqueFd OutOfTheWay(int fd) { return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, kMailboxFd + 1)); }

}  // namespace

StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const std::vector<std::string>& command,
                                                            int file) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    return Internal("socketpair: {}", std::strerror(errno));
  }
  UniqueFd own(sockets[0]);
  const UniqueFd their_end(sockets[1]);
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return Internal("pipe: {}", std::strerror(errno));
  UniqueFd output(pipes[0]);
  const UniqueFd writer(pipes[1]);
  if (fcntl(output.get(), F_SETFL, O_NONBLOCK) != 0) {
    return Internal("fcntl: {}", std::strerror(errno));
  }
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd from[] = {OutOfTheWay(nothing.get()), OutOfTheWay(writer.get()),
                           OutOfTheWay(their_end.get()), OutOfTheWay(file)};
  for (const UniqueFd& fd : from) {
    if (!fd.valid()) return Internal("a descriptor of the child's: {}", std::strerror(errno));
  }
  FileActions actions;
  actions.Pass(from[0].get(), STDIN_FILENO);
  actions.Pass(from[1].get(), STDOUT_FILENO);
  actions.Pass(from[2].get(), kSocketFd);
  actions.Pass(from[3].get(), kMailboxFd);
  actions.PassNothingFrom(kMailboxFd + 1);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, arguments[0], actions.get(), nullptr, arguments.data(), environ);
  if (error != 0) {
    return Error(StatusCode::kUnavailable, "cannot start {}: {}", command[0], std::strerror(error));
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, std::move(own), std::move(output)));
}

ChildProcess::~ChildProcess() { End(); }

Status ChildProcess::Send(ByteSpan message, int file) {
  iovec part = {const_cast<std::byte*>(message.data()), message.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (file >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &file, sizeof(int));
  }
  // At most one message is on its way, so this never blocks for long.
  const ssize_t sent = sendmsg(socket_.get(), &header, MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(message.size()) ? OkStatus() : Gone();
}

Status ChildProcess::Receive(MutableByteSpan message, Duration patience) {
  const TimePoint deadline = SteadyClock().Now() + patience;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock().Now()).count();
    pollfd fds[] = {{socket_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}};
    const int ready = poll(fds, output_.valid() ? 2 : 1, static_cast<int>(std::max(left, 0L)));
    if (ready < 0 && errno != EINTR) return Internal("poll: {}", std::strerror(errno));
    // A child that prints without end makes poll return at once for ever.
    if (ready == 0 || (left <= 0 && fds[0].revents == 0))
      return Error(StatusCode::kDeadlineExceeded, "the simulator does not answer");
    if (output_.valid() && fds[1].revents != 0) CollectOutput();
    if (fds[0].revents == 0) continue;
    const ssize_t received = recv(socket_.get(), message.data(), message.size(), MSG_DONTWAIT);
    if (received == static_cast<ssize_t>(message.size())) return OkStatus();
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    return Gone();
  }
}

// Takes what is there; false: it was the last.
bool ChildProcess::CollectOutput() {
  char buffer[4096];
  for (int reads = 0; reads < kReadsInARow; ++reads) {
    const ssize_t got = read(output_.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return true;
    if (got == 0) {
      output_.Reset();
      return false;
    }
    printed_.append(buffer, static_cast<size_t>(got));
    if (printed_.size() > kKeptOutput) printed_.erase(0, printed_.size() - kKeptOutput);
  }
  return true;
}

const std::string& ChildProcess::End() {
  if (!end_.empty()) return end_;
  // One that has ended already keeps its own exit status.
  kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pollfd output = {output_.get(), POLLIN, 0};
  while (output_.valid() && poll(&output, 1, kLastOutputMs) > 0 && CollectOutput()) continue;
  output_.Reset();
  socket_.Reset();
  end_ = WIFSIGNALED(status)
             ? fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
             : fmt::format("exit status {}", WEXITSTATUS(status));
  return end_;
}

}  // namespace ttfd::ttsim
