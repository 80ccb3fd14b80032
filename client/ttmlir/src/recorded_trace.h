// A program of a TTNN file as a recording on a card.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "client/ttmlir/src/plan.h"
#include "client/ttmlir/src/session_key.h"
#include "ttfd/tensor/card.h"

namespace ttfd::ttmlir {

using TensorsById = std::map<uint64_t, tensor::Tensor>;

// A tensor with the same elements in memory of its own.
tensor::Tensor CopyOf(const tensor::Tensor& x);

// The recording of a trace on the card where it ran last, with its slots. Any thread.
class RecordedTrace {
 public:
  // Calls the program of the trace: reads its inputs of `tensors`, and adds its results.
  using Call = std::function<client::Status(TensorsById* tensors)>;

  // Writes the inputs of `tensors` that have a slot into it, replays the recording, and adds copies of the results,
  // which later runs do not change. Records first if there is no recording on this card with the same tensors as those
  // inputs that are read where they are; an input that is another tensor then gets a slot, too, unless the program
  // changes it. FAILED_PRECONDITION: it cannot be recorded, and nothing has been done:
  // another thread records on the card, or the program calls no operation or more than a trace may have.
  client::Status Run(tensor::Card& card, const TraceStep& step, const Call& call,
                     TensorsById* tensors);

 private:
  bool HasSlot(const TraceStep& step, uint64_t id) const;
  // Whether the recording can be replayed; notes inputs that have moved.
  bool Fits(tensor::Card& card, const TraceStep& step, const TensorsById& tensors);
  client::Status Record(tensor::Card& card, const TraceStep& step, const Call& call,
                        const TensorsById& tensors);

  std::mutex mutex_;               // of all below
  SessionKey too_large_for_ = {};  // the session in which it did not fit
  SessionKey session_ = {};
  std::optional<tensor::Recording> recording_;
  TensorsById slots_;  // of inputs and results
  std::set<uint64_t>
      moved_;  // inputs that have a slot because they were other tensors in other runs
  std::vector<std::pair<uint64_t, std::weak_ptr<tensor::Storage>>> read_;  // inputs without a slot
};

}  // namespace ttfd::ttmlir
