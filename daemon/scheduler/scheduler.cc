// What may be taken, and what it is expected to cost.
#include "daemon/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

namespace ttfd {
namespace {

constexpr double kNewestShare = 0.25;  // of the newest work in the moving averages
constexpr double kMostSlowness =
    64;  // transfers are not assumed to be slower, or faster, than so many times

double Nanoseconds(Duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

Duration FromNanoseconds(double nanoseconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double, std::nano>(nanoseconds));
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options, LeaseGate* gate)
    : options_(options), gate_(gate), fair_(Nanoseconds(options.quantum)) {}

Scheduler::Flow& Scheduler::FlowOf(const Work& work) {
  const double share = ShareOf(work.weight, work.priority);
  std::unique_ptr<Flow>& flow = flows_[work.flow];
  if (flow == nullptr) {
    flow = std::make_unique<Flow>();
    flow->launch_ns = Nanoseconds(options_.launch_guess);
    fair_.Add(flow.get(), work.uid, share);
  } else if (flow->weight != share) {
    fair_.SetWeight(flow.get(), share);
  }
  return *flow;
}

void Scheduler::Push(Work work) {
  Flow& flow = FlowOf(work);
  if (flow.size == 0) fair_.Activate(&flow);
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
    Lane& lane = flow.lanes[(flow.last_lane + i) % flow.lanes.size()];
    if (HasTurn(lane) && Admits(lane.works.front(), beside)) return &lane;
  }
  return nullptr;
}

bool Scheduler::empty() const {
  if (size_ == 0) return true;
  if (gate_ != nullptr) gate_->Look();
  return !fair_.Any([this](FairQueue::Flow& flow) {
    const std::deque<Lane>& lanes = static_cast<Flow&>(flow).lanes;
    return std::any_of(lanes.begin(), lanes.end(),
                       [this](const Lane& lane) { return HasTurn(lane); });
  });
}

bool Scheduler::Pop(const BusyWorkers& busy, Work* work) {
  if (gate_ != nullptr) gate_->Look();
  Beside beside{busy};
  ++pops_;
  FairQueue::Flow* const picked = fair_.Pick([&](FairQueue::Flow& candidate) {
    auto& flow = static_cast<Flow&>(candidate);
    if (std::exchange(flow.examined, pops_) != pops_) flow.next = NextLane(flow, &beside);
    return flow.next != nullptr;
  });
  if (picked == nullptr) return false;
  Take(static_cast<Flow&>(*picked), work);
  return true;
}

// The flow's next operation, and its price.
void Scheduler::Take(Flow& flow, Work* work) {
  Lane& lane = *flow.next;
  flow.last_lane = lane.index;
  *work = std::move(lane.works.front());
  lane.works.pop_front();
  if (gate_ != nullptr && !work->unwanted()) {
    const TileSet& workers = gate_->WorkersOf(*work);
    if (workers != work->route.workers) work->route.workers = workers;
  }
  work->cost = FromNanoseconds(Expected(flow, *work));
  fair_.Begin(&flow, Nanoseconds(work->cost) * PartOf(*work));
  --size_;
  if (--flow.size == 0) fair_.Deactivate(&flow);
}

double Scheduler::PartOf(const Work& work) const {
  if (options_.workers == 0 || !work.apart()) return 1;
  return static_cast<double>(work.route.workers.count()) / static_cast<double>(options_.workers);
}

// The session may have ended meanwhile; its user pays all the same.
void Scheduler::End(const Work& work, double device_time) {
  const auto found = flows_.find(work.flow);
  const double error = (device_time - Nanoseconds(work.cost)) * PartOf(work);
  fair_.End(work.uid, found == flows_.end() ? nullptr : found->second.get(), error);
}

void Scheduler::Used(const Work& work, Duration device_time) {
  // Never nothing: a clock too coarse to see the operation must not make it free.
  const double used = std::max(Nanoseconds(device_time), Nanoseconds(options_.transfer_overhead));
  End(work, used);
  const auto found = flows_.find(work.flow);
  if (found != flows_.end()) Learn(*found->second, work, used);
}

void Scheduler::Refund(const Work& work) { End(work, 0); }

void Scheduler::Forget(uint64_t flow) {
  const auto found = flows_.find(flow);
  if (found == flows_.end() || found->second->size > 0) return;
  fair_.Remove(found->second.get());
  flows_.erase(found);
}

void Scheduler::Charge(uint64_t flow, Duration time) {
  const auto found = flows_.find(flow);
  if (found != flows_.end()) fair_.Charge(found->second.get(), Nanoseconds(time));
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
