// Connection: one session over streams that come and go. Sends Hello, numbers messages and keeps them
// (Link), and resumes the session on a new stream when one was lost (ReconnectState).
//
// Owned by SessionCore, whose mutex guards it; only the thread with the driver role calls Handle and
// Reconnect, and waits in stream()->Next without the mutex. Time is an argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "client/cpp/src/link.h"
#include "client/cpp/src/reconnect_state.h"
#include "client/cpp/src/stream.h"
#include "ttfd/session.h"
#include "ttfd/status.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::client {

// How far a session is in ending.
struct ShutdownState {
  bool finishing = false;     // Finish is, or will be, the last message with content
  bool leaving = false;       // Leave is to be sent; what has not been sent is dropped
  bool leave_sent = false;    // its number is taken; after a loss it is resent
  bool last_attempt = false;  // a stream was made only to leave
};

class Connection {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  enum class State : uint8_t {
    kConnecting,  // the stream is being made
    kGreeting,    // Hello is sent, its Welcome has not arrived
    kOpen,
    kDown,   // the stream has ended; Reconnect makes another
    kEnded,  // end() is set; nothing follows
  };
  // Meaning of stream()->received() to the session.
  enum class Event : uint8_t {
    kNone,     // nothing was received, or it is of no interest
    kWaiting,  // the lease has not been granted yet
    kWelcome,  // of the new session
    kResumed,  // a later Welcome
    kMessage,  // the next message
    kAck,      // nothing but an ack and a window, or contents that are known already
  };

  // `options` outlives this; its address is resolved. `hello`: of a new session.
  Connection(const ConnectOptions& options, v1::Hello hello);

  void Start();  // makes the first stream; once
  Stream* stream() const { return stream_.get(); }
  // An ended session: closes its connection when it is destroyed.
  std::unique_ptr<Stream> TakeStream() { return std::move(stream_); }
  // The stream has reported `event`.
  Event Handle(Stream::Event event, Instant now);
  // After an Event of a received message has been handled.
  void ReadNext();
  // In kDown: makes another stream if it is time. False: there is no stream to wait for.
  bool Reconnect(Instant now);
  // When Handle(kTimeout), SendAckIfDue or Reconnect is to be called at the latest.
  Instant wake_at() const;

  // ---- Writing: one message at a time, in the order of these functions.
  bool CanWrite() const { return state_ == State::kOpen && !writing_; }
  bool WriteResend();  // true: a kept message is being written again
  // Numbers of the next message; it is written by Send.
  void Stamp(v1::ClientMessage* message) const { link_.Stamp(message); }
  // A new message may be written. Leave is the last one.
  bool CanSend() const {
    return CanWrite() && !link_.resending() && link_.CanKeep() && !shutdown_.leaving;
  }
  void Send(const v1::ClientMessage& message) { Write(link_.Commit(message)); }
  void SendAckIfDue(Instant now);

  // ---- Ending.
  void Finish() { shutdown_.finishing = true; }
  // Writes Leave as soon as that is possible, also with one attempt on a new stream.
  void Leave() { shutdown_.leaving = true; }
  bool SendLeave();  // once; REQUIRES: CanWrite(). True: Leave is being written
  void Cancel();     // ends the call at once
  void End(Status end);

  State state() const { return state_; }
  bool established() const { return established_; }  // the Welcome has arrived
  bool ended() const { return state_ == State::kEnded; }
  const Status& end() const { return end_; }
  const ShutdownState& shutdown() const { return shutdown_; }
  uint64_t reconnects() const { return reconnect_.count(); }

 private:
  void SendHello();
  void Write(const Stream::Encoded& message);
  Event Receive(Instant now);
  Event HandleWelcome(const v1::Welcome& welcome, Instant now);
  Event EndOnViolation(const std::string& what);
  void HandleStreamEnd(Instant now);
  void GiveUp();
  Status DescribeLoss(const Status& end) const;

  const ConnectOptions& options_;
  const v1::Hello hello_;

  std::unique_ptr<Stream> stream_;
  State state_ = State::kConnecting;
  bool writing_ =
      false;  // until the stream has taken the write; of a lost stream, until the next one
  bool established_ = false;
  uint64_t session_ = 0;
  std::string token_;  // of the last Welcome
  Link link_;
  ReconnectState reconnect_;
  ShutdownState shutdown_;
  Status end_;
};

}  // namespace ttfd::client
