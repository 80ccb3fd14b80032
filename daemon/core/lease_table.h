// Leases of the card: sessions that hold one, and sessions that wait for one.
//
// First come first served: a lease is granted when its tiles touch none that are held and none that a lease before it
// waits for. So no lease is overtaken by one that would make it wait longer, and disjoint sets of tiles do not wait for
// each other. A pure data structure: no thread, no lock, no clock.
//
//   Ask -> waiting -> granting -> held -> ending -> gone
//                  Look       Granted   Look, Leave   last Leave
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/api/errors.h"
#include "daemon/api/reply.h"
#include "runtime/base/clock.h"
#include "runtime/command/tile_set.h"

namespace ttfd {

// Part of the cards that a lease is of.
struct LeasedPart {
  TileSet tiles;                  // of the only device; none: all of all devices
  std::vector<uint32_t> devices;  // ascending

  bool Has(uint32_t device) const {
    return std::binary_search(devices.begin(), devices.end(), device);
  }
};

class LeaseTable {
 public:
  struct Options {
    Duration longest{};       // a lease is held at most; zero: no limit
    Duration idle{};          // without work; zero: no limit
    Duration longest_wait{};  // for a lease; zero: no limit
    uint32_t per_user = 0;    // waiting and held; zero: no limit
  };
  // Step that the caller has to take for a lease.
  struct Step {
    enum class Kind {
      kGrant,   // no other work may start on its tiles; once none runs there, call Granted
      kGiveUp,  // `sessions` waited too long
      kEnd,     // it is over: `sessions` end
    };
    Kind kind;
    uint64_t lease = 0;
    std::vector<uint64_t> sessions;
    Status status;  // of kGiveUp and kEnd: for their sessions
  };
  struct Held {
    uint64_t lease = 0;
    LeasedPart part;
  };
  struct Waiting {
    uint64_t session = 0;
    LeaseWaitReply wait;
  };

  explicit LeaseTable(const Options& options) : options_(options) {}

  // Puts a session into the queue. `longest_wait` zero: Options::longest_wait.
  StatusOr<uint64_t> Ask(SessionClient client, const LeasedPart& part, Duration longest_wait,
                         TimePoint now);
  // The lease that this token of the same user stands for; the session works under it from then on.
  StatusOr<uint64_t> Join(const std::string& token, uint64_t session, uint32_t uid);
  // The session is gone, whatever it was to whatever lease. Returns the lease if it is gone as well; 0: it is not.
  uint64_t Leave(uint64_t session, TimePoint now);
  // The lease's tiles are free of others' work. False: it has gone meanwhile, or had been granted already.
  bool Granted(uint64_t lease, std::string token, TimePoint now);
  // Something of the lease was at work at `when`.
  void Used(uint64_t lease, TimePoint when);

  // Steps that have become due, each once.
  std::vector<Step> Look(TimePoint now);
  // When something becomes due by time alone.
  TimePoint next_look() const;

  // Leases on whose tiles no other work may start.
  std::vector<Held> held() const;
  std::vector<Waiting> waiting(TimePoint now) const;
  // `grid_of`: of a device's workers.
  std::vector<LeaseInfoReply> List(TimePoint now,
                                   absl::FunctionRef<GridSize(uint32_t)> grid_of) const;
  // Leases that keep a session that works under `lease` (0: none) from this part; empty: none.
  LeaseWaitReply BlockingLease(uint64_t lease, const LeasedPart& part, TimePoint now) const;
  const LeasedPart* PartOf(uint64_t lease) const;
  std::vector<uint64_t> SessionsOf(uint64_t lease) const;
  uint64_t CountOf(uint32_t uid) const;  // held and waited for
  bool empty() const { return leases_.empty(); }
  // Nothing of others runs on the tiles of any lease of the device: none is about to be granted.
  bool settled(uint32_t device) const;

 private:
  using State = LeaseState;
  struct Lease {
    uint64_t id = 0;
    State state = State::kWaiting;
    SessionClient client;
    LeasedPart part;
    TimePoint since;
    TimePoint granting_since;
    TimePoint give_up;    // until it is held
    TimePoint last_used;  // held
    std::string token;
    std::vector<uint64_t> members;  // besides the client; they leave one by one
    bool client_here = true;
    bool end_reported = false;
    bool granting_reported = false;  // that it is next and waits for what runs there

    bool has_tiles() const { return state != State::kWaiting; }
    bool asked() const { return state == State::kWaiting || state == State::kGranting; }
    // It has been next for a while, and what runs on its tiles has still not ended.
    bool granting_long(TimePoint now) const;
  };
  struct Forecast {
    uint32_t position = 0;  // 0: not waiting
    Duration wait{};
    LeaseHolders holders;
  };

  static bool Conflict(const LeasedPart& a, const LeasedPart& b);
  Lease* Find(uint64_t lease);
  const Lease* Find(uint64_t lease) const;
  void CheckTime(Lease& lease, TimePoint now, std::vector<Step>* steps);
  bool MayBeGranted(const Lease& lease) const;
  Duration ExpectedLeft(const Lease& lease, TimePoint now) const;
  // One an entry of leases_, in its order.
  std::vector<Forecast> Forecasts(TimePoint now) const;

  const Options options_;
  std::list<Lease> leases_;  // in the order in which they were asked for
  uint64_t next_id_ = 1;
  double typical_ns_ = 0;  // how long leases are held: a moving average; 0: none has ended yet
};

}  // namespace ttfd
