// A process that the library starts, waits for and ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "ttfd/status.h"

namespace ttfd::ttmlir {

// Killed at the end if it still runs, with those that it started. One thread.
class ChildProcess {
 public:
  ChildProcess() = default;
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Starts `arguments[0]` with standard input, output and error at /dev/null. `files` are open files of this process
  // and the numbers that they get there, in place of /dev/null for 1 and 2, which are below those here; no others stay
  // open. FAILED_PRECONDITION: it does not start.
  client::Status Start(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment,
                       const std::vector<std::pair<int, int>>& files);
  // Its exit status, as of waitpid. DEADLINE_EXCEEDED: it runs longer.
  client::Result<int> Wait(std::chrono::milliseconds time);

 private:
  int Collect();

  pid_t pid_ = -1;
};

}  // namespace ttfd::ttmlir
