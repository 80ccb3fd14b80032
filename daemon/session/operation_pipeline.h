// Operations of a session from their arrival to their end: decoded in the order of arrival (MessageDecoder), begun when
// the objects that they name exist (Preparer), cut into slices (SliceMaker), ended in the order of their values. The
// first error fails its queue.
//
// Device thread. The scheduler finds slices for the card in the queues; answers for the client go to the outbox.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/session/deferred_frees.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/message_decoder.h"
#include "daemon/session/outbox.h"
#include "daemon/session/preparer.h"
#include "daemon/session/rollback.h"
#include "daemon/session/session_queue.h"
#include "daemon/session/session_queues.h"
#include "daemon/session/slice_maker.h"
#include "daemon/session/timeouts.h"
#include "daemon/session/window_account.h"

namespace ttfd {

class OperationPipeline {
 public:
  // Text that says which lease keeps the session from these workers: empty, or begins with "; ".
  using LeaseText = std::function<std::string(uint32_t device, const TileSet& workers)>;

  // All references outlive the pipeline.
  OperationPipeline(const SessionLimits& limits, const SessionCards& cards, Outbox& outbox,
                    ReceiveWindow& window, const Timeouts& timeouts, const SessionShare& share,
                    std::shared_ptr<UserUse> user, LeaseText lease_text);

  // Decodes input.
  MessageDecoder& decoder() { return decoder_; }
  const MessageDecoder& decoder() const { return decoder_; }

  // Ends with `error`, on every queue: operations that have not started or come later, and a launch that was on the
  // card when it was reset and had not begun; but for operations that pass in a quarantine.
  void BeginQuarantine(const ErrorReply& error);
  void EndQuarantine();
  const Refusal& quarantine() const { return quarantined_; }
  // Drops what has not started, without a word to the client.
  void DropAll();
  // REQUIRES: nothing outstanding. Gives everything back.
  void Release();

  // ---- slices

  // The next slice of the queue may go to the card. False: its start deadline has passed, and its command fails.
  bool MayStart(SessionQueue& queue, TimePoint now);
  // The card has taken the next slice of the queue, or refuses it for good.
  Slice Submitted(SessionQueue& queue, const Ticket& ticket);
  void Refused(SessionQueue& queue, const SliceError& error);
  // A submitted slice has ended, or a reset removed it from the card.
  void Done(Slice& slice);
  void Failed(const Slice& slice, const SliceError& error);
  void Requeue(const Ticket& ticket, Slice slice);
  void Printed(const Operation& operation, KernelPrint print);
  // The operation's host work has ended.
  void HostWorkEnded(Operation& operation);

  // Advances as far as possible. Call after any of the above.
  void Advance();
  void CheckDeadlines(TimePoint now);

  // ---- what stands where

  std::vector<HostJob>& host_jobs() { return preparer_.host_jobs(); }
  // Slices on the card, and host jobs, that have not ended.
  bool outstanding() const { return on_card_ > 0 || preparer_.jobs_under_way() > 0; }
  // The same, or slices wait for the card.
  bool busy() const { return outstanding() || queues_.have_slices(); }
  const HandleTable& handles() const { return handles_; }
  const SessionUse& use() const { return use_; }        // any thread
  const SessionCards& cards() const { return cards_; }  // constant
  SessionQueues& queues() { return queues_; }
  const SessionQueues& queues() const { return queues_; }
  // It has a queue on the device, or none anywhere and would open the first there.
  bool Uses(uint32_t device) const {
    return queues_.all().empty() ? device == cards_.device : queues_.Use(*cards_.all[device]);
  }

 private:
  // The operation and what is behind it do not run.
  void Quarantine(SessionQueue& queue, Operation* op);
  bool AdvanceQueue(SessionQueue& queue);
  bool BeginReady(SessionQueue& queue);
  bool RetireHead(SessionQueue& queue);
  void Complete(SessionQueue& queue, Operation& op);
  void FailQueue(SessionQueue& queue);
  void Discard(Operation& op);
  void LeftCard(Operation& op);
  void SliceEnded(const Slice& slice);
  void ReleaseDropped(Operation& op);
  ErrorReply StartDeadlineError(const SessionQueue& queue) const;
  static ErrorReply ReplyOf(const SliceError& error);

  const SessionLimits& limits_;
  const SessionCards cards_;
  Outbox& outbox_;
  SessionUse use_;  // before whatever is counted there
  WindowAccount window_;
  HandleTable handles_;
  DeferredFrees frees_;
  Rollback rollback_;
  SessionQueues queues_;
  Preparer preparer_;
  SliceMaker slices_;
  MessageDecoder decoder_;
  Refusal quarantined_;
  const LeaseText lease_text_;
  uint64_t on_card_ = 0;  // slices
};

}  // namespace ttfd
