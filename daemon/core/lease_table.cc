// First come first served, tile by tile.
#include "daemon/core/lease_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "daemon/api/status_reason.h"
#include "daemon/session/secret.h"

namespace ttfd {
namespace {

// A guess before any lease has ended.
constexpr Duration kFirstGuess = std::chrono::seconds(60);
constexpr double kNewestShare = 0.25;  // of the newest lease in the moving average
// Work on a lease's tiles mostly ends sooner: only a session that waits for longer is notified.
constexpr Duration kLongGranting = std::chrono::milliseconds(200);

Status LeaseEnded(const std::string& text) {
  return WithReason(Error(StatusCode::kAborted, "{}", text), reason::kLeaseEnded);
}

}  // namespace

void LeaseHolders::Add(const SessionClient& client) {
  if (named.size() < kNamed) {
    named.push_back(client);
  } else {
    ++more;
  }
}

std::string LeaseHolders::Text() const {
  if (none()) return "no session";
  std::string text;
  for (const SessionClient& client : named) {
    text += (text.empty() ? "" : " and ") + client.Text();
  }
  return more == 0 ? text : fmt::format("{} and {} more", text, more);
}

bool LeaseTable::Conflict(const LeasedPart& a, const LeasedPart& b) {
  const bool disjoint = std::none_of(a.devices.begin(), a.devices.end(),
                                     [&b](uint32_t device) { return b.Has(device); });
  if (disjoint) return false;
  return a.tiles.none() || b.tiles.none() || (a.tiles & b.tiles).any();
}

bool LeaseTable::Lease::granting_long(TimePoint now) const {
  return state == State::kGranting && now - granting_since >= kLongGranting;
}

LeaseTable::Lease* LeaseTable::Find(uint64_t lease) {
  const auto found = std::find_if(leases_.begin(), leases_.end(),
                                  [lease](const Lease& known) { return known.id == lease; });
  return found == leases_.end() ? nullptr : &*found;
}

const LeaseTable::Lease* LeaseTable::Find(uint64_t lease) const {
  return const_cast<LeaseTable*>(this)->Find(lease);
}

uint64_t LeaseTable::CountOf(uint32_t uid) const {
  return static_cast<uint64_t>(
      std::count_if(leases_.begin(), leases_.end(),
                    [uid](const Lease& known) { return known.client.uid == uid; }));
}

StatusOr<uint64_t> LeaseTable::Ask(SessionClient client, const LeasedPart& part,
                                   Duration longest_wait, TimePoint now) {
  const uint64_t of_user = CountOf(client.uid);
  if (options_.per_user != 0 && of_user >= options_.per_user) {
    return ToStatus(LimitError("hello.lease", "leases_per_user", options_.per_user, of_user,
                               "no more leases of this user, held and waited for"));
  }
  if (options_.longest_wait != Duration::zero() &&
      (longest_wait == Duration::zero() || longest_wait > options_.longest_wait)) {
    longest_wait = options_.longest_wait;
  }
  Lease lease;
  lease.id = next_id_++;
  lease.client = std::move(client);
  lease.part = part;
  lease.since = now;
  lease.give_up = longest_wait == Duration::zero() ? TimePoint::max() : now + longest_wait;
  leases_.push_back(std::move(lease));
  return leases_.back().id;
}

StatusOr<uint64_t> LeaseTable::Join(const std::string& token, uint64_t session, uint32_t uid) {
  Lease* joined = nullptr;
  for (Lease& lease : leases_) {  // all of them, whatever matches
    const bool same = SameSecret(lease.token, token);
    if (same && lease.state == State::kHeld && lease.client.uid == uid) joined = &lease;
  }
  if (joined == nullptr || token.empty()) {
    return WithReason(
        Error(StatusCode::kNotFound,
              "no lease of this user has this token; a token is good from the grant of its "
              "lease until the lease ends"),
        reason::kLeaseEnded, "hello.lease_token");
  }
  joined->members.push_back(session);
  return joined->id;
}

uint64_t LeaseTable::Leave(uint64_t session, TimePoint now) {
  for (auto lease = leases_.begin(); lease != leases_.end(); ++lease) {
    const bool client = lease->client_here && lease->client.session == session;
    if (client) {
      lease->client_here = false;
      if (lease->state == State::kHeld) lease->state = State::kEnding;
    } else if (std::erase(lease->members, session) == 0) {
      continue;
    }
    if (lease->client_here || !lease->members.empty()) return 0;
    if (!lease->token.empty()) {
      const auto held = static_cast<double>((now - lease->since).count());
      typical_ns_ = typical_ns_ == 0 ? held : typical_ns_ + (held - typical_ns_) * kNewestShare;
    }
    const uint64_t ended = lease->id;
    leases_.erase(lease);
    return ended;
  }
  return 0;
}

bool LeaseTable::Granted(uint64_t lease, std::string token, TimePoint now) {
  Lease* const found = Find(lease);
  if (found == nullptr || found->state != State::kGranting) return false;
  found->state = State::kHeld;
  found->token = std::move(token);
  found->since = found->last_used = now;
  return true;
}

void LeaseTable::Used(uint64_t lease, TimePoint when) {
  Lease* const found = Find(lease);
  if (found != nullptr) found->last_used = std::max(found->last_used, when);
}

bool LeaseTable::MayBeGranted(const Lease& lease) const {
  for (const Lease& other : leases_) {
    if (&other == &lease) continue;
    // Held ones wherever they stand, waiting ones before it.
    const bool before = other.id < lease.id;
    if ((other.has_tiles() || before) && Conflict(other.part, lease.part)) return false;
  }
  return true;
}

void LeaseTable::CheckTime(Lease& lease, TimePoint now, std::vector<Step>* steps) {
  std::string why;
  if (options_.longest != Duration::zero() && now - lease.since >= options_.longest) {
    why = fmt::format("the lease was held for {} ms, the limit lease_ms",
                      MillisecondsOf(options_.longest));
  } else if (options_.idle != Duration::zero() && now - lease.last_used >= options_.idle) {
    why = fmt::format("nothing was done under the lease for {} ms, the limit lease_idle_ms",
                      MillisecondsOf(options_.idle));
  } else {
    return;
  }
  lease.state = State::kEnding;
  lease.end_reported = true;
  steps->push_back({Step::Kind::kEnd, lease.id, SessionsOf(lease.id), LeaseEnded(why)});
}

std::vector<LeaseTable::Step> LeaseTable::Look(TimePoint now) {
  std::vector<Step> steps;
  const std::vector<Forecast> forecasts = Forecasts(now);
  auto forecast = forecasts.begin();
  for (Lease& lease : leases_) {
    const Forecast& seen = *forecast++;
    lease.granting_reported |= lease.granting_long(now);
    if (lease.state == State::kHeld) CheckTime(lease, now, &steps);
    if (lease.state == State::kEnding && !std::exchange(lease.end_reported, true)) {
      steps.push_back({Step::Kind::kEnd, lease.id, SessionsOf(lease.id),
                       LeaseEnded("the lease under which this session worked has ended with the "
                                  "session that held it")});
    }
    if (lease.asked() && now >= lease.give_up) {
      const std::string where =
          lease.state == State::kGranting
              ? "it is next, but what others have begun on its workers has not ended"
              : fmt::format("number {} of those that wait, held by {}, expected to take {} ms more",
                            seen.position, seen.holders.Text(), MillisecondsOf(seen.wait));
      steps.push_back({Step::Kind::kGiveUp,
                       lease.id,
                       {lease.client.session},
                       WithReason(Error(StatusCode::kDeadlineExceeded,
                                        "the lease was not granted within {} ms: {}",
                                        MillisecondsOf(now - lease.since), where),
                                  reason::kDeadline, "hello.lease.wait_ms")});
    }
  }
  leases_.remove_if([now](const Lease& lease) { return lease.asked() && now >= lease.give_up; });
  for (Lease& lease : leases_) {
    if (lease.state != State::kWaiting || !MayBeGranted(lease)) continue;
    lease.state = State::kGranting;
    lease.granting_since = now;
    steps.push_back({Step::Kind::kGrant, lease.id, {}, OkStatus()});
  }
  return steps;
}

TimePoint LeaseTable::next_look() const {
  TimePoint next = TimePoint::max();
  for (const Lease& lease : leases_) {
    if (lease.asked()) next = std::min(next, lease.give_up);
    if (lease.state == State::kGranting && !lease.granting_reported) {
      next = std::min(next, lease.granting_since + kLongGranting);
    }
    if (lease.state != State::kHeld) continue;
    if (options_.longest != Duration::zero()) next = std::min(next, lease.since + options_.longest);
    if (options_.idle != Duration::zero()) next = std::min(next, lease.last_used + options_.idle);
  }
  return next;
}

std::vector<LeaseTable::Held> LeaseTable::held() const {
  std::vector<Held> held;
  for (const Lease& lease : leases_) {
    if (lease.has_tiles()) held.push_back({lease.id, lease.part});
  }
  return held;
}

bool LeaseTable::settled(uint32_t device) const {
  return std::none_of(leases_.begin(), leases_.end(), [device](const Lease& lease) {
    return lease.state == State::kGranting && lease.part.Has(device);
  });
}

// A lease held for longer than usual is expected to last for the usual time once more.
Duration LeaseTable::ExpectedLeft(const Lease& lease, TimePoint now) const {
  const Duration typical =
      typical_ns_ == 0 ? kFirstGuess : Duration(static_cast<Duration::rep>(typical_ns_));
  if (lease.state == State::kEnding) return Duration::zero();
  if (lease.state == State::kGranting) return typical;
  const Duration held = now - lease.since;
  Duration left = held < typical ? typical - held : typical;
  if (options_.longest != Duration::zero()) {
    left = std::min(left, std::max(options_.longest - held, Duration::zero()));
  }
  return left;
}

// Plays the queue through: each lease begins when those it must wait for are expected to end.
std::vector<LeaseTable::Forecast> LeaseTable::Forecasts(TimePoint now) const {
  Duration typical =
      typical_ns_ == 0 ? kFirstGuess : Duration(static_cast<Duration::rep>(typical_ns_));
  if (options_.longest != Duration::zero()) typical = std::min(typical, options_.longest);
  std::vector<Forecast> forecasts;
  std::vector<Duration> ends;              // from now
  std::map<uint32_t, uint32_t> positions;  // by device
  for (const Lease& lease : leases_) {
    Forecast& forecast = forecasts.emplace_back();
    if (lease.has_tiles()) {
      ends.push_back(ExpectedLeft(lease, now));
      continue;
    }
    for (const uint32_t device : lease.part.devices) {
      forecast.position = std::max(forecast.position, ++positions[device]);
    }
    const auto blocks = [&](const Lease& other) {
      return (other.has_tiles() || other.id < lease.id) && other.id != lease.id &&
             Conflict(other.part, lease.part);
    };
    for (const Lease& other : leases_) {
      if (other.has_tiles() && blocks(other)) forecast.holders.Add(other.client);
    }
    size_t index = 0;
    for (const Lease& other : leases_) {
      if (blocks(other)) {
        const Duration end = other.id < lease.id ? ends[index] : ExpectedLeft(other, now);
        forecast.wait = std::max(forecast.wait, end);
      }
      if (forecast.holders.none() && blocks(other)) forecast.holders.Add(other.client);
      ++index;
    }
    ends.push_back(forecast.wait + typical);
  }
  return forecasts;
}

std::vector<LeaseTable::Waiting> LeaseTable::waiting(TimePoint now) const {
  std::vector<Waiting> waiting;
  const std::vector<Forecast> forecasts = Forecasts(now);
  auto forecast = forecasts.begin();
  for (const Lease& lease : leases_) {
    const Forecast& seen = *forecast++;
    if (lease.state != State::kWaiting && !lease.granting_long(now)) continue;
    LeaseWaitReply wait{seen.position, seen.holders, MillisecondsOf(seen.wait)};
    if (lease.state == State::kGranting) wait = {1, {}, 0};
    waiting.push_back({lease.client.session, std::move(wait)});
  }
  return waiting;
}

std::vector<LeaseInfoReply> LeaseTable::List(TimePoint now,
                                             absl::FunctionRef<GridSize(uint32_t)> grid_of) const {
  std::vector<LeaseInfoReply> waiting;
  std::vector<LeaseInfoReply> infos;
  const std::vector<Forecast> forecasts = Forecasts(now);
  auto forecast = forecasts.begin();
  for (const Lease& lease : leases_) {
    const Forecast& seen = *forecast++;
    LeaseInfoReply info;
    info.lease = lease.id;
    info.state = lease.state;
    info.session = lease.client.session;
    info.client_name = lease.client.name;
    info.user = lease.client.user;
    info.uid = lease.client.uid;
    info.pid = lease.client.pid;
    info.devices = lease.part.devices;
    if (lease.part.tiles.any()) {
      info.workers = CoverWithRectangles(lease.part.tiles, grid_of(lease.part.devices.front()));
    }
    info.sessions = static_cast<uint32_t>(lease.members.size()) + (lease.client_here ? 1 : 0);
    info.since_ms = MillisecondsOf(now - lease.since);
    TimePoint until = TimePoint::max();
    if (lease.asked()) until = lease.give_up;
    if (lease.state == State::kHeld && options_.longest != Duration::zero()) {
      until = lease.since + options_.longest;
    }
    if (until != TimePoint::max()) info.left_ms = MillisecondsOf(until - now);
    info.position = seen.position;
    info.holders = seen.holders;
    info.expected_wait_ms = MillisecondsOf(seen.wait);
    (lease.has_tiles() ? infos : waiting).push_back(std::move(info));
  }
  infos.insert(infos.end(), std::make_move_iterator(waiting.begin()),
               std::make_move_iterator(waiting.end()));
  return infos;
}

LeaseWaitReply LeaseTable::BlockingLease(uint64_t lease, const LeasedPart& part,
                                         TimePoint now) const {
  LeaseWaitReply wait;
  if (lease != 0) return wait;
  for (const Lease& other : leases_) {
    if (!other.has_tiles() || !Conflict(other.part, part)) continue;
    wait.holders.Add(other.client);
    wait.expected_wait_ms =
        std::max(wait.expected_wait_ms, MillisecondsOf(ExpectedLeft(other, now)));
  }
  return wait;
}

const LeasedPart* LeaseTable::PartOf(uint64_t lease) const {
  const Lease* const found = Find(lease);
  return found == nullptr ? nullptr : &found->part;
}

std::vector<uint64_t> LeaseTable::SessionsOf(uint64_t lease) const {
  const Lease* const found = Find(lease);
  if (found == nullptr) return {};
  std::vector<uint64_t> sessions = found->members;
  if (found->client_here) sessions.insert(sessions.begin(), found->client.session);
  return sessions;
}

}  // namespace ttfd
