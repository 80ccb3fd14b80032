// Sockets and turns.
#include "runtime/debug/gdb_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "runtime/base/log.h"

namespace ttfd::debug {
namespace {

constexpr size_t kReadBytes = 4096;
// Replies that a debugger may leave unread: it asks one thing at a time.
constexpr size_t kMaxPendingBytes = 8 * kMaxPacketBytes;
// Clocks that the chip advances by when only a debugger wants it to move.
constexpr uint64_t kAttendClocks = 20'000;

Status SystemError(std::string_view what) {
  return Error(StatusCode::kFailedPrecondition, "debugger: {}: {}", what, std::strerror(errno));
}

// A TCP port, or nothing: then it is a path.
std::optional<uint16_t> PortOf(const std::string& where) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(where.data(), where.data() + where.size(), port);
  if (error != std::errc() || end != where.data() + where.size() || port == 0) return {};
  return port;
}

StatusOr<UniqueFd> ListenOnPort(uint16_t port) {
  UniqueFd listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listening.valid()) return SystemError("socket");
  const int yes = 1;
  setsockopt(listening.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return SystemError(fmt::format("cannot listen on 127.0.0.1:{}", port));
  }
  return listening;
}

}  // namespace

StatusOr<std::unique_ptr<GdbServer>> GdbServer::Listen(sim::Chip& chip, const std::string& where,
                                                       StoppableClock* halt) {
  std::unique_ptr<GdbServer> server(new GdbServer(chip, halt));
  int listening = -1;
  RETURN_IF_ERROR(CheckAddress(where));
  if (const std::optional<uint16_t> port = PortOf(where)) {
    ASSIGN_OR_RETURN(server->port_, ListenOnPort(*port));
    listening = server->port_.get();
    server->where_ = fmt::format("127.0.0.1:{}", *port);
  } else {
    ASSIGN_OR_RETURN(server->file_, UnixSocket::Bind(where, "another path for the debugger"));
    listening = server->file_->fd();
    server->where_ = where;
  }
  if (listen(listening, 1) != 0) return SystemError("listen");
  return server;
}

GdbServer::~GdbServer() = default;

Status GdbServer::CheckAddress(std::string_view where) {
  const bool number = where.find_first_not_of("0123456789") == where.npos;
  if (!number || PortOf(std::string(where)).has_value()) return OkStatus();
  return InvalidArgument("gdb: \"{}\" is neither a path nor a port from 1 to 65535", where);
}

StatusOr<AdvanceResult> GdbServer::Advance(uint64_t clocks) {
  turns_.fetch_add(1, std::memory_order_relaxed);
  Serve(target_.running() ? Duration::zero() : kHaltedWait);
  const StatusOr<sim::Chip::Progress> progress = target_.Advance(clocks);
  if (session_ != nullptr) {
    session_->TellStop();
    Flush();
  }
  KeepTime();
  RETURN_IF_ERROR(progress.status());
  return AdvanceResult{progress->clocks, progress->quiescent, progress->halted};
}

bool GdbServer::Attend(const AdvanceCard& advance) {
  const bool somebody = session_ != nullptr;
  if (!somebody) {
    Serve(Duration::zero());
  } else if (!advance(kAttendClocks).ok()) {
    // A fault: who runs the chip hears of it with what it does next.
    return false;
  }
  KeepTime();
  return session_ != nullptr && (!target_.running() || target_.has_steps());
}

// The clock of whoever runs the chip stands still with it.
void GdbServer::KeepTime() {
  if (halt_ == nullptr) return;
  if (target_.running()) {
    halt_->Go();
  } else {
    halt_->Stop();
  }
}

void GdbServer::Serve(Duration wait) {
  if (closing_.load(std::memory_order_acquire)) {
    if (session_ != nullptr) {
      Queue("W00");  // as if the program had ended: GDB is not to wait for it
      Flush();
      Drop("the daemon stops");
    }
    return;
  }
  const int open = file_ != nullptr ? file_->fd() : port_.get();
  const int listening = admits_ ? open : -1;
  std::array<pollfd, 2> watched{pollfd{listening, POLLIN, 0}, pollfd{connection_.get(), POLLIN, 0}};
  if (!pending_.empty()) watched[1].events |= POLLOUT;
  // A descriptor of -1 is left out.
  const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
  if (poll(watched.data(), watched.size(), static_cast<int>(patience)) <= 0) return;
  if (watched[0].revents != 0) Accept();
  if (watched[1].revents != 0) {
    Flush();
    if (pending_.empty()) Read();
  }
}

void GdbServer::Accept() {
  const int listening = file_ != nullptr ? file_->fd() : port_.get();
  UniqueFd connection(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection.valid()) return;
  if (session_ != nullptr) {
    LogWarning("a second debugger was turned away at {}: one at a time", where_);
    return;
  }
  if (port_.valid()) {
    const int yes = 1;  // questions are short and wait for their answers
    setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  }
  connection_ = std::move(connection);
  reader_ = PacketReader();
  heard_ = false;
  pending_.clear();
  last_.clear();
  session_ = std::make_unique<GdbSession>(
      target_, [this](std::string_view data) { Queue(data); }, monitor_);
  LogInfo("a debugger connected at {}: the card stands still until it lets it run", where_);
  KeepTime();
}

void GdbServer::Read() {
  std::array<char, kReadBytes> bytes;
  const ssize_t got = recv(connection_.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return Drop(got == 0 ? "it closed the connection" : std::strerror(errno));
  const std::string_view text(bytes.data(), static_cast<size_t>(got));
  // A web page can make a browser post to a local port, with packets in the text: no debugger begins like that.
  constexpr std::string_view kFirsts = "+-$\x03";
  if (!heard_ && kFirsts.find(text[0]) == kFirsts.npos) return Drop("it is no debugger");
  heard_ = true;
  reader_.Put(text, [this](const PacketReader::Item& item) { Take(item); });
  if (session_ == nullptr) return;
  Flush();
  if (session_ != nullptr && session_->ended()) Drop("it detached");
}

void GdbServer::Take(const PacketReader::Item& item) {
  if (session_ == nullptr || session_->ended()) return;  // the rest behind its last word
  const bool acknowledges = session_->acknowledges();
  switch (item.kind) {
    case PacketReader::Kind::kPacket:
      if (acknowledges) pending_ += '+';
      session_->Handle(item.data);
      return;
    case PacketReader::Kind::kInterrupt:
      session_->Interrupt();
      return;
    case PacketReader::Kind::kNack:  // once at a time, however often it asks
      if (acknowledges && pending_.empty()) pending_ += last_;
      return;
    case PacketReader::Kind::kDamaged:
      if (acknowledges) pending_ += '-';
      return;
    case PacketReader::Kind::kTooLong:
      Drop("it sent more than fits a packet");
      return;
  }
}

void GdbServer::Queue(std::string_view data) {
  last_ = FramePacket(data);
  pending_ += last_;
}

void GdbServer::Flush() {
  while (!pending_.empty() && connection_.valid()) {
    const ssize_t sent =
        send(connection_.get(), pending_.data(), pending_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return Drop(std::strerror(errno));
    if (sent < 0) break;
    pending_.erase(0, static_cast<size_t>(sent));
  }
  if (pending_.size() > kMaxPendingBytes) Drop("it does not read its replies");
}

void GdbServer::Drop(std::string_view why) {
  if (session_ == nullptr) return;
  LogInfo("the debugger at {} is gone ({}): the card runs", where_, why);
  session_.reset();
  connection_.Reset();
  pending_.clear();
  target_.Disconnect();
}

}  // namespace ttfd::debug
