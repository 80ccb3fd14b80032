// One connection of a session as a stream of encoded messages: what is read becomes input of the session, what the
// session has for its client becomes messages to write (ttfd.proto, Session). Of gRPC only ByteBuffer, as a value.
//
// Two roles, each held by one thread at a time: the READING role calls Read, the WRITING role Next and CheckEnd.
#pragma once

#include <google/protobuf/arena.h>
#include <grpcpp/support/byte_buffer.h>

#include <array>
#include <atomic>
#include <memory>

#include "absl/functional/function_ref.h"
#include "daemon/api/session_port.h"
#include "daemon/rpc/message_scan.h"
#include "daemon/rpc/session_link.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd {

// Environment that all streams share. All of it outlives every stream.
struct SessionStreamEnvironment {
  DaemonService* service = nullptr;
  SessionLimits limits;
  Duration ack_delay = std::chrono::milliseconds(20);
};

class SessionStream {
 public:
  // `output` outlives the stream; it is notified when Next may return something.
  SessionStream(const SessionStreamEnvironment& environment, PeerIdentity peer,
                SessionOutput* output);

  // ---- Reading role.

  // The first message opens or resumes a session of the peer. A failed status is a protocol error: Abandon(false)
  // follows, if the stream is open. Takes the message's bytes.
  Status Read(grpc::ByteBuffer* message, TimePoint now);
  // The first message was read, and has opened or resumed a session.
  bool open() const { return session_ != nullptr; }
  // The client has sent Finish or Leave: the end of the stream is no loss.
  bool input_finished() const { return input_finished_; }

  // ---- Writing role, once the stream is open.

  // The next message to write. False: there is none now.
  bool Next(TimePoint now, grpc::ByteBuffer* message);
  // Next may have more to do after the message that it has returned, though `output` is not notified.
  bool more() const { return more_; }
  // Whether the connection is to end, and how: after Next returned false.
  SessionPort::Ending CheckEnd(TimePoint now, Status* status);
  // Since when there has been nothing more to write, but for what the client has not acknowledged. TimePoint::max(): it
  // is not so.
  TimePoint awaits_ack_since() const { return awaits_ack_ ? ack_wait_since_ : TimePoint::max(); }

  // ---- Any thread, once the stream is open.

  // The session waits for its lease: no message may be read before Next has returned its Welcome.
  bool waits_for_lease() const { return !welcomed_ && asked_for_lease_; }
  // When the client last acknowledged something new.
  TimePoint acknowledged_at() const { return acknowledged_at_; }
  // When Next must be called, though nothing else happens. TimePoint::max(): never.
  TimePoint ack_due() const { return link_->link.ack_due(); }
  uint64_t session_id() const { return session_->welcome().session; }
  // The session has ended, whatever is still to be written.
  bool SessionEnded(Status* status) {
    return session_->CheckEnd(false, status) == SessionPort::Ending::kEnded;
  }
  // Nothing more will be read or written. Not needed once CheckEnd returned kEnded.
  void Abandon(bool lost) { session_->Abandon(lost); }

 private:
  Status HandleHello(const v1::ClientMessage& message);
  Status AcceptParsed(v1::ClientMessage& message, const MessageScan& scan, TimePoint now);
  // A message with this ack. `accepted`: as of SessionPort::Accept.
  Status Accept(MessageRequest message, uint64_t ack, TimePoint now,
                absl::FunctionRef<void()> accepted);
  bool NextWelcome(grpc::ByteBuffer* message);
  bool NextOutput(TimePoint now, grpc::ByteBuffer* message);
  void AwaitAck(TimePoint now);

  const SessionStreamEnvironment& environment_;
  const PeerIdentity peer_;
  SessionOutput* const output_;

  // Set by the first Read, then constant.
  std::shared_ptr<SessionPort> session_;
  std::shared_ptr<SessionLink> link_;
  bool asked_for_lease_ = false;
  uint64_t received_ = 0;  // from the client, on connections before this one

  // Where the message being read lives: most need no other memory.
  struct Input {
    std::array<char, 16 * 1024> block;
    google::protobuf::Arena arena{block.data(), block.size()};
  };

  // Reading role.
  std::unique_ptr<Input> input_;  // null before the first message: a call without one costs little
  bool input_finished_ = false;

  // Writing role.
  bool more_ = true;
  TimePoint ack_wait_since_{};
  uint64_t ack_waited_from_ = 0;  // the last sequence acknowledged then

  std::atomic<TimePoint> acknowledged_at_{TimePoint()};
  std::atomic<bool> welcomed_{false};  // Next has returned Welcome
  std::atomic<bool> awaits_ack_{
      false};  // set by the writing role: the reading role notifies `output_` of an ack
};

}  // namespace ttfd
