// Messages of a session's client into operations of its queues: opens queues, decodes commands, supplies data, cancels.
//
// A message is decoded in turns, each within a budget, so that the input of one session does not delay others.
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/session/batch_decoder.h"
#include "daemon/session/decoder.h"
#include "daemon/session/input_budget.h"
#include "daemon/session/outbox.h"
#include "daemon/session/preparer.h"
#include "daemon/session/session_queues.h"
#include "daemon/session/window_account.h"

namespace ttfd {

// Device thread.
class MessageDecoder {
 public:
  explicit MessageDecoder(const DecoderParts& parts);

  // No message is begun and not done.
  bool done() const { return !message_.has_value(); }
  // REQUIRES done(). The window was charged for the message.
  void Begin(MessageRequest message);
  // How far the message is.
  enum class End {
    kMore,  // the budget is spent: to be called again
    kAll,
    kFinish,  // with the client's Finish
    kLeave,   // with its Leave
  };
  // REQUIRES !done(). A failed status is a protocol error: nothing may follow it.
  StatusOr<End> Continue(InputBudget* budget);
  // Drops the rest of the message.
  void Drop();

  // Commands that come are refused with this error; none: they are not.
  void RefuseNew(Refusal error) { batches_.RefuseNew(std::move(error)); }
  void SetQuarantine(Refusal error) { batches_.SetQuarantine(std::move(error)); }

  // The host work of a LoadKernel has ended. The image is charged to kernel_bytes from here on; beyond the limit it is
  // dropped and the command refused.
  void KernelLoaded(Operation& op, LoadKernelOperation& load);

 private:
  // A message of which not all is decoded.
  struct OpenMessage {
    MessageRequest message;
    size_t queues = 0, batches = 0, chunks = 0, cancels = 0;  // so many of each are
  };
  // A queue that cannot be opened has failed for good, until it is opened again.
  Status OpenQueue(const OpenQueueRequest& request);
  Refusal OpenNow(const OpenQueueRequest& request);
  void CountQueues();

  Status Supply(DataChunk& chunk);
  // Appends the chunk's payload to what its command has.
  Status TakeChunk(SessionQueue& queue, Operation& op, DataChunk& chunk);
  // Charges so much more to kernel_bytes, until the command ends.
  Refusal ChargeKernel(LoadKernelOperation* load, uint64_t bytes);

  // Ends what has this value or a later one and has not started.
  Status Cancel(const QueuePosition& from);
  // Commands whose data has not come end with an error.
  void FinishInput();

  const SessionLimits& limits_;
  const SessionCards& cards_;
  Outbox& outbox_;
  SessionUse& use_;
  WindowAccount& window_;
  SessionQueues& queues_;
  Preparer& preparer_;
  Decoder decoder_;
  BatchDecoder batches_;
  std::optional<OpenMessage> message_;
};

}  // namespace ttfd
