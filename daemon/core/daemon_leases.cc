// Leases of the card: requests, grants, notices.
//
// A lease is granted in two steps. First no other work may start where it will be (the gate); then, when what
// runs there has ended, its session is notified. It ends when the last of its sessions is released, which is
// when nothing of theirs is on the card.
#include <algorithm>
#include <utility>

#include "daemon/core/daemon_core.h"
#include "daemon/core/lease_wait.h"
#include "daemon/core/lease_workers.h"
#include "daemon/session/errors.h"
#include "daemon/session/status_reason.h"

namespace ttfd {
namespace {

constexpr size_t kLeaseTokenBytes = 16;

}  // namespace

StatusOr<SessionLease> DaemonCore::FindLease(const HelloRequest& hello, const SessionClient& who) {
  SessionLease lease;
  if (hello.attach == AttachKind::kLease) {
    ASSIGN_OR_RETURN(lease.workers, LeasedWorkers(hello.lease, device_.card.grid));
    // Unset: the longest that is allowed. 0: not longer than it takes to look.
    const uint32_t wait_ms = hello.lease.wait_ms ? std::max(*hello.lease.wait_ms, 1u) : 0;
    ASSIGN_OR_RETURN(lease.id, leases_.Ask(who, lease.workers, std::chrono::milliseconds(wait_ms),
                                           clock_.Now()));
    lease.waiting = true;
    LeasesChanged();
  } else if (hello.attach == AttachKind::kLeaseToken) {
    ASSIGN_OR_RETURN(lease.id, leases_.Join(hello.lease_token, who.session, who.uid));
    lease.workers = *leases_.TilesOfLease(lease.id);
  }
  return lease;
}

std::vector<LeaseInfoReply> DaemonCore::ListLeases() {
  const TimePoint now = clock_.Now();
  MutexLock lock(&mu_);
  return leases_.List(now, device_.card.grid);
}

std::string DaemonCore::LeaseText(uint64_t lease, const TileSet& workers) {
  const TimePoint now = clock_.Now();
  MutexLock lock(&mu_);
  const LeaseWaitReply wait = leases_.BlockingLease(lease, workers, now);
  if (wait.holders.none()) return {};
  return fmt::format("; leased by {}, expected for {} ms more", wait.holders.Text(),
                     wait.expected_wait_ms);
}

void DaemonCore::LeasesChanged() {
  leases_changed_ = true;
  RunChecksAt(TimePoint::min());
}

void DaemonCore::SetGate() {
  bool whole = false;
  TileSet leased;
  for (const LeaseTable::Held& held : leases_.held()) {
    whole = whole || held.tiles.none();
    leased |= held.tiles;
  }
  const GridSize grid = device_.card.grid;
  gate_.Set(whole, leased, TilesOf({0, 0, grid.x - 1, grid.y - 1}, grid));
}

// A lease is idle when none of its sessions has anything to do.
void DaemonCore::NoteWorkUnderLeases(TimePoint now) {
  std::vector<std::pair<uint64_t, std::shared_ptr<Session>>> workers;
  {
    MutexLock lock(&mu_);
    for (const LeaseTable::Held& held : leases_.held()) {
      for (const uint64_t id : leases_.SessionsOf(held.lease)) {
        const auto found = sessions_.find(id);
        if (found != sessions_.end()) workers.emplace_back(held.lease, found->second);
      }
    }
  }
  std::vector<std::pair<uint64_t, TimePoint>> uses;
  uses.reserve(workers.size());
  for (const auto& [lease, session] : workers) uses.emplace_back(lease, session->LastAtWork(now));
  MutexLock lock(&mu_);
  for (const auto& [lease, when] : uses) leases_.Used(lease, when);
}

void DaemonCore::CheckLeases(TimePoint now) {
  {
    MutexLock lock(&mu_);
    if (!std::exchange(leases_changed_, false) && now < look_at_leases_at_) return;
  }
  NoteWorkUnderLeases(now);
  std::vector<LeaseTable::Step> steps;
  WaitNotices notices;
  std::vector<std::pair<std::shared_ptr<Session>, Status>> ends;
  {
    MutexLock lock(&mu_);
    steps = leases_.Look(now);
    look_at_leases_at_ = leases_.next_look();
    SetGate();
    for (const LeaseTable::Step& step : steps) {
      for (const uint64_t id : step.sessions) {
        const auto found = sessions_.find(id);
        if (found != sessions_.end()) ends.emplace_back(found->second, step.status);
      }
    }
    for (LeaseTable::Waiting& waiting : leases_.waiting(now)) {
      const auto found = sessions_.find(waiting.session);
      if (found == sessions_.end()) continue;
      AddWaitNotice(found->second, std::move(waiting.wait), &notices);
    }
  }
  executor_.Wake();
  for (const LeaseTable::Step& step : steps) {
    if (step.kind == LeaseTable::Step::Kind::kGrant) Grant(step.lease);
  }
  for (const auto& [session, status] : ends) session->End(status);
  for (const auto& [session, wait] : notices) session->NotifyWaiting(wait);
  for (const auto& [session, wait] : CheckBlockedSessions(now)) session->NotifyWaiting(wait);
}

void DaemonCore::AddWaitNotice(const std::shared_ptr<Session>& session, LeaseWaitReply wait,
                               WaitNotices* notices) {
  const auto [entry, first] = last_wait_notices_.try_emplace(session->id());
  LeaseWaitReply& last = entry->second;
  if (!first && last.position == wait.position && last.holders == wait.holders) return;
  last = wait;
  notices->emplace_back(session, std::move(wait));
}

DaemonCore::WaitNotices DaemonCore::CheckBlockedSessions(TimePoint now) {
  WaitNotices notices;
  bool settled = false;
  {
    MutexLock lock(&mu_);
    settled = leases_.settled();
  }
  for (const std::shared_ptr<Session>& session : Sessions()) {
    if (session->lease() != 0) continue;
    const std::optional<TileSet> needed = BlockedByLeases(session->queues().all(), gate_, settled);
    MutexLock lock(&mu_);
    LeaseWaitReply wait;
    if (needed) wait = leases_.BlockingLease(/*lease=*/0, *needed, now);
    if (wait.holders.none()) {
      last_wait_notices_.erase(session->id());
    } else if (sessions_.contains(session->id())) {
      AddWaitNotice(session, std::move(wait), &notices);
    }
  }
  return notices;
}

// CheckLeases finds out which lease keeps the queue from the card.
void DaemonCore::NextSliceChanged(SessionQueue& queue) {
  schedulers_[queue.route.hardware_queue].NextSliceChanged(queue);
  const Slice* const slice = queue.slices.next();
  if (slice == nullptr || queue.share.lease != 0 || !gate_.closed()) return;
  if (!gate_.Blocks(LeaseGate::UseOf(*slice))) return;
  MutexLock lock(&mu_);
  LeasesChanged();
}

// Others' work that has started ends first.
void DaemonCore::Grant(uint64_t lease) {
  TileSet tiles;
  {
    MutexLock lock(&mu_);
    const TileSet* const found = leases_.TilesOfLease(lease);
    if (found == nullptr) return;
    tiles = *found;
  }
  const auto disturbs = [lease, tiles](const Slice& slice) {
    if (slice.share().lease == lease) return false;
    if (tiles.none()) return true;
    const bool there = slice.route.workers.none() || (slice.route.workers & tiles).any();
    return there &&
           (slice.runs_kernels() || std::holds_alternative<RecordTraceCommand>(slice.command));
  };
  executor_.RequestQuiet({disturbs, [this, lease] { Granted(lease); }});
}

// Device thread.
void DaemonCore::Granted(uint64_t lease) {
  std::string token = options_.random_bytes(kLeaseTokenBytes);
  std::shared_ptr<Session> session;
  {
    MutexLock lock(&mu_);
    if (!leases_.Granted(lease, token, clock_.Now())) return;
    LeasesChanged();
    const auto found = sessions_.find(leases_.SessionsOf(lease).front());
    if (found == sessions_.end()) return;
    session = found->second;
  }
  session->LeaseGranted(std::move(token));
}

}  // namespace ttfd
