// Where the launches of operations go: onto a queue of the session.
#pragma once

#include <cstdint>
#include <utility>

#include "ttfd/session.h"

namespace ttfd::tensor {

class Stream {
 public:
  explicit Stream(client::Queue queue) : queue_(std::move(queue)) {}

  client::Status Launch(const client::LaunchRequest& launch);

  client::Queue& queue() { return queue_; }
  uint64_t launches() const { return launches_; }

 private:
  client::Queue queue_;
  uint64_t launches_ = 0;
};

}  // namespace ttfd::tensor
