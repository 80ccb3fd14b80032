// Times of the operations of a recording, by stamps of the clock between them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "client/tensor/src/card_state.h"
#include "client/tensor/src/stream.h"
#include "ttfd/tensor/recording.h"
#include "ttfd/tensor/tensor.h"

namespace ttfd::tensor {

// A stamp is a launch on the first core that writes its clock into memory of the card. There are two before the first
// operation, from which follows what a stamp itself takes, and one after each operation.
class ClockStamps {
 public:
  // Puts the stamps between the operations of a recording. RESOURCE_EXHAUSTED: there is no memory for them.
  static Result<ClockStamps> AddTo(CardState* card, std::vector<RecordedOperation>* operations);

  // Clocks of the last replay, after all that has been enqueued.
  Result<std::vector<OperationClocks>> Read() const;

 private:
  ClockStamps(std::vector<OperationClocks> operations, Tensor stamps)
      : operations_(std::move(operations)), stamps_(std::move(stamps)) {}

  std::vector<OperationClocks> operations_;  // without clocks
  Tensor stamps_;
};

}  // namespace ttfd::tensor
