// The daemon's side of the transport of a session, for the fake daemon: sequences, acks, the window, and
// resending. Strict: what the API forbids ends the call. Pure functions over messages.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "google/rpc/status.pb.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::testing {

// Status codes of gRPC.
inline constexpr int kCancelled = 1;
inline constexpr int kInvalidArgument = 3;
inline constexpr int kNotFound = 5;
inline constexpr int kResourceExhausted = 8;
inline constexpr int kAborted = 10;
inline constexpr int kUnimplemented = 12;
inline constexpr int kInternal = 13;
inline constexpr int kUnavailable = 14;

// What the fake does wrong, each once. A sequence is one of a ClientMessage.
struct FakeFaults {
  bool refuse_hello = false;  // UNIMPLEMENTED
  uint32_t welcome_revision = 1;
  uint32_t wait_notices = 0;        // before Welcome
  bool withhold_welcome = false;    // nothing follows Hello but the wait notices
  uint64_t break_before = 0;        // the connection is lost instead of handling this sequence ...
  uint64_t break_after = 0;         // ... or after it was handled, before anything is answered
  uint64_t break_twice_before = 0;  // ... or instead of handling it, every time
  bool lose_sessions = false;       // a resume finds no session
  bool resend_everything = false;   // after a resume, also what the client has received
  bool withhold_acks = false;       // acks stay 0 until a resume
  uint64_t skip_sequence = 0;       // this ServerMessage is never sent
  uint64_t ack_too_high_at = 0;     // its reply acknowledges what was not sent
};

// Of Welcome.limits, and how the fake behaves.
struct FakeOptions {
  uint64_t window_bytes = 8 << 20;
  bool advertise_window = true;  // false: the window of the Welcome is all there ever is
  uint32_t command_bytes = 512;
  uint64_t unacknowledged_bytes = 4 << 20;
  uint32_t reconnect_timeout_ms = 300'000;
  uint32_t message_bytes = 4 << 20;
  uint32_t inline_bytes = 64 << 10;
  uint32_t chunk_bytes = 64 << 10;
  uint32_t commands_per_batch = 4096;
  uint64_t dram_bytes = 64 << 20;
  uint32_t devices = 1;
  FakeFaults faults = {};
};

// An error as the daemon makes it. `metadata`: pairs of key and value.
google::rpc::Status FakeError(int code, const std::string& reason, const std::string& message,
                              const std::vector<std::pair<std::string, std::string>>& metadata = {},
                              bool retryable = false);

class FakeLink {
 public:
  explicit FakeLink(const FakeOptions& options) : options_(options) {}

  // Checks sequence, ack and window. `fresh`: the contents count. A status: the call ends with it.
  std::optional<google::rpc::Status> Receive(const v1::ClientMessage& message, bool* fresh);
  // A message with contents is to be sent.
  void Queue(v1::ServerMessage message) { unsent_.push_back(std::move(message)); }
  // Messages that may be written now, numbered; at least one, if only an ack.
  std::vector<v1::ServerMessage> Take();
  // After a lost connection; the client has received everything up to `received`.
  void Resume(uint64_t received);

  uint64_t accepted() const { return accepted_; }
  uint64_t cost() const { return cost_; }  // of all messages accepted
  uint64_t window() const {
    return options_.window_bytes + (options_.advertise_window ? cost_ : 0);
  }
  // Everything was written and acknowledged.
  bool all_acknowledged() const { return unsent_.empty() && kept_.empty(); }
  bool all_written() const { return unsent_.empty(); }

 private:
  struct Kept {
    v1::ServerMessage message;
    bool written;  // on this connection
  };

  const FakeOptions options_;
  uint64_t accepted_ = 0;
  uint64_t cost_ = 0;
  uint64_t sent_ = 0;
  bool resumed_ = false;
  std::deque<Kept> kept_;
  std::deque<v1::ServerMessage> unsent_;
  uint64_t kept_bytes_ = 0;
  bool ack_too_high_ = false;
};

}  // namespace ttfd::testing
