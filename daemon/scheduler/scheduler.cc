// Who used least goes first.
#include "daemon/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

namespace ttfd {
namespace {

constexpr double kLaunchAverageShare = 0.25;  // of the newest launch in the moving average

double Nanoseconds(Duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

Duration FromNanoseconds(double nanoseconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double, std::nano>(nanoseconds));
}

}  // namespace

Scheduler::Flow& Scheduler::FlowOf(const Work& work) {
  std::unique_ptr<Flow>& flow = flows_[work.flow];
  if (flow == nullptr) {
    flow = std::make_unique<Flow>();
    flow->launch_ns = Nanoseconds(options_.launch_guess);
  }
  flow->weight = std::max(work.weight, 1u);
  return *flow;
}

void Scheduler::Push(Work work) {
  if (flows_.size() >= forget_at_) ForgetIdleFlows();
  Flow& flow = FlowOf(work);
  if (flow.size == 0) {
    flow.paid = std::clamp(flow.paid, floor_, floor_ + Nanoseconds(options_.debt));
    active_.push_back(&flow);
  }
  auto lane = std::find_if(flow.lanes.begin(), flow.lanes.end(),
                           [&work](const Lane& known) { return known.queue == work.queue; });
  if (lane == flow.lanes.end()) {
    lane = flow.lanes.emplace(flow.lanes.end());
    lane->queue = work.queue;
  }
  lane->works.push_back(std::move(work));
  ++flow.size;
  ++size_;
}

bool Scheduler::Admits(const Lane& lane) const {
  return !lane.works.empty() && (gate_ == nullptr || gate_->Admits(lane.works.front()));
}

bool Scheduler::HasTurn(const Lane& lane) const {
  return Admits(lane) && lane.works.front().MayBeTaken(options_.longest_wait);
}

bool Scheduler::HasTurn(const Flow& flow) const {
  return std::any_of(flow.lanes.begin(), flow.lanes.end(),
                     [this](const Lane& lane) { return HasTurn(lane); });
}

bool Scheduler::empty() const {
  if (size_ == 0 || gate_ == nullptr || !gate_->closed()) return size_ == 0;
  return std::none_of(active_.begin(), active_.end(), [this](const Flow* flow) {
    return std::any_of(flow->lanes.begin(), flow->lanes.end(),
                       [this](const Lane& lane) { return Admits(lane); });
  });
}

bool Scheduler::Pop(Work* work) {
  auto poorest = active_.end();
  for (auto flow = active_.begin(); flow != active_.end(); ++flow) {
    const bool poorer = poorest == active_.end() || (*flow)->paid < (*poorest)->paid ||
                        ((*flow)->paid == (*poorest)->paid && (*flow)->served < (*poorest)->served);
    if (poorer && HasTurn(**flow)) poorest = flow;
  }
  if (poorest == active_.end()) return false;
  Flow& flow = **poorest;
  flow.paid = floor_ = std::max(floor_, flow.paid);
  do {
    flow.next_lane = (flow.next_lane + 1) % flow.lanes.size();
  } while (!HasTurn(flow.lanes[flow.next_lane]));
  std::deque<Work>& works = flow.lanes[flow.next_lane].works;
  *work = std::move(works.front());
  works.pop_front();
  if (gate_ != nullptr) gate_->Narrow(work);
  work->cost = Estimate(flow, *work);
  flow.paid += Nanoseconds(work->cost) / flow.weight;
  flow.served = ++turns_;
  --size_;
  if (--flow.size == 0) {
    *poorest = active_.back();
    active_.pop_back();
    // Nobody waits: what was used until here was used by nobody's leave and is forgiven.
    if (active_.empty()) floor_ = flow.paid;
  }
  return true;
}

void Scheduler::Used(const Work& work, Duration device_time) {
  const auto found = flows_.find(work.flow);
  if (found == flows_.end()) return;
  Flow& flow = *found->second;
  const double used = Nanoseconds(device_time);
  // Never less than the estimate, which is already paid: a clock too coarse to see the work must
  // not make it free.
  flow.paid += std::max(used - Nanoseconds(work.cost), 0.0) / flow.weight;
  if (!work.runs_kernels()) return;
  flow.launch_ns +=
      (used / static_cast<double>(work.launches) - flow.launch_ns) * kLaunchAverageShare;
}

Duration Scheduler::Estimate(const Flow& flow, const Work& work) const {
  if (work.runs_kernels()) {
    return std::max(FromNanoseconds(flow.launch_ns * static_cast<double>(work.launches)),
                    options_.transfer_overhead);
  }
  return options_.transfer_overhead +
         FromNanoseconds(static_cast<double>(work.bytes) * options_.transfer_ns_per_byte);
}

void Scheduler::ForgetIdleFlows() {
  std::erase_if(flows_, [this](const auto& entry) {
    return entry.second->size == 0 && entry.second->paid <= floor_;
  });
  forget_at_ = std::max(options_.remembered_flows, 2 * flows_.size());
}

}  // namespace ttfd
