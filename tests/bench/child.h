// A child process of the benchmark: a server that says when it is ready and goes when told.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd::bench {

// A temporary folder, removed with the object. Sockets live there.
class ScratchFolder {
 public:
  static StatusOr<std::unique_ptr<ScratchFolder>> Create();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string Path(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

class Child {
 public:
  // Starts `command` with its standard output in `log` and a pipe as standard input.
  static StatusOr<std::unique_ptr<Child>> Start(const std::vector<std::string>& command,
                                                const std::string& log);
  // Closes the pipe, sends SIGTERM and waits; SIGKILL after ten seconds.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Waits until the unix socket at `path` accepts a connection. Fails with the end of the log when the child died first
  // or `timeout` passed.
  Status WaitForSocket(const std::string& path, std::chrono::seconds timeout);

  // Writes a line to its standard input.
  Status Tell(const std::string& line);
  // Waits for a line of its standard output that begins with `beginning`, behind those that were waited for before.
  // `before`: gets the lines that were passed over.
  StatusOr<std::string> WaitForLine(const std::string& beginning, std::chrono::seconds timeout,
                                    std::vector<std::string>* before = nullptr);

  pid_t pid() const { return pid_; }
  // CPU time that all threads of the child have used so far.
  StatusOr<std::chrono::nanoseconds> CpuTime() const;

 private:
  Child(pid_t pid, UniqueFd input, std::string log)
      : pid_(pid), input_(std::move(input)), log_(std::move(log)) {}
  std::string LogTail() const;
  bool Ended();

  const pid_t pid_;
  UniqueFd input_;
  const std::string log_;
  bool reaped_ = false;
  size_t read_ = 0;  // bytes of the log, by WaitForLine
};

}  // namespace ttfd::bench
