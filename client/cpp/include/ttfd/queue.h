// A queue: an ordered stream of commands of a session. Queues of one session are independent of
// each other, except for After.
//
// Every command has a blocking form, which returns how it ended, and an Enqueue form, which returns
// its position on the queue's timeline at once. Enqueued commands travel in batches: they are sent
// when ConnectOptions::batch_commands have gathered, at Flush, and whenever a thread waits.
//
// The first error of an enqueued command fails its queue: later commands end ABORTED, unexecuted,
// with the first cause, until ClearError. A blocking form that fails has reported the error to its
// caller, so it leaves the queue open.
//
// Thread-safe. Commands of one queue execute in the order in which the calls took the session's lock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "ttfd/resources.h"
#include "ttfd/status.h"
#include "ttfd/trace.h"

namespace ttfd::client {

class Queue {
 public:
  Queue() = default;
  Queue(std::shared_ptr<SessionCore> core, uint32_t id) : core_(std::move(core)), id_(id) {}

  uint32_t id() const { return id_; }

  // ---- Blocking forms. They wait for at most ConnectOptions::call_timeout, then
  // DEADLINE_EXCEEDED (the command itself is not cancelled by that).

  // Offset and end must be multiples of DeviceInfo::transfer_alignment from the start of their page,
  // or the end of a page or of the buffer.
  Status Write(const Buffer& buffer, uint64_t offset, std::span<const std::byte> bytes);
  // Any byte range.
  Status Read(const Buffer& buffer, uint64_t offset, std::span<std::byte> into);
  Status Fill(const Buffer& buffer, uint64_t offset, uint64_t size_bytes, uint32_t word);
  Status Copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset,
              uint64_t size_bytes);
  // Returns when every tile has finished and its writes have landed.
  Status Launch(const LaunchRequest& launch);
  // Compiles launches into device memory, to be replayed any number of times. Nothing runs yet, but
  // commands enqueued here before complete first. Sent as several commands if need be, with no
  // command of another thread between them.
  Result<Trace> RecordTrace(std::span<const LaunchRequest> launches);
  Status Replay(const ReplayRequest& replay);
  Status ConnectLinks(std::span<const LinkConnection> connections);

  // ---- Enqueue forms. They fail when the session has ended, when the command exceeds a limit of one
  // message, or when the daemon's window has no space for ConnectOptions::call_timeout. Errors found by
  // the daemon come from Wait.

  // Returns when the bytes have been taken: `bytes` may be reused at once.
  Result<Position> EnqueueWrite(const Buffer& buffer, uint64_t offset,
                                std::span<const std::byte> bytes);
  // `into` is filled when Wait returns OK; it must stay valid until Wait returns anything but
  // DEADLINE_EXCEEDED, or the session is destroyed.
  Result<Position> EnqueueRead(const Buffer& buffer, uint64_t offset, std::span<std::byte> into);
  Result<Position> EnqueueFill(const Buffer& buffer, uint64_t offset, uint64_t size_bytes,
                               uint32_t word);
  Result<Position> EnqueueCopy(const Buffer& from, uint64_t from_offset, const Buffer& to,
                               uint64_t to_offset, uint64_t size_bytes);
  Result<Position> EnqueueLaunch(const LaunchRequest& launch);
  Result<Position> EnqueueReplay(const ReplayRequest& replay);
  // Connects workers of neighbouring devices, 1 to 16 connections, under a lease of all of these devices
  // (LeaseOptions::devices). Their kernels send segments to each other from then on. An end or a channel that
  // is connected already is disconnected first.
  //
  // Begins when what was enqueued before, and what it comes After(), has completed. FAILED_PRECONDITION:
  // kernels run on one of the devices then. UNAVAILABLE with reason LINK_DOWN: the link does not answer.
  Result<Position> EnqueueConnectLinks(std::span<const LinkConnection> connections);
  // Nothing but a position: completed when everything before it on this queue has completed.
  Result<Position> EnqueueBarrier();

  // The next command of this queue starts only when these positions (of any queues of the session)
  // have completed.
  Status After(std::span<const Position> positions);
  // The next command must start within this time of its arrival, at least 1 ms, or ends
  // DEADLINE_EXCEEDED. Without: the timeout of the session or the daemon.
  Status StartWithin(std::chrono::milliseconds within);

  // ---- The timeline.

  // Sends what has been enqueued. Waiting does this by itself.
  Status Flush();
  // OK when the command at `position` and all before it have completed; else the error that the
  // command ended with. DEADLINE_EXCEEDED with reason WAIT: not yet.
  Status Wait(Position position);
  Status Wait(Position position, std::chrono::milliseconds timeout);
  // Waits for everything enqueued so far.
  Status Finish();
  // Values of the last command enqueued, and of the last one that has ended.
  uint64_t submitted() const;
  uint64_t completed() const;

  // The queue's first error, or OK.
  Status error() const;
  // Opens a failed queue again. A queue that could not be opened stays failed.
  Status ClearError();
  // Commands from this value on that have been enqueued and have not started end CANCELLED; started
  // ones complete.
  Status Cancel(uint64_t from_value);

 private:
  std::shared_ptr<SessionCore> core_;
  uint32_t id_ = 0;
};

}  // namespace ttfd::client
