// One connection's Session stream: at most one read and one write in flight; Next takes their
// completions one by one. The only file of the session path that includes gRPC.
//
// Threads: Next and ReadNext by one thread at a time; StartWrite from any thread, also while another is inside Next,
// but not two of them at once. Cancel at any time.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "ttfd/status.h"
#include "ttfd/types.h"
#include "ttfd/v1/ttfd.pb.h"

namespace grpc {
class ByteBuffer;
}  // namespace grpc

namespace ttfd::client {

class Stream {
 public:
  enum class Event {
    kTimeout,   // the deadline passed
    kStarted,   // the call exists: writing and reading may begin
    kRead,      // a message is in received()
    kWrote,     // gRPC has taken the write
    kNotTaken,  // it has not: the call is over, kEnded follows
    kEnded,     // status() is set; nothing follows
  };

  // Starts connecting; never fails here (kEnded reports that no daemon answers).
  Stream(const std::string& address, const TlsOptions& tls);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Event Next(std::chrono::steady_clock::time_point deadline);

  // Next waits for another message from its next call on. It starts the read only there, so that a write that comes
  // first is on its way before.
  void ReadNext() { read_due_ = true; }
  const v1::ServerMessage& received() const { return received_; }
  size_t received_bytes() const;  // encoded
  // An encoded message; copies share its bytes.
  struct Encoded {
    std::shared_ptr<const grpc::ByteBuffer> buffer;
    size_t bytes = 0;
  };
  static Encoded Encode(const v1::ClientMessage& message);
  void StartWrite(const Encoded& message);
  void Cancel();

  const Status& status() const { return status_; }

 private:
  struct Call;  // the gRPC objects
  bool Decode();

  std::unique_ptr<Call> call_;
  bool read_due_ = false;
  v1::ServerMessage received_;
  Status status_;
};

}  // namespace ttfd::client
