// What a session keeps to go on after its transport broke, to say what is gone, and to say goodbye.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "client/cpp/src/sent_log.h"

namespace ttfd::client {

// What of a session's own a person is told of when the session is lost.
enum class Owned { kBuffer, kKernel, kProgram, kTrace };

struct Comeback {
  using Instant = std::chrono::steady_clock::time_point;

  bool reconnecting = false;  // until the daemon's next Welcome
  bool dead = false;          // the stream has ended
  Instant reconnect_until;
  Instant retry_at;
  std::chrono::milliseconds backoff{};
  uint64_t reconnects = 0;
  Instant resumed_at;
  uint64_t ended_at_loss = 0;  // commands
  std::string token;

  // What has been received, and what of it the daemon was not told.
  uint64_t prints = 0;  // with those told as lost
  uint64_t read_window = UINT64_MAX;
  uint64_t unreceipted_bytes = 0;
  uint64_t unreceipted_errors = 0;

  uint64_t window_bytes = UINT64_MAX;  // of payload that may be under way
  SentLog sent;
  std::map<uint64_t, Owned> owned;  // by handle
};

// How far a session is in ending, in the words of the present connection.
struct Goodbye {
  bool closing = false;  // what was sent is to be finished
  bool finish_sent = false;
  bool leaving = false;   // it is to be dropped
  bool left = false;      // the daemon was told
  bool last_try = false;  // a new connection was made to tell it
  bool half_closed = false;
};

}  // namespace ttfd::client
