// poll, accept, and again.
#include "daemon/rpc/accept_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/base/log.h"

namespace ttfd {
namespace {

// How long to leave connections waiting when the process has no descriptor left for them.
constexpr int kOutOfDescriptorsPauseMs = 100;
// A poll that lasts this long just polls again: no wait is without an end.
constexpr int kPollMs = 3'600'000;

}  // namespace

Status AcceptLoop::Start(int listening, std::function<void(UniqueFd)> accepted) {
  stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_.valid()) {
    return Error(StatusCode::kFailedPrecondition, "eventfd: {}", std::strerror(errno));
  }
  thread_ =
      std::thread([this, listening, accepted = std::move(accepted)] { Loop(listening, accepted); });
  return OkStatus();
}

void AcceptLoop::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  // Cannot fail: the counter is far from its end.
  if (write(stop_.get(), &one, sizeof(one)) != sizeof(one)) LogError("cannot stop the listener");
  thread_.join();
}

void AcceptLoop::Loop(int listening, const std::function<void(UniqueFd)>& accepted) {
  while (true) {
    std::array<pollfd, 2> watched{pollfd{listening, POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
    if (poll(watched.data(), watched.size(), kPollMs) < 0 && errno != EINTR) {
      LogError("accept loop ends: poll: {}", std::strerror(errno));
      return;
    }
    if (watched[1].revents != 0) return;
    if (watched[0].revents == 0) continue;
    UniqueFd connection(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.valid()) {
      accepted(std::move(connection));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      LogError("cannot accept a connection: {}", std::strerror(errno));
      poll(&watched[1], 1, kOutOfDescriptorsPauseMs);
    }
  }
}

}  // namespace ttfd
