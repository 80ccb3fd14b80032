// Rounds, grants and who goes first in them.
#include "daemon/scheduler/scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ttfd {
namespace {

constexpr double kNewestShare = 0.25;  // of the newest work in the moving averages
constexpr double kMostSlowness =
    64;  // transfers are not believed to be slower, or faster, than so many times

double Nanoseconds(Duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

Duration FromNanoseconds(double nanoseconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double, std::nano>(nanoseconds));
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options, LeaseGate* gate)
    : options_(options),
      quantum_ns_(Nanoseconds(options.quantum)),
      gate_(gate),
      grant_per_share_(quantum_ns_ / static_cast<double>(ShareOf(1, Priority::kNormal))) {}

bool Scheduler::GoesBefore::operator()(const Flow* a, const Flow* b) const {
  if (a->priority != b->priority) return a->priority > b->priority;
  if (a->light != b->light) return a->light;
  if (a->light) {
    const double left_a = a->balance / static_cast<double>(a->share);
    const double left_b = b->balance / static_cast<double>(b->share);
    if (left_a != left_b) return left_a > left_b;
  }
  return a->place < b->place;
}

Scheduler::Flow& Scheduler::FlowOf(const Work& work) {
  std::unique_ptr<Flow>& flow = flows_[work.flow];
  const bool added = flow == nullptr;
  if (added) {
    flow = std::make_unique<Flow>();
    flow->launch_ns = Nanoseconds(options_.launch_guess);
    flow->place = ++places_;
  }
  const uint64_t share = ShareOf(work.weight, work.priority);
  if (flow->share != share || flow->priority != work.priority) {
    if (flow->size > 0) Leave(*flow);
    flow->share = share;
    flow->priority = work.priority;
    if (flow->size > 0) Enter(*flow);
  }
  if (added) {
    flow->uid = work.uid;
    flow->round = round_;
    flow->balance = Grant(*flow);
    TakeOver(*flow);
  }
  return *flow;
}

double Scheduler::Grant(uint64_t share) const {
  return std::min(grant_per_share_ * static_cast<double>(share), quantum_ns_);
}

// Had it stayed it would stand no worse than a newcomer.
bool Scheduler::IsPaid(const Gone& gone) const {
  const double rounds = static_cast<double>(round_ - gone.standing.round);
  const double grant = Grant(gone.share);
  return rounds > 1 && gone.standing.balance + rounds * grant >= grant;
}

// A new flow goes on where the one of its user's that are gone was that had the most.
void Scheduler::TakeOver(Flow& flow) {
  std::erase_if(gone_, [this](const Gone& gone) { return IsPaid(gone); });
  const double grant = Grant(flow);
  const auto now = [&](const Standing& standing) {
    return standing.balance + static_cast<double>(round_ - standing.round) * grant;
  };
  auto most = gone_.end();
  for (auto gone = gone_.begin(); gone != gone_.end(); ++gone) {
    if (gone->uid != flow.uid) continue;
    if (most == gone_.end() || now(gone->standing) < now(most->standing)) most = gone;
  }
  if (most == gone_.end()) return;
  static_cast<Standing&>(flow) = most->standing;
  flow.balance = std::min(flow.balance, grant);  // its share may be less
  gone_.erase(most);
}

void Scheduler::Refill(Flow& flow, uint64_t rounds) {
  const double grant = Grant(flow);
  // A flow that stayed away from a whole round has not used that one up.
  flow.light = flow.balance > 0 || (flow.size == 0 && rounds > 1);
  flow.balance = std::min(flow.balance + static_cast<double>(rounds) * grant, grant);
  flow.round = round_;
}

void Scheduler::Enter(Flow& flow) {
  if (flow.balance > 0) {
    ready_.insert(&flow);
  } else {
    spent_.insert(&flow);
  }
}

void Scheduler::Leave(Flow& flow) {
  // By value of the key, which is as it was when the flow entered.
  if (flow.balance > 0) {
    ready_.erase(&flow);
  } else {
    spent_.erase(&flow);
  }
}

void Scheduler::Activate(Flow& flow) {
  if (flow.round != round_) Refill(flow, round_ - flow.round);
  flow.due = round_ + options_.aging_rounds;
  Enter(flow);
}

void Scheduler::SetBalance(Flow& flow, double balance) {
  const bool had_turn = flow.balance > 0;
  const bool has_turn = balance > 0;
  // Of the others only those that enter or leave the round change their place.
  const bool moves = flow.size > 0 && (flow.light || had_turn != has_turn);
  if (moves) Leave(flow);
  flow.balance = balance;
  if (had_turn && !has_turn) flow.place = ++places_;
  if (moves) Enter(flow);
}

void Scheduler::Push(Work work) {
  Flow& flow = FlowOf(work);
  if (flow.size == 0) Activate(flow);
  auto lane = std::find_if(flow.lanes.begin(), flow.lanes.end(),
                           [&work](const Lane& known) { return known.queue == work.queue; });
  if (lane == flow.lanes.end()) {
    lane = flow.lanes.emplace(flow.lanes.end());
    lane->queue = work.queue;
    lane->index = flow.lanes.size() - 1;
  }
  lane->works.push_back(std::move(work));
  ++flow.size;
  ++size_;
}

// What is not wanted any more waits for nothing: its owner is to hear of its end, and gives back what it holds.
bool Scheduler::HasTurn(const Lane& lane) const {
  if (lane.works.empty()) return false;
  const Work& work = lane.works.front();
  if (work.unwanted()) return true;
  return (gate_ == nullptr || gate_->Admits(work)) && work.MayBeTaken(options_.longest_wait);
}

bool Scheduler::Admits(const Work& work, Beside* beside) const {
  if (beside->busy.empty() || work.unwanted()) return true;
  const TileSet& workers = gate_ != nullptr ? gate_->WorkersOf(work) : work.route.workers;
  const bool kept =
      beside->all_kept || (beside->kept.any() && workers.none()) || (beside->kept & workers).any();
  if (!kept && beside->busy.Admit(work, workers)) return true;
  beside->all_kept |= workers.none();
  beside->kept |= workers;
  return false;
}

// Null: none of the flow's queues has a turn with what the card may be given.
Scheduler::Lane* Scheduler::NextLane(Flow& flow, Beside* beside) const {
  for (size_t i = 1; i <= flow.lanes.size(); ++i) {
    Lane& lane = flow.lanes[(flow.next_lane + i) % flow.lanes.size()];
    if (HasTurn(lane) && Admits(lane.works.front(), beside)) return &lane;
  }
  return nullptr;
}

bool Scheduler::empty() const {
  if (size_ == 0) return true;
  if (gate_ != nullptr) gate_->Look();
  const auto waits = [this](const Flow* flow) {
    return std::none_of(flow->lanes.begin(), flow->lanes.end(),
                        [this](const Lane& lane) { return HasTurn(lane); });
  };
  return std::all_of(ready_.begin(), ready_.end(), waits) &&
         std::all_of(spent_.begin(), spent_.end(), waits);
}

bool Scheduler::Pop(const BusyWorkers& busy, Work* work) {
  if (gate_ != nullptr) gate_->Look();
  for (;;) {
    Beside beside{busy};
    for (Flow* const flow : ready_) {
      Lane* const lane = NextLane(*flow, &beside);
      if (lane == nullptr) continue;
      Take(*flow, *lane, work);
      return true;
    }
    if (!NextRound(beside)) return false;
  }
}

// The lane's next work, and its price.
void Scheduler::Take(Flow& flow, Lane& lane, Work* work) {
  flow.next_lane = lane.index;
  *work = std::move(lane.works.front());
  lane.works.pop_front();
  if (gate_ != nullptr && !work->unwanted()) {
    const TileSet& workers = gate_->WorkersOf(*work);
    if (workers != work->route.workers) work->route.workers = workers;
  }
  if (flow.size == 1) Leave(flow);
  --flow.size;
  --size_;
  work->cost = FromNanoseconds(Expected(flow, *work));
  flow.due = round_ + options_.aging_rounds;
  SetBalance(flow, flow.balance - Nanoseconds(work->cost));
}

uint64_t Scheduler::RoundsUntilTurn(const Flow& flow) const {
  const double lacking = std::floor(-flow.balance / Grant(flow)) + 1;
  const uint64_t left = flow.due > round_ ? flow.due - round_ : 1;
  return lacking < static_cast<double>(left) ? static_cast<uint64_t>(lacking) : left;
}

// As many rounds on as it takes until somebody has a turn. False: nobody could take one.
bool Scheduler::NextRound(const Beside& beside) {
  const auto may_go = [&](Flow* flow) {
    Beside alone = beside;
    return NextLane(*flow, &alone) != nullptr;
  };
  uint64_t largest = 0;
  for (Flow* flow : spent_) {
    if (flow->share > largest && may_go(flow)) largest = flow->share;
  }
  if (largest == 0) return false;
  grant_per_share_ = quantum_ns_ / static_cast<double>(largest);
  uint64_t rounds = std::numeric_limits<uint64_t>::max();
  for (Flow* flow : spent_) {
    if (may_go(flow)) rounds = std::min(rounds, RoundsUntilTurn(*flow));
  }
  round_ += rounds;
  std::vector<Flow*> flows(spent_.begin(), spent_.end());
  flows.insert(flows.end(), ready_.begin(), ready_.end());
  ready_.clear();
  spent_.clear();
  for (Flow* flow : flows) {
    Refill(*flow, rounds);
    if (flow->balance <= 0 && round_ >= flow->due) flow->balance = 1;  // one work, whatever it owes
    Enter(*flow);
  }
  return true;
}

void Scheduler::Used(const Work& work, Duration device_time) {
  const auto found = flows_.find(work.flow);
  if (found == flows_.end()) return;
  Flow& flow = *found->second;
  // Never nothing: a clock too coarse to see the work must not make it free.
  const double used = std::max(Nanoseconds(device_time), Nanoseconds(options_.transfer_overhead));
  SetBalance(flow, std::min(flow.balance + Nanoseconds(work.cost) - used, Grant(flow)));
  Learn(flow, work, used);
}

void Scheduler::GivenBack(const Work& work) {
  const auto found = flows_.find(work.flow);
  if (found == flows_.end()) return;
  Flow& flow = *found->second;
  SetBalance(flow, std::min(flow.balance + Nanoseconds(work.cost), Grant(flow)));
}

void Scheduler::Forget(uint64_t flow) {
  const auto found = flows_.find(flow);
  if (found == flows_.end() || found->second->size > 0) return;
  const Standing& standing = *found->second;
  const Gone gone{found->second->uid, found->second->share, standing};
  flows_.erase(found);
  if (IsPaid(gone)) return;
  if (gone_.size() == kMostGone) gone_.pop_front();
  gone_.push_back(gone);
}

void Scheduler::Learn(Flow& flow, const Work& work, double used) {
  if (work.runs_kernels()) {
    flow.launch_ns += (used / static_cast<double>(work.launches) - flow.launch_ns) * kNewestShare;
    return;
  }
  const double slowness = used * flow.slowness / Expected(flow, work);
  flow.slowness = std::clamp(flow.slowness + (slowness - flow.slowness) * kNewestShare,
                             1 / kMostSlowness, kMostSlowness);
}

double Scheduler::Expected(const Flow& flow, const Work& work) const {
  const double overhead = Nanoseconds(options_.transfer_overhead);
  if (work.runs_kernels()) {
    return std::max(flow.launch_ns * static_cast<double>(work.launches), overhead);
  }
  const double bytes_ns = static_cast<double>(work.bytes) * options_.transfer_ns_per_byte;
  return std::max((overhead + bytes_ns) * flow.slowness, overhead);
}

}  // namespace ttfd
