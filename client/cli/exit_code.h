// Meaning of ttfdctl's exit codes. Scripts depend on the numbers; docs/ttfdctl.md lists them.
#pragma once

#include <string>

#include "ttfd/status.h"

namespace ttfd::cli {

enum ExitCode : int {
  kOk = 0,
  kFailed = 1,       // it was tried and went wrong: a fault, a hang, a file that cannot be written
  kUsage = 2,        // the command line is wrong; nothing was tried
  kUnreachable = 3,  // no daemon answers, or the connection was lost
  kRefused = 4,   // the daemon said no: not allowed, not valid, not found, no room, not supported
  kTimedOut = 5,  // a deadline passed
};

ExitCode ExitCodeOf(const client::Status& status);

// An error of the command line that its parser does not find: kUsage.
client::Status UsageError(std::string message);

// Prints "ttfdctl: STATUS" to stderr and returns the exit code.
ExitCode Fail(const client::Status& status);

}  // namespace ttfd::cli
