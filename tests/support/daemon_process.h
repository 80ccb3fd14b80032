// The real ttfd binary as a child process, with this process in the service manager's place.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/unique_fd.h"

namespace ttfd {

class DaemonProcess {
 public:
  struct Setup {
    std::vector<std::string> arguments;  // after the program's name
    std::string config;                  // text of the configuration file; empty: an empty file
    std::vector<std::pair<std::string, std::string>> environment;
    bool default_socket = true;  // adds --socket with a path in the folder of this process
    int listening_socket = -1;   // handed over as systemd does (LISTEN_FDS)
  };

  explicit DaemonProcess(const Setup& setup);
  DaemonProcess() : DaemonProcess(Setup{}) {}
  ~DaemonProcess();  // kills what still runs

  const std::string& folder() const { return folder_; }
  std::string socket_path() const { return folder_ + "/ttfd.sock"; }
  pid_t pid() const { return pid_; }

  // The next notification; empty after `timeout` without one.
  std::string NextNotification(std::chrono::milliseconds timeout = std::chrono::seconds(60));
  // Reads notifications up to the one that contains `text`. False after 60 s, or when the daemon has ended.
  bool WaitForNotification(const std::string& text);
  bool WaitUntilReady() { return WaitForNotification("READY=1"); }

  void Signal(int number);
  // Waits for the end. The exit code, or minus the signal that ended it; nothing after `timeout`.
  std::optional<int> WaitForExit(std::chrono::milliseconds timeout = std::chrono::seconds(30));
  std::string Log() const;  // what it wrote to standard output and error

 private:
  std::string folder_;
  UniqueFd notify_;
  pid_t pid_ = -1;
  std::optional<int> exit_;
};

}  // namespace ttfd
