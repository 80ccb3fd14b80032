// What a session's commands become: queues of tasks, decoded in the order of arrival, issued when
// they may begin, ended in the order of their values, with the first error failing its queue.
//
// No lock and no thread of its own: the session's lock guards it. Works for the device thread
// gather in works(), answers for the client in the output buffer; the session passes both on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/session/command_queue.h"
#include "daemon/session/decoder.h"
#include "daemon/session/environment.h"
#include "daemon/session/handle_table.h"
#include "daemon/session/issuer.h"
#include "daemon/session/outbox.h"
#include "daemon/session/window_account.h"

namespace ttfd {

// A decoded LoadKernel with all its bytes: to be loaded outside the session's lock, then passed to KernelLoaded.
struct KernelToLoad {
  QueuePosition position;
  std::string name;
  std::string bytes;
};
// What came of it.
struct LoadedKernel {
  std::string sha256;
  StatusOr<std::shared_ptr<const KernelImage>> image;
};

class Executor {
 public:
  // Both outlive the executor. `workers`: of queues that name none; none: all.
  Executor(SessionEnvironment& environment, Outbox& outbox, const Issuer::Flow& flow,
           const TileSet& workers, std::shared_ptr<UserUse> user);

  // ---- input. A failed status is a protocol error; nothing is accepted after it.

  // Queues, commands and data are accepted between its BeginMessage and EndMessage.
  WindowAccount& window_account() { return window_; }
  const ReceiveWindow& window() const { return window_.window(); }
  // A queue that cannot be opened has failed for good, until it is opened again.
  Status OpenQueue(const OpenQueueRequest& request);
  // Kernels whose bytes are complete are added to `kernels`; their commands wait for KernelLoaded.
  Status Append(BatchRequest& batch, TimePoint now, std::vector<KernelToLoad>* kernels);
  Status Supply(DataChunk& chunk, std::vector<KernelToLoad>* kernels);
  // Its command is there and has not failed: loading is worth the while.
  bool AwaitsKernel(QueuePosition position) const;
  // The image is charged to kernel_bytes from here on; beyond the limit it is dropped and the command refused.
  void KernelLoaded(const KernelToLoad& kernel, LoadedKernel loaded);
  // Ends what has this value or a later one and has not started.
  Status Cancel(const QueuePosition& from);
  void RefuseNewCommands(const ErrorReply& error) { refuse_new_ = error; }
  void AcceptNewCommands() { refuse_new_ = suspended_; }
  // What has not started ends with `error`, on every queue, and so does what comes, and a launch that was on the card
  // when it was reset and had not begun.
  void Suspend(const ErrorReply& error);
  void Unsuspend();
  // Commands whose data has not come end with an error.
  void FinishInput();
  // Drops what has not started, without a word to the client.
  void DropAll();
  // REQUIRES: nothing outstanding. Gives everything back.
  void Release();

  // ---- the device thread's answers

  bool Start(Task& task, const Work& work, TimePoint now);
  void Done(Task& task, Work& work);
  void Failed(Task& task, const Work& work, const WorkError& error);
  void Printed(const Task& task, KernelPrint print);

  // Goes on as far as possible. Call after any of the above.
  void Pump();
  void CheckDeadlines(TimePoint now);

  // ---- what stands where

  std::vector<Work>& works() { return works_; }
  TimePoint next_deadline() const { return next_deadline_; }
  bool finished() const;  // no command has not ended
  bool outstanding() const { return outstanding_ > 0; }
  uint64_t commands_ended() const { return commands_ended_; }
  bool read_blocked() const { return issuer_.read_blocked(); }
  // A streamed command has begun and waits for the client.
  bool waits_for_data() const;
  // Zero: the daemon's.
  void set_operation_timeout(Duration timeout) { issuer_.set_operation_timeout(timeout); }
  void set_kernel_timeout(Duration timeout) { issuer_.set_kernel_timeout(timeout); }
  void set_start_timeout(Duration timeout) { start_timeout_ = timeout; }
  const HandleTable& handles() const { return handles_; }
  const SessionUse& use() const { return use_; }
  const std::map<uint32_t, CommandQueue>& queues() const { return queues_; }

 private:
  struct Grave {
    std::vector<std::shared_ptr<Object>> objects;
    std::vector<QueuePosition> until;
  };

  // Arrival.
  struct Arrival {
    TimePoint at;
    TimePoint start_by;
  };
  Status CheckQueue(uint32_t queue) const;
  // The client has not sent all of its payload.
  static bool LacksData(const Task& task);
  // Why a command that its client made wait for this value does not run; none: the value ended well, or has not ended.
  Refusal CheckWait(const QueuePosition& wait) const;
  Refusal CheckBatch(const BatchRequest& batch, std::vector<QueuePosition>* waits) const;
  // One command, with what the window was charged for it.
  struct Arriving {
    Request& request;
    uint64_t value = 0;
    uint64_t cost = 0;
  };
  void AppendOne(CommandQueue& queue, const Arriving& one, const Arrival& arrival,
                 std::vector<QueuePosition>& waits, std::vector<KernelToLoad>* kernels);
  void AppendToFailed(CommandQueue& queue, const Arriving& one, QueuePosition cause);
  bool AppendBarrier(CommandQueue& queue, const Arriving& one, TimePoint start_by, bool waits);
  void AppendRefused(CommandQueue& queue, std::unique_ptr<Task> task, const Arriving& one,
                     ErrorReply error);
  Refusal OpenNow(const OpenQueueRequest& request);
  // Appends the chunk's payload to what its command has.
  Status TakeChunk(CommandQueue& queue, Task& task, DataChunk& chunk,
                   std::vector<KernelToLoad>* kernels);
  void Unexecuted(CommandQueue& queue, const Arriving& one, QueuePosition cause);
  void ClearError(CommandQueue& queue, uint64_t value);
  void ReclaimFailedHandles(CommandQueue& queue);
  void NoteFree(const CommandQueue& own, FreeTask* free);
  Duration StartWithin(const BatchRequest& batch) const;
  // Charges so much more to kernel_bytes, for as long as the command has it.
  Refusal ChargeKernel(LoadKernelTask* load, uint64_t bytes);

  // Progress.
  bool PumpQueue(CommandQueue& queue);
  bool IssueReady(CommandQueue& queue);
  Issuer::Step Ready(const Task& task, ErrorReply* error) const;
  void KeepWaits(CommandQueue& queue, Task& task);
  bool DoomWaiters(CommandQueue& queue);
  bool WaitsOver(Task& task) const;
  bool RetireHead(CommandQueue& queue);
  void Complete(CommandQueue& queue, std::unique_ptr<Task> task);
  // Everything up to this value has ended.
  void End(CommandQueue& queue, uint64_t value, uint64_t cost);
  void FailQueue(CommandQueue& queue);
  void Undo(Task& task, QueuePosition cause);
  void Unmake(CommandQueue& queue, uint64_t handle, Object* object, QueuePosition cause);
  void Discard(std::unique_ptr<Task> task);
  void Destroy(Task& task);
  void WorkEnded(Task& task, const Work& work);
  bool OpenGraves();
  ErrorReply StartDeadlineError(const CommandQueue& queue) const;
  void SetFreesPending();
  void CountQueues();

  SessionEnvironment& environment_;
  Outbox& outbox_;
  const uint64_t lease_;
  SessionUse use_;  // before whatever is counted there
  WindowAccount window_;
  HandleTable handles_;
  Decoder decoder_;
  Issuer issuer_;

  std::map<uint32_t, CommandQueue> queues_;
  std::vector<std::unique_ptr<Task>> dropped_;  // works outstanding keep them
  // By arrival of their Frees. A later one waits for at least as much of every queue, so the first
  // that must wait ends the look.
  std::map<uint64_t, Grave> graves_;
  size_t dying_ = 0;  // objects in them
  std::vector<Work> works_;
  Refusal refuse_new_;
  Refusal suspended_;
  Duration start_timeout_{};
  TimePoint next_deadline_ = TimePoint::max();

  uint64_t commands_ended_ = 0;
  uint64_t outstanding_ = 0;  // works
  uint32_t frees_unfinished_ = 0;
  uint64_t frees_received_ = 0;
};

}  // namespace ttfd
