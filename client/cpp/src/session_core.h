// SessionCore: the calls of a session, shared by Session, Queue and the resources: enqueue a command,
// wait for its end. What they enqueue is in SessionQueues; the SessionLoop sends and receives it.
//
// Thread-safe; the loop's mutex guards everything.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "client/cpp/src/session_loop.h"
#include "ttfd/session.h"
#include "ttfd/status.h"

namespace ttfd::client {

class SessionCore {
 public:
  // `hello` is of a new session with `options`, whose address is resolved. Handles are greater than
  // `handles_before`.
  SessionCore(const ConnectOptions& options, v1::Hello hello, uint64_t handles_before)
      : options_(options), loop_(options_, std::move(hello), handles_before) {}

  // Waits for the daemon's Welcome. Once, before anything else.
  Status Connect();
  // Sends Finish and waits for the end of the call.
  Status Close();
  // Ends the session at once, and the background thread, on which this is not called. Calls of other threads
  // return CANCELLED. Any number of times.
  void Shutdown() { loop_.Shutdown(); }

  // ---- Constant after Connect.
  const ConnectOptions& options() const { return options_; }
  const WelcomeInfo& info() const { return loop_.info(); }
  const DeviceInfo& device() const { return *loop_.device(); }
  const MessageLimits& message_limits() const { return loop_.message_limits(); }
  size_t inline_bytes() const { return message_limits().inline_bytes; }

  // ---- Commands. `fill` is called once, under the lock, with the v1::Command to fill in; `size` is that
  // of the whole Command.
  template <typename Fill>
  Result<Position> Enqueue(uint32_t queue, const MessageSize& size, Fill&& fill) {
    MutexLock lock(&loop_.mu);
    if (Status status = WaitForSpace(queue, size); !status.ok()) {
      return status;
    }
    const Position position = loop_.queues().Append(queue, size, std::forward<Fill>(fill));
    SendFullBatch();
    return position;
  }
  // A command that creates something: on the control queue, waited for.
  template <typename Fill>
  Status Create(const MessageSize& size, Fill&& fill) {
    Result<Position> position =
        Enqueue(SessionQueues::kControlQueue, size, std::forward<Fill>(fill));
    return position.ok() ? WaitAndClear(*position) : position.status();
  }
  // Commands of one queue with no command of another thread between them. Returns the first's position.
  // If there is no space for all of them within call_timeout, `abandon` is enqueued in place of the rest.
  Result<Position> EnqueueSequence(uint32_t queue, std::span<const MessageSize> sizes,
                                   const std::function<void(size_t, v1::Command*)>& fill,
                                   const std::function<void(v1::Command*)>& abandon);
  // A Read whose bytes go to `into`.
  Result<Position> EnqueueRead(uint32_t queue, uint64_t buffer, uint64_t offset,
                               std::span<std::byte> into);
  // The payload of a streamed command, in chunks, as the window allows. What finds no space within call_timeout
  // is copied and sent later: the queue would wait for it.
  Status Supply(Position command, std::span<const std::byte> payload);
  Result<uint32_t> OpenQueue(const QueueOptions& options);
  Status Cancel(Position from);
  void FreeResource(uint64_t handle);

  // ---- Waiting. Outcome of the command, DEADLINE_EXCEEDED with reason WAIT, or the session's end.
  Status Wait(Position position, std::chrono::milliseconds timeout);
  // For blocking forms: waits for call_timeout, and opens the queue again if the command at `position`
  // is the one that failed it.
  Status WaitAndClear(Position position);
  Status Flush();
  Status Poll(std::chrono::milliseconds timeout);

  // ---- State. Calls `use` with the queue's Timeline, or the Handles, under the lock.
  template <typename Use>
  auto WithQueue(uint32_t queue, Use&& use) {
    MutexLock lock(&loop_.mu);
    return use(loop_.queues().timeline(queue));
  }
  template <typename Use>
  auto WithHandles(Use&& use) {
    MutexLock lock(&loop_.mu);
    return use(loop_.queues().handles());
  }
  // OK, or why the session ended.
  Status status() const;
  bool lost() const;
  uint64_t reconnects() const;
  void SetCallbacks(const Callbacks& callbacks);

 private:
  // Until a command of `size` may be added to `queue`: no sequence is being enqueued there, and the
  // message has space.
  Status WaitForSpace(uint32_t queue, const MessageSize& size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(loop_.mu);
  Status WaitForMessage(const MessageSize& size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(loop_.mu);
  void SendFullBatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(loop_.mu);
  Status NoSpace() ABSL_EXCLUSIVE_LOCKS_REQUIRED(loop_.mu);
  StreamDriver::Instant CallDeadline() const;

  const ConnectOptions options_;
  SessionLoop loop_;
  std::set<uint32_t> recording_ ABSL_GUARDED_BY(loop_.mu);  // queues with half a sequence enqueued
};

}  // namespace ttfd::client
