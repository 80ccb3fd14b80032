// Commands of a batch into operations of its queue, as many in one turn as a budget allows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/session/decoder.h"
#include "daemon/session/deferred_frees.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/input_budget.h"
#include "daemon/session/outbox.h"
#include "daemon/session/preparer.h"
#include "daemon/session/session_queues.h"
#include "daemon/session/timeouts.h"
#include "daemon/session/window_account.h"

namespace ttfd {

// Parts of a session that its decoders work on, and that outlive them.
struct DecoderParts {
  const SessionLimits& limits;
  const SessionCards& cards;
  Outbox& outbox;
  const Timeouts& timeouts;
  SessionUse& use;
  WindowAccount& window;
  HandleTable& handles;
  SessionQueues& queues;
  DeferredFrees& frees;
  Preparer& preparer;
};

// The client sent something for a queue that it did not open: a protocol error.
Status UnknownQueue(uint32_t queue);

// Device thread.
class BatchDecoder {
 public:
  // `decoder` outlives this.
  BatchDecoder(const DecoderParts& parts, Decoder& decoder);

  // False: the budget is spent and a part of the batch is left, to be called again with the same. A failed status is a
  // protocol error.
  StatusOr<bool> Append(BatchRequest& batch, TimePoint arrived, InputBudget* budget);
  // Drops the rest of the batch.
  void Drop() { batch_.reset(); }

  // Commands that come are refused with this error; none: they are not.
  void RefuseNew(Refusal error) { refuse_new_ = std::move(error); }
  // The same of all that does not pass in a quarantine.
  void SetQuarantine(Refusal error) { quarantined_ = std::move(error); }
  // The handles that name nothing because of the queue's error are free again.
  void ReclaimFailedHandles(SessionQueue& queue);

 private:
  struct Arrival {
    TimePoint at;
    TimePoint start_by;
  };
  // One command, with what the window was charged for it.
  struct Arriving {
    Request& request;
    uint64_t value = 0;
    uint64_t cost = 0;
  };
  // A batch of which not all commands are decoded.
  struct OpenBatch {
    Refusal refusal;                   // of all its commands
    std::vector<QueuePosition> waits;  // of its first command
    Arrival arrival;
    size_t next = 0;                // command
    std::shared_ptr<Operation> op;  // of that, if a part of it is decoded
    DecodeProgress progress;        // of that
  };

  Status BeginBatch(SessionQueue& queue, const BatchRequest& batch, TimePoint arrived);
  Refusal CheckBatch(const BatchRequest& batch, std::vector<QueuePosition>* waits) const;
  Duration StartWithin(const BatchRequest& batch) const;
  // False: a part of the command is left.
  bool AppendOne(SessionQueue& queue, const Arriving& one, InputBudget* budget);
  static std::shared_ptr<Operation> MakeOperation(SessionQueue& queue, uint64_t value);
  void AppendUnexecuted(SessionQueue& queue, const Arriving& one);
  void AppendToFailed(SessionQueue& queue, const Arriving& one, QueuePosition cause);
  bool AppendBarrier(SessionQueue& queue, const Arriving& one, TimePoint start_by, bool waits);
  void AppendRefused(SessionQueue& queue, std::shared_ptr<Operation> op, const Arriving& one,
                     ErrorReply error);
  void Unexecuted(SessionQueue& queue, const Arriving& one, QueuePosition cause);
  void ClearError(SessionQueue& queue, uint64_t value);

  const DecoderParts parts_;
  Decoder& decoder_;
  std::optional<OpenBatch> batch_;
  Refusal refuse_new_, quarantined_;
};

}  // namespace ttfd
