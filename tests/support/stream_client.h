// A client that speaks encoded messages with a SessionStream over a daemon's core, without a connection: numbers what
// it sends, keeps it until it is acknowledged, acknowledges what it receives, loses its connection when a test says
// so, and resumes. It checks that everything comes exactly once, and that it stays within the window.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/core/daemon.h"
#include "daemon/rpc/session_stream.h"

namespace ttfd {

class StreamClient final : public SessionOutput {
 public:
  static constexpr uint32_t kPid = 43;

  // What a client has seen of its commands; the same however often the connection was lost.
  struct Seen {
    std::map<uint32_t, uint64_t> progress;
    std::map<std::pair<uint32_t, uint64_t>, std::string> data;
    std::map<std::pair<uint32_t, uint64_t>, std::string> errors;  // "REASON 2:7", with the cause
    std::vector<std::string> prints;                              // "0:4 the text"
    bool operator==(const Seen&) const = default;
  };

  StreamClient(Daemon& core, Clock& clock, uint32_t reconnect_timeout_ms);
  ~StreamClient() override;

  void OutputReady() override { ++ready; }

  // Opens the session and takes the Welcome, or resumes it and sends again what may be lost.
  Status Open(uint32_t uid = 1000);
  // Before Open: resumes the session of another client, which may still be connected, with all that it has received.
  void Adopt(const StreamClient& other);
  // A new message, with its number and an ack. It is lost on its way if the connection is.
  Status Send(v1::ClientMessage message);
  // Bytes as they are, on the present connection.
  Status SendBytes(const std::string& bytes);
  // The same without having the core handle them. Any thread, one at a time.
  Status PostBytes(const std::string& bytes);
  // An ack alone.
  Status Acknowledge();
  // Takes one message. With `lost` it does not arrive. False: there was none.
  bool Take(bool lost = false);
  // The connection is lost. With `refused`: it ends after a protocol error.
  void Lose(bool refused = false);

  // Lets the core handle what follows from it.
  SessionPort::Ending CheckEnd(Status* status);
  bool connected() const { return stream_ != nullptr; }
  SessionStream& stream() { return *stream_; }
  const v1::Welcome& welcome() const { return welcome_; }
  const Seen& seen() const { return seen_; }
  // Sent and not acknowledged by the daemon.
  size_t unacknowledged() const { return link_.sent.size(); }
  uint64_t received() const { return link_.received; }
  uint64_t charged() const { return link_.charged; }
  uint64_t window_bytes() const { return link_.window_bytes; }
  // Of a message that a test sends as bytes.
  uint64_t NextSequence() { return ++link_.last_sent; }
  // Its next acks are these, not what it has received.
  void ClaimAck(uint64_t ack) { claimed_ack_ = ack; }

  bool acks_with_messages = true;
  std::vector<v1::ServerMessage> messages;  // numbered ones, as they arrived
  std::vector<v1::ServerMessage> others;    // without a number
  int ready = 0;

 private:
  // The client's end of the transport, which another connection takes over.
  struct Link {
    std::deque<v1::ClientMessage> sent;  // not acknowledged
    uint64_t last_sent = 0;              // sequences
    uint64_t received = 0;
    uint64_t charged = 0;
    uint64_t window_bytes = 0;
  };
  uint64_t ack() const { return claimed_ack_ != 0 ? claimed_ack_ : link_.received; }
  void Keep(const v1::ServerMessage& message);

  Daemon& core_;
  Clock& clock_;
  v1::Hello hello_;
  SessionStreamEnvironment environment_;
  std::unique_ptr<SessionStream> stream_;
  v1::Welcome welcome_;
  Link link_;
  uint64_t claimed_ack_ = 0;
  Seen seen_;
};

// The window cost of a message (ttfd.proto), counted by walking it.
uint64_t CostOf(const v1::ClientMessage& message);

}  // namespace ttfd
