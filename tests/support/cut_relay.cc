// See cut_relay.h.
#include "tests/support/cut_relay.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace ttfd::testing {
namespace {

constexpr int kLookMs = 20;
constexpr uint64_t kCut = uint64_t{1} << 63;

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

}  // namespace

CutRelay::CutRelay(const std::string& daemon) : daemon_path_(daemon.substr(5)) {
  char pattern[] = "/tmp/ttfd_relay_XXXXXX";
  folder_ = mkdtemp(pattern);
  path_ = folder_ + "/socket";
  listener_ = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = AddressOf(path_);
  EXPECT_EQ(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(listener_.get(), 16), 0);
  accept_ = std::thread([this] { Accept(); });
}

CutRelay::~CutRelay() {
  stop_ = true;
  accept_.join();
  CutNow();
  for (const auto& pair : pairs_) {
    for (std::thread& thread : pair->threads) thread.join();
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void CutRelay::CutAfter(Direction direction, uint64_t bytes, bool again) {
  const std::lock_guard lock(mu_);
  left_[direction] = bytes;
  every_[direction] = again ? bytes : 0;
}

void CutRelay::CutNow() {
  const std::lock_guard lock(mu_);
  for (const auto& pair : pairs_) {
    shutdown(pair->client.get(), SHUT_RDWR);
    shutdown(pair->daemon.get(), SHUT_RDWR);
  }
}

void CutRelay::Accept() {
  while (!stop_) {
    pollfd watched{listener_.get(), POLLIN, 0};
    if (poll(&watched, 1, kLookMs) != 1) continue;
    auto pair = std::make_unique<Pair>();
    pair->client = UniqueFd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    pair->daemon = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = AddressOf(daemon_path_);
    if (refuse_ || connect(pair->daemon.get(), reinterpret_cast<const sockaddr*>(&address),
                           sizeof address) != 0) {
      continue;
    }
    const std::lock_guard lock(mu_);
    Pair* const one = pair.get();
    for (const Direction direction : {kToDaemon, kToClient}) {
      one->threads[direction] = std::thread([this, one, direction] { Pass(one, direction); });
    }
    pairs_.push_back(std::move(pair));
  }
}

uint64_t CutRelay::Take(Direction direction, uint64_t size) {
  const std::lock_guard lock(mu_);
  const uint64_t taken = std::min(size, left_[direction]);
  if (left_[direction] != UINT64_MAX) left_[direction] -= taken;
  if (left_[direction] == 0) {
    left_[direction] = every_[direction] != 0 ? every_[direction] : UINT64_MAX;
    ++cuts_;
    return taken | kCut;
  }
  return taken;
}

void CutRelay::Pass(Pair* pair, Direction direction) {
  const int from = direction == kToDaemon ? pair->client.get() : pair->daemon.get();
  const int to = direction == kToDaemon ? pair->daemon.get() : pair->client.get();
  std::array<char, 16384> bytes;
  bool cut = false;
  while (!cut) {
    const ssize_t size = recv(from, bytes.data(), bytes.size(), 0);
    if (size <= 0) break;
    const uint64_t taken = Take(direction, static_cast<uint64_t>(size));
    cut = (taken & kCut) != 0;
    const uint64_t passes = taken & ~kCut;
    for (uint64_t sent = 0; sent < passes;) {
      const ssize_t one = send(to, bytes.data() + sent, passes - sent, MSG_NOSIGNAL);
      if (one <= 0) break;
      sent += static_cast<uint64_t>(one);
    }
    passed_[direction] += passes;
  }
  if (cut) {
    CutNow();  // Every pair in one step: a connection that replaces a broken one is not broken by the same cut.
    return;
  }
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

}  // namespace ttfd::testing
