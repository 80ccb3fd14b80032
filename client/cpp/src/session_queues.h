// SessionQueues: the commands of a session: a Timeline for each queue, the Handles of what commands
// create, and the Outbox of what is sent next. Commands go in as protobuf, results come from
// ServerMessages; it knows neither connections nor threads.
//
// Not thread-safe: SessionCore's mutex guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/cpp/src/handles.h"
#include "client/cpp/src/outbox.h"
#include "client/cpp/src/timeline.h"
#include "ttfd/session.h"
#include "ttfd/status.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::client {

class SessionQueues {
 public:
  // The library's own queue: it carries the creation and freeing of resources, so that their errors
  // affect no queue of the user.
  static constexpr uint32_t kControlQueue = 0;
  static constexpr uint32_t kFirstUserQueue = 1;

  // Changes by a message, for callbacks.
  struct Changes {
    std::vector<Position> progress;                        // of user queues
    std::vector<std::pair<uint64_t, uint64_t>> transfers;  // bytes done, bytes in all
  };

  // Opens the control queue and the first user queue.
  explicit SessionQueues(uint64_t handles_before);

  bool Has(uint32_t queue) const { return queue < timelines_.size(); }
  Timeline& timeline(uint32_t queue) { return timelines_[queue]; }
  const Timeline& timeline(uint32_t queue) const { return timelines_[queue]; }
  Outbox& outbox() { return outbox_; }
  Handles& handles() { return handles_; }

  // ---- Sending. REQUIRES space in the outbox.
  // A command of `size`, filled in by `fill(v1::Command*)`.
  template <typename Fill>
  Position Append(uint32_t queue, const MessageSize& size, Fill&& fill) {
    Timeline& timeline = timelines_[queue];
    const uint64_t value = timeline.NextValue();
    BatchHeader& header = timeline.next_header();
    fill(outbox_.AddCommand(queue, value, header, size));
    if (!header.plain()) {
      header = BatchHeader();
    }
    return {queue, value};
  }
  // Opens a queue; and a barrier on it that ends when the daemon has answered.
  Position OpenQueue(const QueueOptions& options);
  // The queue could not be opened, and its number is not in use: the next OpenQueue takes it. (The daemon
  // keeps a failed queue, so each number is one of few.)
  void ReuseNumber(uint32_t queue) { reusable_.push_back(queue); }
  static MessageSize OpenQueueSize(const QueueOptions& options);
  void Cancel(Position from) { outbox_.AddCancel(from, timelines_[from.queue].submitted()); }
  // As many Frees as the outbox has space for.
  void AppendFrees();
  // The rest of the payload of a streamed command, for which there was no space: a copy of it is sent by and by.
  void SupplyLater(Position command, uint64_t offset, std::span<const std::byte> payload);
  // As much of that as the outbox has space for.
  void AppendPayload();
  bool supplies() const { return !payloads_.empty(); }

  // ---- Receiving.
  void Apply(const v1::ServerMessage& message, Changes* changes);

  bool AllEnded() const { return Unanswered() == 0; }
  // "gone: 2 buffers, ..., 3 commands without an answer": what is lost with the session.
  std::string DescribeLoss() const;

 private:
  // Handles of one Free: a small command, whatever the number of resources.
  static constexpr size_t kFreesPerCommand = 256;

  struct Payload {
    Position command;
    uint64_t offset = 0;  // of the first byte
    std::vector<std::byte> bytes;
    size_t sent = 0;
  };

  uint64_t Unanswered() const;
  void AddProgress(const v1::QueuePosition& progress, Changes* changes);

  std::deque<Timeline> timelines_;
  std::vector<uint32_t> reusable_;  // numbers of queues that could not be opened
  Outbox outbox_;
  Handles handles_;
  std::deque<Payload> payloads_;
};

}  // namespace ttfd::client
