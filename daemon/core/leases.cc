// Leases of the card.
#include "daemon/core/leases.h"

#include <algorithm>
#include <optional>

#include "daemon/core/lease_wait.h"
#include "daemon/core/lease_workers.h"

namespace ttfd {
namespace {

constexpr size_t kLeaseTokenBytes = 16;

}  // namespace

StatusOr<SessionLease> Leases::Request(const HelloRequest& hello, const SessionClient& who,
                                       uint32_t device) {
  SessionLease lease;
  lease.device = device;
  MutexLock lock(&mu_);
  if (hello.attach == AttachKind::kLease) {
    ASSIGN_OR_RETURN(lease.workers, LeasedWorkers(hello.lease, GridOf(device)));
    ASSIGN_OR_RETURN(lease.devices, parts_.cards.LeasedDevices(hello.lease, device));
    // Unset: the longest that is allowed. 0: not longer than it takes to look.
    const uint32_t wait_ms = hello.lease.wait_ms ? std::max(*hello.lease.wait_ms, 1u) : 0;
    ASSIGN_OR_RETURN(lease.id, table_.Ask(who, {lease.workers, lease.devices},
                                          std::chrono::milliseconds(wait_ms), parts_.clock.Now()));
    lease.waiting = true;
    timer_.RunBy(TimePoint::min());
  } else if (hello.attach == AttachKind::kLeaseToken) {
    ASSIGN_OR_RETURN(lease.id, table_.Join(hello.lease_token, who.session, who.uid));
    const LeasedPart& part = *table_.PartOf(lease.id);
    lease.device = hello.device.value_or(part.devices.front());
    if (!part.Has(lease.device)) {
      const Status refused =
          ToStatus(InvalidError("hello.device", "device {}; the lease of the token is of {}",
                                lease.device, DevicesText(part.devices)));
      table_.Leave(who.session, parts_.clock.Now());
      return refused;
    }
    lease.workers = part.tiles;
    lease.devices = part.devices;
  }
  return lease;
}

std::vector<LeaseInfoReply> Leases::List() {
  const TimePoint now = parts_.clock.Now();
  MutexLock lock(&mu_);
  return table_.List(now, [this](uint32_t device) { return GridOf(device); });
}

std::string Leases::Text(uint64_t lease, const LeasedPart& part) {
  const TimePoint now = parts_.clock.Now();
  MutexLock lock(&mu_);
  const LeaseWaitReply wait = table_.BlockingLease(lease, part, now);
  if (wait.holders.none()) return {};
  return fmt::format("; leased by {}, expected for {} ms more", wait.holders.Text(),
                     wait.expected_wait_ms);
}

void Leases::SetGates() {
  const std::vector<LeaseTable::Held> all = table_.held();
  for (const auto& card : parts_.cards.all()) {
    bool whole = false;
    TileSet leased;
    for (const LeaseTable::Held& held : all) {
      if (!held.part.Has(card->resources.device)) continue;
      whole = whole || held.part.tiles.none();
      leased |= held.part.tiles;
    }
    const GridSize grid = card->resources.description.grid;
    card->gate.Set(whole, leased, TilesOf({0, 0, grid.x - 1, grid.y - 1}, grid));
  }
}

// A lease is idle when none of its sessions has anything to do.
void Leases::NoteUse(TimePoint now) {
  std::vector<std::pair<uint64_t, uint64_t>> members;  // lease, session
  {
    MutexLock lock(&mu_);
    for (const LeaseTable::Held& held : table_.held()) {
      for (const uint64_t id : table_.SessionsOf(held.lease)) members.emplace_back(held.lease, id);
    }
  }
  std::vector<std::pair<uint64_t, TimePoint>> uses;
  for (const auto& [lease, id] : members) {
    const std::shared_ptr<Session> session = parts_.sessions.Find(id);
    if (session != nullptr) uses.emplace_back(lease, session->LastAtWork(now));
  }
  MutexLock lock(&mu_);
  for (const auto& [lease, when] : uses) table_.Used(lease, when);
}

void Leases::Check(TimePoint now) {
  NoteUse(now);
  std::vector<LeaseTable::Step> steps;
  std::vector<LeaseTable::Waiting> waiting;
  {
    MutexLock lock(&mu_);
    steps = table_.Look(now);
    timer_.RunBy(table_.next_look());
    SetGates();
    waiting = table_.waiting(now);
  }
  parts_.thread.Wake(/*brief=*/false);
  for (const LeaseTable::Step& step : steps) {
    if (step.kind == LeaseTable::Step::Kind::kGrant) Grant(step.lease);
    for (const uint64_t id : step.sessions) {
      const std::shared_ptr<Session> session = parts_.sessions.Find(id);
      if (session != nullptr) session->End(step.status);
    }
  }
  WaitNotices notices = CheckBlockedSessions(now);
  for (LeaseTable::Waiting& one : waiting) {
    const std::shared_ptr<Session> session = parts_.sessions.Find(one.session);
    if (session == nullptr) continue;
    MutexLock lock(&mu_);
    AddNotice(session, std::move(one.wait), &notices);
  }
  for (const auto& [session, wait] : notices) session->NotifyWaiting(wait);
}

void Leases::AddNotice(const std::shared_ptr<Session>& session, LeaseWaitReply wait,
                       WaitNotices* notices) {
  const auto [entry, first] = last_notices_.try_emplace(session->id());
  LeaseWaitReply& last = entry->second;
  if (!first && last.position == wait.position && last.holders == wait.holders) return;
  last = wait;
  notices->emplace_back(session, std::move(wait));
}

Leases::WaitNotices Leases::CheckBlockedSessions(TimePoint now) {
  WaitNotices notices;
  for (const std::shared_ptr<Session>& session : parts_.sessions.All()) {
    if (session->lease() != 0) continue;
    LeaseWaitReply wait;
    for (const auto& card : parts_.cards.all()) {
      if (!card->gate.closed() || !wait.holders.none()) continue;
      const uint32_t device = card->resources.device;
      MutexLock lock(&mu_);
      const std::optional<TileSet> needed =
          BlockedByLeases(session->queues().all(), device, card->gate, table_.settled(device));
      if (needed) wait = table_.BlockingLease(/*lease=*/0, {*needed, {device}}, now);
    }
    MutexLock lock(&mu_);
    if (wait.holders.none()) {
      last_notices_.erase(session->id());
    } else {
      AddNotice(session, std::move(wait), &notices);
    }
  }
  return notices;
}

// Check finds out which lease keeps the queue from the card.
void Leases::SliceIsNext(const Slice& slice) {
  const LeaseGate& gate = parts_.cards.at(slice.queue->card->device).gate;
  if (slice.share().lease != 0 || !gate.closed()) return;
  if (!gate.Blocks(LeaseGate::UseOf(slice))) return;
  MutexLock lock(&mu_);
  timer_.RunBy(TimePoint::min());
}

// Others' work that has started ends first.
void Leases::Grant(uint64_t lease) {
  LeasedPart part;
  {
    MutexLock lock(&mu_);
    const LeasedPart* const found = table_.PartOf(lease);
    if (found == nullptr) return;
    part = *found;
  }
  const auto disturbs = [lease, tiles = part.tiles](const Slice& slice) {
    if (slice.share().lease == lease) return false;
    if (tiles.none()) return true;
    const bool there = slice.route.workers.none() || (slice.route.workers & tiles).any();
    return there &&
           (slice.runs_kernels() || std::holds_alternative<RecordTraceCommand>(slice.command));
  };
  const auto left = std::make_shared<size_t>(part.devices.size());  // device thread
  for (const uint32_t device : part.devices) {
    parts_.cards.at(device).executor->RequestQuiet({disturbs, [this, lease, left] {
                                                      if (--*left == 0) Granted(lease);
                                                    }});
  }
}

void Leases::Granted(uint64_t lease) {
  std::string token = parts_.random_bytes(kLeaseTokenBytes);
  uint64_t owner = 0;
  {
    MutexLock lock(&mu_);
    if (!table_.Granted(lease, token, parts_.clock.Now())) return;
    timer_.RunBy(TimePoint::min());
    owner = table_.SessionsOf(lease).front();
  }
  const std::shared_ptr<Session> session = parts_.sessions.Find(owner);
  if (session != nullptr) session->LeaseGranted(std::move(token));
}

uint64_t Leases::Leave(uint64_t session) {
  MutexLock lock(&mu_);
  last_notices_.erase(session);
  if (table_.empty()) return 0;
  timer_.RunBy(TimePoint::min());
  return table_.Leave(session, parts_.clock.Now());
}

uint64_t Leases::CountOf(uint32_t uid) {
  MutexLock lock(&mu_);
  return table_.CountOf(uid);
}

}  // namespace ttfd
