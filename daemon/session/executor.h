// Executes a session's commands: queues of tasks, decoded in the order of arrival (MessageDecoder), issued when they
// may begin, ended in the order of their values, with the first error failing its queue.
//
// Device thread. Works for the card gather in works(), which the session passes on; answers for the client go to the
// outbox.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/session/command_queue.h"
#include "daemon/session/deferred_frees.h"
#include "daemon/session/environment.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/issuer.h"
#include "daemon/session/message_decoder.h"
#include "daemon/session/outbox.h"
#include "daemon/session/session_queues.h"
#include "daemon/session/timeouts.h"
#include "daemon/session/window_account.h"

namespace ttfd {

class Executor {
 public:
  // All references outlive the executor. `workers`: of queues that name none; none: all.
  Executor(SessionEnvironment& environment, Outbox& outbox, ReceiveWindow& window,
           const Timeouts& timeouts, const Issuer::Flow& flow, const TileSet& workers,
           std::shared_ptr<UserUse> user);

  // Decodes input.
  MessageDecoder& decoder() { return decoder_; }
  const MessageDecoder& decoder() const { return decoder_; }

  // What has not started ends with `error`, on every queue, and so does what comes, and a launch that was on the card
  // when it was reset and had not begun.
  void Suspend(const ErrorReply& error);
  void Unsuspend();
  // Ends what decoder().RefuseNew began, but for a quarantine.
  void AcceptNew() { decoder_.RefuseNew(quarantined_); }
  // Drops what has not started, without a word to the client.
  void DropAll();
  // REQUIRES: nothing outstanding. Gives everything back.
  void Release();

  // ---- the device thread's answers

  bool Start(Task& task, const Work& work, TimePoint now);
  // Its host work has ended.
  void HostWorkEnded(Task& task);
  void Done(Task& task, Work& work);
  void Failed(Task& task, const Work& work, const WorkError& error);
  void Printed(const Task& task, KernelPrint print);

  // Goes on as far as possible. Call after any of the above.
  void Pump();
  void CheckDeadlines(TimePoint now);

  // ---- what stands where

  std::vector<Work>& works() { return issuer_.works(); }
  std::vector<HostJob>& host_jobs() { return issuer_.host_jobs(); }
  bool outstanding() const { return issuer_.outstanding(); }
  bool read_blocked() const { return issuer_.read_blocked(); }
  const HandleTable& handles() const { return handles_; }
  const SessionUse& use() const { return use_; }  // any thread
  const SessionQueues& queues() const { return queues_; }

 private:
  bool PumpQueue(CommandQueue& queue);
  bool IssueReady(CommandQueue& queue);
  Issuer::Step Ready(const Task& task, ErrorReply* error) const;
  void KeepWaits(CommandQueue& queue, Task& task);
  bool DoomWaiters(CommandQueue& queue);
  bool WaitsOver(Task& task) const;
  bool RetireHead(CommandQueue& queue);
  void Complete(CommandQueue& queue, std::unique_ptr<Task> task);
  void FailQueue(CommandQueue& queue);
  void Undo(Task& task, QueuePosition cause);
  void Unmake(CommandQueue& queue, uint64_t handle, Object* object, QueuePosition cause);
  void Discard(std::unique_ptr<Task> task);
  void Destroy(Task& task);
  void WorkEnded(Task& task, const Work& work);
  void DestroyIfDropped(Task& task);
  ErrorReply StartDeadlineError(const CommandQueue& queue) const;

  SessionEnvironment& environment_;
  Outbox& outbox_;
  SessionUse use_;  // before whatever is counted there
  WindowAccount window_;
  HandleTable handles_;
  DeferredFrees frees_;
  SessionQueues queues_;
  Issuer issuer_;
  MessageDecoder decoder_;
  std::vector<std::unique_ptr<Task>> dropped_;  // works outstanding keep them
  Refusal quarantined_;
};

}  // namespace ttfd
