// State of a session and what it waits for, as administrators see them.
#pragma once

#include <cstdint>

namespace ttfd {

enum class SessionState : uint8_t {
  kWaiting,  // for its lease
  kActive,
  kQuarantined,  // launches of its user hung too often
  kFinishing,    // the client has sent Finish
  kDetached,     // without a connection, kept for its client to resume
  kEnding,
};

// Reasons for which a session does not continue, or end.
enum class SessionWait : uint8_t {
  kNone,      // it has no commands, and its client has taken all output
  kCommands,  // on the card or before it
  kData,      // its client is to send data of a command
  kOutput,    // its client is to take output, or to acknowledge it
};

}  // namespace ttfd
