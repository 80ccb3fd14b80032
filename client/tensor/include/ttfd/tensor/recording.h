// Operations recorded once and replayed without the host: a trace on the card.
//
//   tt::Tensor logits;
//   tt::Result<tt::Recording> step = card->Record([&] { logits = Model(x); });
//   tt::Status status = step->Replay(16);
//   tt::Result<std::vector<float>> numbers = logits.ToHost();
//
// With RecordingOptions::clocks a recording also measures its operations:
//
//   tt::Result<tt::Recording> step = card->Record([&] { logits = Model(x); }, {.clocks = true});
//   status = step->Replay();
//   tt::Result<std::vector<tt::OperationClocks>> clocks = step->Clocks();
//
// A replay does what the operations did when they were recorded, with the tensors they were called with, and gives the
// tensors they made new content: bit by bit what the operations would give without the recording. Input tensors change
// between replays where an operation outside writes them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

class RecordingState;  // of the library

struct RecordingOptions {
  // The replays read the clock between operations, on one core: about a launch more for each operation.
  bool clocks = false;
};

// Time of an operation of a recording. An operation that is made of several has several entries: those of its own
// steps under its name, those of other operations that it calls under theirs.
struct OperationClocks {
  std::string operation;
  uint32_t launches = 0;
  // From the end of the operation before it to its own end, without what reading the clock takes: clocks of the first
  // core of the card. Launches of other sessions that come between count, too. On the device model one is an
  // instruction of a hart.
  uint64_t clocks = 0;
};

// A handle: copies are the same recording. It keeps the memory of all tensors it uses; they return to the card's pool
// with the last copy and the last tensor. Any thread may use it.
class Recording {
 public:
  explicit Recording(std::shared_ptr<RecordingState> state) : state_(std::move(state)) {}

  // Enqueues `times` replays, after all operations enqueued before. Errors of the card come from ToHost and
  // Card::Finish.
  Status Replay(uint32_t times = 1);

  // Launches of a replay, with those that read the clock.
  uint64_t launches() const;

  // Clocks of the operations in the last replay, in their order. Waits for all operations enqueued before, for at most
  // ConnectOptions::call_timeout. FAILED_PRECONDITION: recorded without RecordingOptions::clocks, or not replayed.
  Result<std::vector<OperationClocks>> Clocks() const;

 private:
  std::shared_ptr<RecordingState> state_;
};

}  // namespace ttfd::tensor
