// Identity of the other end of each connection that the daemon accepted.
//
// gRPC names a unix connection it was handed as "fd:N". The kernel reuses descriptor numbers at once, so
// that a late call of a closed connection could be taken for one of the next; DescriptorNumbers
// therefore moves every connection to a number that was not used for long. A TCP connection is named by the address of
// its other end, "ipv4:127.0.0.1:4711"; who that is, is known from the first call on, by its certificate.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "daemon/api/session_port.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {

// Moves descriptors to ever higher numbers in [first, end), then starts again at `first`.
// Thread-safe.
class DescriptorNumbers {
 public:
  DescriptorNumbers(int first, int end) : first_(first), end_(end), next_(first) {}
  StatusOr<UniqueFd> Move(UniqueFd fd) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const int first_;
  const int end_;
  Mutex mu_;
  int next_ ABSL_GUARDED_BY(mu_);
};

// Reads SO_PEERCRED and SO_PEERGROUPS of a connected unix socket. `connection` stays 0.
StatusOr<PeerIdentity> ReadPeerIdentity(int fd);

// Thread-safe.
class PeerTable {
 public:
  struct Limits {
    uint32_t connections = 4096;
    uint32_t connections_per_user = 512;
  };

  // `user_name`: of a user of this machine; must not block.
  explicit PeerTable(
      const Limits& limits, std::function<std::string(uint32_t uid)> user_name =
                                [](uint32_t uid) { return std::to_string(uid); })
      : limits_(limits), user_name_(std::move(user_name)) {}

  // Remembers the peer of `fd`, which must be open, and numbers the connection. RESOURCE_EXHAUSTED
  // when the user, or the daemon, has as many connections as it may.
  Status Add(int fd, PeerIdentity identity);

  // The same of a TCP connection, of which nothing is known yet: it counts for its host, as one user.
  Status AddTcp(int fd);

  // `peer` as ServerContext::peer() says it. Nothing if it is no unix connection of ours.
  std::optional<PeerIdentity> Find(std::string_view peer);

  // The same for a TCP connection, of a call whose certificate has `name` and stands for `uid`. From the first such
  // call on the connection counts for that user: RESOURCE_EXHAUSTED where it has too many.
  StatusOr<PeerIdentity> FindTcp(std::string_view peer, const std::string& name, uint32_t uid);

  // Connections that are open now.
  size_t CountOpen();
  // Names of the certificates that have one.
  std::set<std::string> Certificates();
  // Adds the limits, and the use: of each user in its place, of hosts whose certificate is not known yet, and of all.
  void Describe(LimitsReply* reply);

 private:
  struct Entry {
    PeerIdentity identity;
    ino_t inode = 0;           // of the socket: tells it from a later file with the same number
    std::string owner = {};    // for whom it counts
    std::string address = {};  // of TCP: its key in addresses_
  };

  // gRPC owns the descriptors and closes them without telling: asking the kernel is how we learn.
  void SweepClosed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Erase(std::unordered_map<int, Entry>::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Status Insert(int fd, Entry entry) ABSL_LOCKS_EXCLUDED(mu_);
  uint32_t CountOf(const std::string& owner) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  const std::function<std::string(uint32_t uid)> user_name_;
  Mutex mu_;
  std::unordered_map<int, Entry> entries_ ABSL_GUARDED_BY(mu_);
  std::unordered_map<std::string, int> addresses_ ABSL_GUARDED_BY(mu_);  // of TCP: to descriptors
  size_t sweep_at_ ABSL_GUARDED_BY(mu_) = 64;  // entries at which closed ones are looked for
  uint64_t last_connection_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace ttfd
