// A scripted debugger: speaks GDB's remote protocol over a socket, without GDB.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/unique_fd.h"
#include "runtime/debug/rsp_packet.h"

namespace ttfd {

class RspClient {
 public:
  explicit RspClient(const std::string& path)
      : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
    Connect(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  explicit RspClient(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = Loopback(port);
    Connect(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }

  static uint16_t FreePort() {
    const UniqueFd probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = Loopback(0);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
    EXPECT_EQ(getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
    return ntohs(address.sin_port);
  }

  void SendRaw(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        ADD_FAILURE() << "send: " << std::strerror(errno);
        return;
      }
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  void Send(std::string_view packet) { SendRaw(debug::FramePacket(packet)); }

  // The next reply, if it is here.
  std::optional<std::string> Take() {
    Receive(0);
    if (replies_.empty()) return {};
    std::string reply = std::move(replies_.front());
    replies_.pop_front();
    return reply;
  }
  // The next reply of a daemon that runs by itself; "no reply" after `patience`.
  std::string Await(std::chrono::milliseconds patience = std::chrono::seconds(20)) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < deadline && !closed_) {
      if (std::optional<std::string> reply = Take()) return *reply;
      Receive(10);
    }
    return Take().value_or("no reply");
  }
  std::string Ask(std::string_view packet) {
    Send(packet);
    return Await();
  }
  bool IsClosed() {
    Receive(0);
    return closed_;
  }
  int acknowledgements() const { return acknowledgements_; }
  int refusals() const { return refusals_; }

 private:
  static sockaddr_in Loopback(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  void Connect(const sockaddr* address, socklen_t length) {
    EXPECT_EQ(connect(fd_.get(), address, length), 0) << std::strerror(errno);
  }
  void Receive(int milliseconds) {
    pollfd watched{fd_.get(), POLLIN, 0};
    while (!closed_ && poll(&watched, 1, milliseconds) > 0) {
      char bytes[4096];
      const ssize_t got = recv(fd_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
      if (got <= 0) {
        closed_ = true;
        return;
      }
      const std::string_view text(bytes, static_cast<size_t>(got));
      reader_.Put(text, [this](debug::PacketReader::Item item) {
        if (item.kind == debug::PacketReader::Kind::kNack) ++refusals_;
        if (item.kind == debug::PacketReader::Kind::kPacket) {
          replies_.push_back(std::move(item.data));
        }
      });
      acknowledgements_ += static_cast<int>(std::count(text.begin(), text.end(), '+'));
      milliseconds = 0;
    }
  }

  const UniqueFd fd_;
  debug::PacketReader reader_;
  std::deque<std::string> replies_;
  int acknowledgements_ = 0;
  int refusals_ = 0;
  bool closed_ = false;
};

}  // namespace ttfd
