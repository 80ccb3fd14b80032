// Peers by descriptor, as the kernel knows them.
#include "daemon/rpc/peer_table.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

namespace ttfd {
namespace {

constexpr std::string_view kHost = "host ";
constexpr uint32_t kNobody = ~uint32_t{0};

std::optional<ino_t> InodeOf(int fd) {
  struct stat about {};
  if (fstat(fd, &about) != 0) return std::nullopt;
  return about.st_ino;
}

// "ipv4:127.0.0.1:4711" or "ipv6:[::1]:4711": the other end of a TCP connection.
StatusOr<std::string> AddressOf(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) {
    return Internal("getpeername: {}", std::strerror(errno));
  }
  char host[INET6_ADDRSTRLEN] = {};
  if (storage.ss_family == AF_INET) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
    return fmt::format("ipv4:{}:{}", host, ntohs(v4->sin_port));
  }
  const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
  inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
  return fmt::format("ipv6:[{}]:{}", host, ntohs(v6->sin6_port));
}

// gRPC writes the brackets of IPv6 as in a URI.
std::string Plain(std::string_view peer) {
  std::string plain(peer);
  for (const auto& [coded, bracket] :
       {std::pair<std::string_view, char>{"%5B", '['}, {"%5D", ']'}}) {
    const size_t at = plain.find(coded);
    if (at != std::string::npos) plain.replace(at, coded.size(), 1, bracket);
  }
  return plain;
}

}  // namespace

StatusOr<UniqueFd> DescriptorNumbers::Move(UniqueFd fd) {
  MutexLock lock(&mu_);
  // At most two tries: from where we are to the end, and from the start.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const int moved = fcntl(fd.get(), F_DUPFD_CLOEXEC, next_);
    if (moved >= 0 && moved < end_) {
      next_ = moved + 1;
      return UniqueFd(moved);
    }
    if (moved >= 0) close(moved);
    next_ = first_;
  }
  return Error(StatusCode::kResourceExhausted, "no free descriptor number in [{}, {})", first_,
               end_);
}

StatusOr<PeerIdentity> ReadPeerIdentity(int fd) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return Internal("SO_PEERCRED: {}", std::strerror(errno));
  }
  PeerIdentity identity;
  identity.uid = credentials.uid;
  identity.gid = credentials.gid;
  identity.pid = static_cast<uint32_t>(credentials.pid);

  // SO_PEERCRED knows only the primary group. The kernel says the length it needs with ERANGE.
  static_assert(sizeof(gid_t) == sizeof(uint32_t));
  identity.groups.resize(64);
  for (int attempt = 0; attempt < 2; ++attempt) {
    length = static_cast<socklen_t>(identity.groups.size() * sizeof(gid_t));
    const int result = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, identity.groups.data(), &length);
    identity.groups.resize(length / sizeof(gid_t));
    if (result == 0) return identity;
    if (errno != ERANGE) break;
  }
  return Internal("SO_PEERGROUPS: {}", std::strerror(errno));
}

Status PeerTable::Add(int fd, PeerIdentity identity) {
  Entry entry;
  entry.owner = fmt::format("user {}", identity.uid);
  entry.identity = std::move(identity);
  return Insert(fd, std::move(entry));
}

Status PeerTable::AddTcp(int fd) {
  Entry entry;
  ASSIGN_OR_RETURN(entry.address, AddressOf(fd));
  entry.owner = std::string(kHost) + entry.address.substr(0, entry.address.rfind(':'));
  return Insert(fd, std::move(entry));
}

Status PeerTable::Insert(int fd, Entry entry) {
  const std::optional<ino_t> inode = InodeOf(fd);
  if (!inode) return Internal("descriptor {} is not open", fd);
  entry.inode = *inode;
  MutexLock lock(&mu_);
  // A number, or an address, that came round again.
  if (const auto old = entries_.find(fd); old != entries_.end()) Erase(old);
  if (const auto old = addresses_.find(entry.address); old != addresses_.end()) {
    Erase(entries_.find(old->second));
  }
  if (entries_.size() >= sweep_at_) {
    SweepClosed();
    sweep_at_ = std::max<size_t>(64, entries_.size() * 2);
  }
  if (entries_.size() >= limits_.connections ||
      CountOf(entry.owner) >= limits_.connections_per_user) {
    SweepClosed();
  }
  if (entries_.size() >= limits_.connections) {
    return Error(StatusCode::kResourceExhausted, "all {} connections are taken",
                 limits_.connections);
  }
  if (CountOf(entry.owner) >= limits_.connections_per_user) {
    return Error(StatusCode::kResourceExhausted, "{} has all of its {} connections", entry.owner,
                 limits_.connections_per_user);
  }
  entry.identity.connection = ++last_connection_;
  if (!entry.address.empty()) addresses_[entry.address] = fd;
  entries_[fd] = std::move(entry);
  return OkStatus();
}

std::optional<PeerIdentity> PeerTable::Find(std::string_view peer) {
  constexpr std::string_view kPrefix = "fd:";
  if (!peer.starts_with(kPrefix)) return std::nullopt;
  int fd = -1;
  const char* const end = peer.data() + peer.size();
  const auto [parsed, error] = std::from_chars(peer.data() + kPrefix.size(), end, fd);
  if (error != std::errc() || parsed != end) return std::nullopt;
  MutexLock lock(&mu_);
  const auto found = entries_.find(fd);
  if (found == entries_.end() || !found->second.address.empty()) return std::nullopt;
  return found->second.identity;
}

StatusOr<PeerIdentity> PeerTable::FindTcp(std::string_view peer, const std::string& name,
                                          uint32_t uid) {
  const Status unknown =
      Error(StatusCode::kUnauthenticated, "this connection has no known user behind it");
  MutexLock lock(&mu_);
  const auto address = addresses_.find(Plain(peer));
  if (address == addresses_.end()) return unknown;
  Entry& entry = entries_.at(address->second);
  PeerIdentity& identity = entry.identity;
  if (identity.certificate == name) return identity;
  // One connection is one handshake: this is a late call of an earlier one from the same address.
  if (!identity.certificate.empty()) return unknown;
  const std::string owner = fmt::format("certificate {}", name);
  if (CountOf(owner) >= limits_.connections_per_user) SweepClosed();
  if (CountOf(owner) >= limits_.connections_per_user) {
    return Error(StatusCode::kResourceExhausted, "{} has all of its {} connections", owner,
                 limits_.connections_per_user);
  }
  entry.owner = owner;
  identity.certificate = name;
  // No group: what a group may is not for certificates.
  identity.uid = identity.gid = uid;
  return identity;
}

size_t PeerTable::CountOpen() {
  MutexLock lock(&mu_);
  SweepClosed();
  return entries_.size();
}

std::set<std::string> PeerTable::Certificates() {
  MutexLock lock(&mu_);
  SweepClosed();
  std::set<std::string> names;
  for (const auto& [fd, entry] : entries_) {
    if (!entry.identity.certificate.empty()) names.insert(entry.identity.certificate);
  }
  return names;
}

void PeerTable::Describe(LimitsReply* reply) {
  struct Owner {
    PeerIdentity identity;
    uint64_t connections = 0;
  };
  std::map<std::string, Owner> owners;
  uint64_t all = 0;
  {
    MutexLock lock(&mu_);
    SweepClosed();
    all = entries_.size();
    for (const auto& [fd, entry] : entries_) {
      Owner& owner = owners[entry.owner];
      owner.identity = entry.identity;
      ++owner.connections;
    }
  }
  reply->limits.push_back(
      {"connections", limits_.connections, LimitScope::kDaemon, "open connections"});
  reply->limits.push_back({"connections_per_user", limits_.connections_per_user, LimitScope::kUser,
                           "open connections; of a host, until a certificate is known"});
  for (const auto& [name, owner] : owners) {
    const bool host = name.starts_with(kHost);
    const uint32_t uid = host ? kNobody : owner.identity.uid;
    auto uses = std::find_if(reply->usage.begin(), reply->usage.end(), [uid](const auto& known) {
      return uid != kNobody && known.session == 0 && known.uid == uid;
    });
    if (uses == reply->usage.end()) {
      const std::string& certificate = owner.identity.certificate;
      uses = reply->usage.emplace(reply->usage.end());
      uses->scope = LimitScope::kUser;
      uses->uid = uid;
      uses->user = host ? name : certificate.empty() ? user_name_(owner.identity.uid) : certificate;
    }
    uses->uses.push_back({"connections_per_user", limits_.connections_per_user, owner.connections});
  }
  reply->usage.push_back(
      {LimitScope::kDaemon, 0, 0, "", "", {{"connections", limits_.connections, all}}});
}

void PeerTable::SweepClosed() {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (InodeOf(entry->first) != entry->second.inode) Erase(entry);
    entry = next;
  }
}

void PeerTable::Erase(std::unordered_map<int, Entry>::iterator entry) {
  addresses_.erase(entry->second.address);
  entries_.erase(entry);
}

uint32_t PeerTable::CountOf(const std::string& owner) {
  return static_cast<uint32_t>(
      std::count_if(entries_.begin(), entries_.end(),
                    [&owner](const auto& entry) { return entry.second.owner == owner; }));
}

}  // namespace ttfd
