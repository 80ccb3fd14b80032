// Decodes the requests of a session: commands into operations, queues that are to be opened into routes.
#pragma once

#include <cstdint>

#include "daemon/session/decode_commands.h"

namespace ttfd {

// Device thread.
class Decoder {
 public:
  // All outlive the decoder. `workers`: all that the session may launch on; none: all there are.
  Decoder(const SessionLimits& limits, CardResources& card, HandleTable& handles,
          const DeferredFrees& frees, const TileSet& workers)
      : limits_(limits), card_(card), handles_(handles), frees_(frees), workers_(workers) {}

  // Fills in op->body and waits; takes what it can of the request. Handles that the command creates or frees are so
  // when it returns. With progress->partly the budget is spent: to be called again with the same.
  Refusal Decode(Request& request, Operation* op, DecodeProgress* progress, InputBudget* budget);
  // The hardware queue and the workers of a queue that is to be opened.
  Refusal DecodeQueue(const OpenQueueRequest& request, Route* route) const;

  // Handles a refused or unexecuted request would have created, which name nothing from then on; 0: none.
  static uint64_t CreatedHandle(const Request& request);

 private:
  const SessionLimits& limits_;
  CardResources& card_;
  HandleTable& handles_;
  const DeferredFrees& frees_;
  const TileSet workers_;
};

}  // namespace ttfd
