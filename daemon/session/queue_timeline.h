// Commands of one queue that have not ended, in the order of their values.
//
// The first ones have begun: the objects that they name exist. Of these, the first ones have passed: the card has all
// of their slices. The first ends first:
//
//   ended             passed            begun              sent
//      |  o o o o o o   |  o o o o o o o  |  o o o o o o o  |
//         on the card      may be given      waiting
//                          to the card
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "daemon/session/operation.h"

namespace ttfd {

// Device thread.
class QueueTimeline {
 public:
  using Operations = std::deque<std::shared_ptr<Operation>>;

  const Operations& all() const { return operations_; }
  bool empty() const { return operations_.empty(); }
  size_t size() const { return operations_.size(); }
  const std::shared_ptr<Operation>& front() const { return operations_.front(); }
  const std::shared_ptr<Operation>& back() const { return operations_.back(); }
  const std::shared_ptr<Operation>& at(size_t index) const { return operations_[index]; }
  // The first so many of them have.
  size_t begun() const { return begun_; }
  size_t passed() const { return passed_; }
  // So many have begun, and wait for values of other queues.
  size_t waiting() const { return waiting_; }

  void Append(std::shared_ptr<Operation> op) { operations_.push_back(std::move(op)); }
  // The first that has not begun has now. `waits`: for values of other queues.
  void BeginNext(bool waits);
  void PassNext() { ++passed_; }
  // The first has ended. REQUIRES that it has passed.
  std::shared_ptr<Operation> EndFirst();
  // Nothing of the queue runs any more: takes all of them.
  Operations TakeAll();
  // A slice of the command with this value is to be given to the card again.
  void Return(uint64_t value);
  // Cuts a run of barriers in two, the second of which begins with `value`. REQUIRES that it starts before, and has it.
  void Split(size_t index, uint64_t value);

  // Index of the first that ends with this value or later: size() if there is none.
  size_t IndexOf(uint64_t value) const;
  // The operation that stands for this value; null if it has ended or will not run.
  Operation* Find(uint64_t value) const;
  // Everything that has not ended, up to this value, has begun, or has passed.
  bool Begun(uint64_t value) const { return Covers(begun_, value); }
  bool Passed(uint64_t value) const { return Covers(passed_, value); }

 private:
  bool Covers(size_t count, uint64_t value) const {
    return count > 0 && operations_[count - 1]->last_value >= value;
  }

  Operations operations_;
  size_t begun_ = 0;
  size_t passed_ = 0;
  size_t waiting_ = 0;
};

}  // namespace ttfd
