// Runs another program to its end and takes what it says.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {

struct CommandResult {
  int exit_code = 0;  // 128 + the signal that ended it
  std::string out;
  std::string errors;
};

// `command[0]` is looked for in PATH. An error: it could not be started, or `timeout` passed and it was killed.
StatusOr<CommandResult> RunCommand(const std::vector<std::string>& command,
                                   std::chrono::seconds timeout);

// Is there a program of this name in PATH?
bool HaveCommand(const std::string& name);

// A file without a place in any folder; commands started while it exists find it at Path().
class MemoryFile {
 public:
  static StatusOr<MemoryFile> Create(ByteSpan content);
  std::string Path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  explicit MemoryFile(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace ttfd
