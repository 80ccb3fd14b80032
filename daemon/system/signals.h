// SIGTERM, SIGINT and SIGHUP as something to wait for.
#pragma once

#include <optional>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {

class Signals {
 public:
  // Blocks the three in the calling thread, and so in every thread it starts later: to be called
  // first in main. Also ignores SIGPIPE and SIGXFSZ.
  static StatusOr<Signals> Block();

  // The next of the three, or nothing within `timeout`.
  std::optional<int> Wait(Duration timeout);

 private:
  explicit Signals(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace ttfd
