// A scheduler with sessions that have no clients: tests say what their queues have for the card.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "daemon/card/scheduler.h"
#include "daemon/session/operation.h"
#include "daemon/session/session_queue.h"

namespace ttfd {

// A slice of a session's queue, which is there from the first slice on.
struct OrderedSlice {
  uint64_t session = 0;
  uint32_t uid = 0;
  uint32_t weight = 1;
  Priority priority = Priority::kNormal;
  uint32_t queue = 0;
  TileSet workers = {};  // of the queue: one with others is another one
  uint64_t value = 0;
  Slice slice = {};

  Duration cost() const { return slice.times.cost; }
};

class SliceOrder : public Scheduler {
 public:
  explicit SliceOrder(const SchedulerOptions& options = {}, LeaseGate* gate = nullptr)
      : Scheduler(options, gate) {}

  // Fills in what the slice is of.
  void Name(OrderedSlice* one) {
    SessionQueue& queue = QueueOf(*one);
    one->slice.queue = &queue;
    one->slice.route = queue.route;
    one->slice.operation = std::make_shared<Operation>();
    one->slice.operation->first_value = one->slice.operation->last_value = one->value;
  }
  // The queue's last slice.
  void Push(OrderedSlice one) {
    Name(&one);
    SessionQueue& queue = *one.slice.queue;
    queue.slices.Append(std::move(one.slice));
    NextSliceChanged(queue);
  }
  // The card takes the next slice. False: there is none.
  bool Pop(const BusyWorkers& busy, OrderedSlice* one) {
    SessionQueue* const queue = Next(busy);
    if (queue == nullptr) return false;
    Started(*queue);
    one->session = queue->share.session;
    one->queue = queue->id;
    one->slice = queue->slices.Submitted({0, ++tickets_});
    one->value = one->slice.value();
    NextSliceChanged(*queue);
    return true;
  }
  bool Pop(OrderedSlice* one) { return Pop(BusyWorkers(), one); }
  void Used(const OrderedSlice& one, Duration time) { Scheduler::Used(one.slice, time); }
  void Refund(const OrderedSlice& one) { Scheduler::Refund(one.slice); }

  SessionQueue& QueueOf(const OrderedSlice& one) {
    SessionShare& share = shares_[one.session];
    share = {nullptr, one.session, one.uid, one.weight, one.priority, 0};
    auto& queue = queues_[{one.session, one.queue, one.workers.to_string()}];
    if (queue == nullptr) {
      queue = std::make_unique<SessionQueue>(share, one.queue, nullptr, Route{0, one.workers});
    }
    return *queue;
  }

 private:
  std::map<uint64_t, SessionShare> shares_;
  std::map<std::tuple<uint64_t, uint32_t, std::string>, std::unique_ptr<SessionQueue>> queues_;
  uint64_t tickets_ = 0;
};

}  // namespace ttfd
