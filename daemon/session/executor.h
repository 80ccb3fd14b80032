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
#include "daemon/session/output_buffer.h"

namespace ttfd {

// A kernel's ELF, loaded outside the session's lock.
struct LoadedKernel {
  std::string sha256;
  StatusOr<std::shared_ptr<const KernelImage>> image;
};

class Executor {
 public:
  // Both outlive the executor. `workers`: of queues that name none; none: all.
  Executor(SessionEnvironment& environment, OutputBuffer& output, const Issuer::Flow& flow,
           const TileSet& workers, std::shared_ptr<UserUse> user);

  // ---- input. A failed status is a protocol error; nothing is accepted after it.

  // `loaded` has an entry for each LoadKernel of the batch that carries its bytes, in order.
  Status Append(BatchRequest& batch, std::vector<LoadedKernel>& loaded, TimePoint now);
  // Sets `kernel` when the chunk completes a kernel's ELF: load it and call KernelLoaded.
  struct StreamedKernel {
    bool complete = false;
    uint32_t queue = 0;
    uint64_t value = 0;
    std::string name;
    std::string bytes;
  };
  Status Supply(DataChunk& chunk, StreamedKernel* kernel);
  void KernelLoaded(const StreamedKernel& kernel, LoadedKernel loaded);
  Status Cancel(const CancelRequest& cancel);
  Status CheckReceived(const ReceivedRequest& received) const;
  // Another attachment begins: what is known already may come again. Returns what is known as a whole.
  std::vector<QueuePosition> Resume();
  void RefuseNewCommands(const ErrorReply& error) { refuse_new_ = error; }
  // What has not started ends with `error`, on every queue, and so does what comes, and a launch that was on the card
  // when it was reset and had not begun.
  void Suspend(const ErrorReply& error);
  void Unsuspend();
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
  // With the present attachment, as credit() counts.
  uint64_t payload_received() const { return payload_received_ - payload_before_; }
  // Its client waits until there is room for what it sends.
  bool wants_input() const;
  CreditReply credit() const;
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
  static bool LacksData(const Task& task);
  // Takes what is known since before the session was resumed off the front.
  void SkipKnown(const CommandQueue& queue, BatchRequest* batch, std::vector<LoadedKernel>* loaded);
  // Payload that nobody needs: its client has sent it all the same.
  void SkipPayload(uint64_t bytes);
  Refusal CheckBatch(const BatchRequest& batch, std::vector<QueuePosition>* waits) const;
  void AppendOne(CommandQueue& queue, Request& request, uint64_t value, const Arrival& arrival,
                 std::vector<QueuePosition>& waits, std::vector<LoadedKernel>& loaded,
                 size_t* next_loaded);
  bool AppendBarrier(CommandQueue& queue, uint64_t value, TimePoint start_by, bool waits);
  void AppendRefused(CommandQueue& queue, std::unique_ptr<Task> task, const Request& request,
                     ErrorReply error);
  Refusal Opened(CommandQueue& from, Task* task);
  void Unexecuted(CommandQueue& queue, const Request& request, uint64_t value, QueuePosition cause);
  void ClearError(CommandQueue& queue, uint64_t value);
  void Account(Task& task);

  // Progress.
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
  bool OpenGraves();
  ErrorReply StartDeadlineError(const CommandQueue& queue) const;
  void SetFreesPending();
  // executor_memory.cc
  static uint64_t BytesOf(const Task& task);
  // What is received and has not ended takes in host memory, beside payload.
  uint64_t command_bytes() const { return task_bytes_ + outstanding_ * sizeof(Work); }
  bool MemoryIsFull() const;
  Refusal CheckMemory() const;
  bool PayloadIsFull(uint64_t times) const;
  Refusal CheckPayload(const char* field) const;
  void CountInFlight();
  void TellFreed();
  void CountQueues();

  SessionEnvironment& environment_;
  OutputBuffer& output_;
  const uint64_t lease_;
  SessionUse use_;  // before whatever is counted there
  HandleTable handles_;
  Decoder decoder_;
  Issuer issuer_;

  std::map<uint32_t, CommandQueue> queues_;
  std::vector<std::unique_ptr<Task>> dropped_;  // unwanted; works outstanding keep them
  // By arrival of their Frees. A later one waits for at least as much of every queue, so the first
  // that must wait ends the look.
  std::map<uint64_t, Grave> graves_;
  size_t dying_ = 0;  // objects in them
  std::vector<Work> works_;
  Refusal refuse_new_;
  Refusal suspended_;
  Duration start_timeout_{};
  TimePoint next_deadline_ = TimePoint::max();

  uint64_t commands_received_ = 0;
  uint64_t commands_ended_ = 0;
  uint64_t payload_received_ = 0;
  uint64_t payload_used_ = 0;
  uint64_t payload_before_ = 0;  // received before the present attachment
  uint64_t task_bytes_ = 0;      // that tasks take in host memory, beside payload
  uint64_t peak_bytes_ = 0;      // with payload, since there was none
  uint64_t outstanding_ = 0;     // works
  uint32_t frees_unfinished_ = 0;
  uint64_t frees_received_ = 0;
};

}  // namespace ttfd
