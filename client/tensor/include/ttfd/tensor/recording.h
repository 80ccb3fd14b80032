// Operations recorded once and replayed without the host: a trace on the card.
//
//   tt::Tensor logits;
//   tt::Result<tt::Recording> step = card->Record([&] { logits = Model(x); });
//   tt::Status status = step->Replay(16);
//   tt::Result<std::vector<float>> numbers = logits.ToHost();
//
// A replay does what the operations did when they were recorded, with the tensors they were called with, and gives the
// tensors they made new content: bit by bit what the operations would give without the recording. Input tensors change
// between replays where an operation outside writes them.
#pragma once

#include <cstdint>
#include <memory>

#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

class RecordingState;  // of the library

// A handle: copies are the same recording. It keeps the memory of all tensors it uses; they return to the card's pool
// with the last copy and the last tensor. Any thread may use it.
class Recording {
 public:
  explicit Recording(std::shared_ptr<RecordingState> state) : state_(std::move(state)) {}

  // Enqueues `times` replays, after all operations enqueued before. Errors of the card come from ToHost and
  // Card::Finish.
  Status Replay(uint32_t times = 1);

  uint64_t launches() const;

 private:
  std::shared_ptr<RecordingState> state_;
};

}  // namespace ttfd::tensor
