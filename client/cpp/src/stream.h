// The Session stream as one object: at most one read and one write in flight, completions taken one
// by one by whoever calls Next. The only file of the session path that includes gRPC.
//
// Threads: Next by one thread at a time; StartRead, StartWrite and StartWritesDone from any thread,
// also while another is inside Next, but not two of them at once. Cancel at any time.
#pragma once

#include <chrono>
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
    kWrote,     // the write (or half-close) was taken
    kNotTaken,  // it was not: the call is over, kEnded follows
    kEnded,     // status() says how; nothing follows
  };

  // Starts connecting; never fails here (kEnded says that nobody answered).
  Stream(const std::string& address, const TlsOptions& tls);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Event Next(std::chrono::steady_clock::time_point deadline);

  void StartRead();
  const v1::ServerMessage& received() const { return received_; }
  // A message as it travels; copies share its bytes.
  using Encoded = std::shared_ptr<const grpc::ByteBuffer>;
  static Encoded Encode(const v1::ClientMessage& message);
  void StartWrite(const Encoded& message);
  void StartWritesDone();
  void Cancel();

  const Status& status() const { return status_; }

 private:
  struct Call;  // the gRPC objects
  bool Decode();

  std::unique_ptr<Call> call_;
  v1::ServerMessage received_;
  Status status_;
};

}  // namespace ttfd::client
