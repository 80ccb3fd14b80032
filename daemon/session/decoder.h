// Decodes the requests of a session: commands into operations, queues that are to be opened into routes.
#pragma once

#include <cstdint>

#include "daemon/session/decode_commands.h"

namespace ttfd {

// Device thread.
class Decoder {
 public:
  // All outlive the decoder.
  Decoder(const SessionLimits& limits, const SessionCards& cards, HandleTable& handles,
          const DeferredFrees& frees)
      : limits_(limits), cards_(cards), handles_(handles), frees_(frees) {}

  // Fills in op->body and waits; takes what it can of the request. Handles that the command creates or frees are so
  // when it returns. With progress->partly the budget is spent: to be called again with the same.
  Refusal Decode(Request& request, Operation* op, DecodeProgress* progress, InputBudget* budget);
  // The card, the hardware queue and the workers of a queue that is to be opened.
  Refusal DecodeQueue(const OpenQueueRequest& request, CardResources** card, Route* route) const;

  // Handles a refused or unexecuted request would have created, which name nothing from then on; 0: none.
  static uint64_t CreatedHandle(const Request& request);

 private:
  const SessionLimits& limits_;
  const SessionCards& cards_;
  HandleTable& handles_;
  const DeferredFrees& frees_;
};

}  // namespace ttfd
