// A thread that accepts connections of a listening socket.
#pragma once

#include <functional>
#include <thread>

#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {

class AcceptLoop {
 public:
  AcceptLoop() = default;
  ~AcceptLoop() { Stop(); }
  AcceptLoop(const AcceptLoop&) = delete;
  AcceptLoop& operator=(const AcceptLoop&) = delete;

  // `listening` stays the caller's, and open until Stop. `accepted` is called on the loop's thread with every new
  // connection (non-blocking, close on exec).
  Status Start(int listening, std::function<void(UniqueFd connection)> accepted);
  void Stop();

 private:
  void Loop(int listening, const std::function<void(UniqueFd)>& accepted);

  UniqueFd stop_;  // an eventfd, written by Stop
  std::thread thread_;
};

}  // namespace ttfd
