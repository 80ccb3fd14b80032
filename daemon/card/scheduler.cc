// Picks the next slice, estimates costs and learns from measured times.
#include "daemon/card/scheduler.h"

#include <algorithm>
#include <utility>

namespace ttfd {
namespace {

constexpr double kNewestShare = 0.25;  // of the newest slice in the moving averages
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

Scheduler::Flow& Scheduler::FlowOf(const SessionShare& share) {
  std::unique_ptr<Flow>& flow = flows_[share.session];
  if (flow == nullptr) {
    flow = std::make_unique<Flow>();
    flow->launch_ns = Nanoseconds(options_.launch_guess);
    fair_.Add(flow.get(), share.uid, ShareOf(share.weight, share.priority));
  }
  return *flow;
}

void Scheduler::NextSliceChanged(SessionQueue& queue) {
  const bool any = queue.slices.next() != nullptr;
  if (std::exchange(queue.slices.listed, any) == any) return;
  Flow& flow = FlowOf(queue.share);
  if (!any) {
    --size_;
    if (--flow.listed == 0) fair_.Deactivate(&flow);
    return;
  }
  ++size_;
  if (flow.listed++ == 0) fair_.Activate(&flow);
  const bool known = std::find(flow.queues.begin(), flow.queues.end(), &queue) != flow.queues.end();
  if (!known) flow.queues.push_back(&queue);
}

bool Scheduler::IsEligible(const SessionQueue& queue) const {
  const Slice* const slice = queue.slices.next();
  return slice != nullptr && (gate_ == nullptr || gate_->Admits(*slice)) &&
         slice->MayBeTaken(options_.longest_wait);
}

const TileSet& Scheduler::WorkersOf(const Slice& slice) const {
  return gate_ != nullptr ? gate_->WorkersOf(slice) : slice.queue->route.workers;
}

bool Scheduler::Admits(const Slice& slice, Admission* admission) const {
  if (admission->busy.empty()) return true;
  const TileSet& workers = WorkersOf(slice);
  const bool kept = admission->all_kept || (admission->kept.any() && workers.none()) ||
                    (admission->kept & workers).any();
  if (!kept && admission->busy.Admit(slice, workers)) return true;
  admission->all_kept |= workers.none();
  admission->kept |= workers;
  return false;
}

// Null: none of the flow's queues has a turn with what the card may be given.
SessionQueue* Scheduler::NextQueue(Flow& flow, Admission* admission) const {
  const size_t count = flow.queues.size();
  for (size_t i = 1; i <= count; ++i) {
    SessionQueue* const queue = flow.queues[(flow.last_queue + i) % count];
    if (IsEligible(*queue) && Admits(*queue->slices.next(), admission)) return queue;
  }
  return nullptr;
}

bool Scheduler::empty() const {
  if (size_ == 0) return true;
  if (gate_ != nullptr) gate_->Look();
  return !fair_.Any([this](FairQueue::Flow& flow) {
    const std::vector<SessionQueue*>& queues = static_cast<Flow&>(flow).queues;
    return std::any_of(queues.begin(), queues.end(),
                       [this](const SessionQueue* queue) { return IsEligible(*queue); });
  });
}

SessionQueue* Scheduler::Next(const BusyWorkers& busy) {
  if (gate_ != nullptr) gate_->Look();
  Admission admission{busy};
  ++calls_;
  FairQueue::Flow* const picked = fair_.Pick([&](FairQueue::Flow& candidate) {
    auto& flow = static_cast<Flow&>(candidate);
    if (std::exchange(flow.examined, calls_) != calls_) flow.next = NextQueue(flow, &admission);
    return flow.next != nullptr;
  });
  if (picked == nullptr) return nullptr;
  auto& flow = static_cast<Flow&>(*picked);
  Slice& slice = *flow.next->slices.next();
  slice.route.workers = WorkersOf(slice);
  slice.times.cost = FromNanoseconds(Expected(flow, slice));
  return flow.next;
}

void Scheduler::Started(const SessionQueue& queue) {
  Flow& flow = *flows_.at(queue.share.session);
  const auto found = std::find(flow.queues.begin(), flow.queues.end(), &queue);
  flow.last_queue = static_cast<size_t>(found - flow.queues.begin());
  const Slice& slice = *queue.slices.next();
  fair_.Begin(&flow, Nanoseconds(slice.times.cost) * PartOf(slice));
}

double Scheduler::PartOf(const Slice& slice) const {
  if (options_.workers == 0 || !slice.independent()) return 1;
  return static_cast<double>(slice.route.workers.count()) / static_cast<double>(options_.workers);
}

// The session may have ended meanwhile; its user pays all the same.
void Scheduler::End(const Slice& slice, double device_time) {
  const auto found = flows_.find(slice.share().session);
  const double error = (device_time - Nanoseconds(slice.times.cost)) * PartOf(slice);
  fair_.End(slice.share().uid, found == flows_.end() ? nullptr : found->second.get(), error);
}

void Scheduler::Used(const Slice& slice, Duration device_time) {
  // Never nothing: a clock too coarse to see the operation must not make it free.
  const double used = std::max(Nanoseconds(device_time), Nanoseconds(options_.transfer_overhead));
  End(slice, used);
  const auto found = flows_.find(slice.share().session);
  if (found != flows_.end()) Learn(*found->second, slice, used);
}

void Scheduler::Refund(const Slice& slice) { End(slice, 0); }

void Scheduler::RemoveSession(uint64_t session) {
  const auto found = flows_.find(session);
  if (found == flows_.end()) return;
  fair_.Remove(found->second.get());
  flows_.erase(found);
}

void Scheduler::Charge(uint64_t session, Duration time) {
  const auto found = flows_.find(session);
  if (found != flows_.end()) fair_.Charge(found->second.get(), Nanoseconds(time));
}

void Scheduler::Learn(Flow& flow, const Slice& slice, double used) {
  if (slice.runs_kernels()) {
    flow.launch_ns += (used / static_cast<double>(slice.launches) - flow.launch_ns) * kNewestShare;
    return;
  }
  const double slowness = used * flow.slowness / Expected(flow, slice);
  flow.slowness = std::clamp(flow.slowness + (slowness - flow.slowness) * kNewestShare,
                             1 / kMostSlowness, kMostSlowness);
}

double Scheduler::Expected(const Flow& flow, const Slice& slice) const {
  const double overhead = Nanoseconds(options_.transfer_overhead);
  if (slice.runs_kernels()) {
    return std::max(flow.launch_ns * static_cast<double>(slice.launches), overhead);
  }
  const double bytes_ns = static_cast<double>(slice.bytes) * options_.transfer_ns_per_byte;
  return std::max((overhead + bytes_ns) * flow.slowness, overhead);
}

}  // namespace ttfd
