// The real daemon on the embedded device as a child process, for tests of clients.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ttfd::testing {

class ClientDaemon {
 public:
  // Starts build/<preset>/daemon/ttfd on a socket of its own and waits until it answers. `options`
  // are more words of its command line, `config` its file, `standard_error` what it writes to instead of the file that
  // Log reads. Test failures are reported through gtest.
  explicit ClientDaemon(const std::vector<std::string>& options = {},
                        const std::string& config = "# defaults\n", int standard_error = -1);
  ~ClientDaemon();
  ClientDaemon(const ClientDaemon&) = delete;
  ClientDaemon& operator=(const ClientDaemon&) = delete;

  const std::string& address() const { return address_; }
  pid_t pid() const { return pid_; }
  // kill -9.
  void Kill();
  // Starts it again, on the same socket, after Kill or Stop; and waits until it answers.
  void Spawn();
  bool AwaitServing();
  // TERM; its exit code, or -1 if it did not end within 20 s or was killed by a signal.
  int Stop();
  std::string Log() const;

 private:
  std::string directory_;
  std::vector<std::string> words_;
  std::string address_;
  const int standard_error_;
  pid_t pid_ = -1;
};

// build/<preset>/firmware/kernels/NAME.elf, or the kernel of that name for tests of the dispatcher.
std::string KernelPath(const std::string& name);

}  // namespace ttfd::testing
