// The messages that the daemon may not have received: sent again after the transport broke. What it has had
// before, it skips.
//
// Not thread-safe: SessionCore's mutex guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "client/cpp/src/stream.h"
#include "ttfd/status.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::client {

class SentLog {
 public:
  using Ended = std::function<bool(Position)>;

  // `payload_bytes`: in this message. `payload_end`: sent with this connection, with this message.
  void Add(Stream::Encoded bytes, const v1::ClientMessage& message, uint64_t payload_bytes,
           uint64_t payload_end);
  // Drops what the daemon cannot need again: its commands have ended, and of its payload nothing is missing. The first
  // `payload_received` bytes of payload of this connection have arrived.
  void Forget(const Ended& ended, uint64_t payload_received);

  // All of it is to be sent once more, with another connection.
  void Rewind();
  // The next message to be sent once more; null: none is. Its payload is added to what this connection has sent.
  const Stream::Encoded* Next(uint64_t* payload_sent);
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Stream::Encoded bytes;
    std::vector<Position> commands;  // the last of each queue
    std::vector<Position> payload;   // whose it carries apart from them
    uint64_t payload_bytes;
    uint64_t payload_end;
  };

  // A queue that stands still must not keep the messages of others: beyond this many all are looked at.
  static constexpr size_t kFewEntries = 64;

  std::deque<Entry> entries_;
  size_t next_ = 0;
  size_t sweep_at_ = kFewEntries;
};

}  // namespace ttfd::client
