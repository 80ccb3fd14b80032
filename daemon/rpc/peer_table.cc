// Peers by descriptor, as the kernel knows them.
#include "daemon/rpc/peer_table.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace ttfd {
namespace {

std::optional<ino_t> InodeOf(int fd) {
  struct stat about {};
  if (fstat(fd, &about) != 0) return std::nullopt;
  return about.st_ino;
}

}  // namespace

StatusOr<UniqueFd> DescriptorNumbers::Move(UniqueFd fd) {
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
  const std::optional<ino_t> inode = InodeOf(fd);
  if (!inode) return Internal("descriptor {} is not open", fd);
  MutexLock lock(&mu_);
  entries_.erase(fd);  // a number that came round again
  if (entries_.size() >= sweep_at_) {
    SweepClosed();
    sweep_at_ = std::max<size_t>(64, entries_.size() * 2);
  }
  if (entries_.size() >= limits_.connections ||
      CountOf(identity.uid) >= limits_.connections_per_user) {
    SweepClosed();
  }
  if (entries_.size() >= limits_.connections) {
    return Error(StatusCode::kResourceExhausted, "all {} connections are taken",
                 limits_.connections);
  }
  if (CountOf(identity.uid) >= limits_.connections_per_user) {
    return Error(StatusCode::kResourceExhausted, "user {} has all of its {} connections",
                 identity.uid, limits_.connections_per_user);
  }
  identity.connection = ++last_connection_;
  entries_[fd] = Entry{std::move(identity), *inode};
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
  if (found == entries_.end()) return std::nullopt;
  return found->second.identity;
}

size_t PeerTable::CountOpen() {
  MutexLock lock(&mu_);
  SweepClosed();
  return entries_.size();
}

void PeerTable::SweepClosed() {
  std::erase_if(entries_,
                [](const auto& entry) { return InodeOf(entry.first) != entry.second.inode; });
}

uint32_t PeerTable::CountOf(uint32_t uid) {
  return static_cast<uint32_t>(
      std::count_if(entries_.begin(), entries_.end(),
                    [uid](const auto& entry) { return entry.second.identity.uid == uid; }));
}

}  // namespace ttfd
