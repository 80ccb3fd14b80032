// Replies about leases, for clients and administrators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/api/request.h"
#include "daemon/hang/session_client.h"

namespace ttfd {

// Sessions that hold the leases for which another waits.
struct LeaseHolders {
  static constexpr size_t kNamed = 3;
  std::vector<SessionClient> named;
  uint32_t more = 0;

  void Add(const SessionClient& client);
  bool none() const { return named.empty(); }
  // "session 3 (...) and session 4 (...) and 2 more"; "no session"
  std::string Text() const;
  bool operator==(const LeaseHolders&) const = default;
};

// State of a session that waits for a lease, or whose commands wait for one to end.
struct LeaseWaitReply {
  uint32_t position = 0;  // 1: next; 0: no lease was asked for
  LeaseHolders holders;
  uint64_t expected_wait_ms = 0;
};

enum class LeaseState : uint8_t { kWaiting, kGranting, kHeld, kEnding };

// A lease that is held or requested.
struct LeaseInfoReply {
  uint64_t lease = 0;
  LeaseState state = LeaseState::kWaiting;
  uint64_t session = 0;
  std::string client_name;
  std::string user;
  uint32_t uid = 0;
  uint32_t pid = 0;
  std::vector<uint32_t> devices;   // ascending
  std::vector<CoreRange> workers;  // none: the whole device
  uint32_t sessions = 0;
  uint64_t since_ms = 0;
  std::optional<uint64_t> left_ms;  // unset: no limit
  uint32_t position = 0;
  LeaseHolders holders;
  uint64_t expected_wait_ms = 0;
};

}  // namespace ttfd
