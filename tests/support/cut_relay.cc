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

void CutRelay::CutNow() { Break(SIZE_MAX); }

void CutRelay::Break(size_t count) {
  const std::lock_guard lock(mu_);
  for (size_t i = 0; i < std::min(count, pairs_.size()); ++i) {
    shutdown(pairs_[i]->client.get(), SHUT_RDWR);
    shutdown(pairs_[i]->daemon.get(), SHUT_RDWR);
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

CutRelay::Taken CutRelay::Take(Direction direction, uint64_t size) {
  const std::lock_guard lock(mu_);
  Taken taken{std::min(size, left_[direction])};
  if (left_[direction] != UINT64_MAX) left_[direction] -= taken.bytes;
  if (left_[direction] == 0) {
    left_[direction] = every_[direction] != 0 ? every_[direction] : UINT64_MAX;
    ++cuts_;
    taken.broken = pairs_.size();
  }
  return taken;
}

void CutRelay::Pass(Pair* pair, Direction direction) {
  const int from = direction == kToDaemon ? pair->client.get() : pair->daemon.get();
  const int to = direction == kToDaemon ? pair->daemon.get() : pair->client.get();
  std::array<char, 16384> bytes;
  Taken taken;
  while (taken.broken == 0) {
    const ssize_t size = recv(from, bytes.data(), bytes.size(), 0);
    if (size <= 0) break;
    taken = Take(direction, static_cast<uint64_t>(size));
    for (uint64_t sent = 0; sent < taken.bytes;) {
      const ssize_t one = send(to, bytes.data() + sent, taken.bytes - sent, MSG_NOSIGNAL);
      if (one <= 0) break;
      sent += static_cast<uint64_t>(one);
    }
    passed_[direction] += taken.bytes;
  }
  if (taken.broken != 0) {
    Break(taken.broken);  // a connection that replaces a broken one is not broken by the same cut
  } else {
    shutdown(from, SHUT_RDWR);
    shutdown(to, SHUT_RDWR);
  }
  const std::lock_guard lock(mu_);
  if (--pair->passing > 0) return;
  pair->client = UniqueFd();
  pair->daemon = UniqueFd();
}

}  // namespace ttfd::testing
