// A child process: a socket to it, what it prints, and how it ended.
//
// Started with posix_spawn, so it is safe beside any number of threads. It gets the socket, one more
// file, and nothing else of this process but its environment and standard error.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd::ttsim {

class ChildProcess {
 public:
  // `command` is the program and its arguments; `file` becomes its descriptor kMailboxFd, the socket
  // kSocketFd.
  static StatusOr<std::unique_ptr<ChildProcess>> Start(const std::vector<std::string>& command,
                                                       int file);
  ~ChildProcess();  // kills and reaps it
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Sends one message, with a descriptor if `file` is not -1. UNAVAILABLE: the child is gone.
  Status Send(ByteSpan message, int file = -1);
  // Receives one message of exactly that size; collects what the child prints meanwhile. UNAVAILABLE:
  // it is gone. DEADLINE_EXCEEDED: it still runs.
  Status Receive(MutableByteSpan message, Duration patience);

  // Ends the child if it has not ended yet, reads the rest of what it printed and says how it ended:
  // "exit status 1", "signal 9 (Killed)".
  const std::string& End();
  // The last kilobytes of its standard output.
  const std::string& printed() const { return printed_; }
  pid_t pid() const { return pid_; }

 private:
  ChildProcess(pid_t pid, UniqueFd socket, UniqueFd output)
      : pid_(pid), socket_(std::move(socket)), output_(std::move(output)) {}
  bool CollectOutput();

  const pid_t pid_;
  UniqueFd socket_;
  UniqueFd output_;
  std::string printed_;
  std::string end_;  // empty: not reaped
};

}  // namespace ttfd::ttsim
