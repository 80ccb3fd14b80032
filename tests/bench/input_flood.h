// Floods of input: commands that cost the daemon the time of decoding them rather than time of the card.
//
// "arguments": launches with as many buffers among their arguments as a kernel may have words; "traces": recordings of
// 4,000 launches; "kernels": kernels that the daemon does not have; "programs": programs with every circular buffer and
// semaphore that there is, on ranges of one tile; "buffers": small buffers. All that is made is released, so that a
// flood keeps a bounded number of objects.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "ttfd/session.h"

namespace ttfd::bench {

// Names of the floods, in the order of the figures.
const std::vector<std::string>& InputFloods();

// A flood of one session, which outlives it.
class InputFlood {
 public:
  // Makes what the commands of the flood need.
  static StatusOr<std::unique_ptr<InputFlood>> Prepare(const std::string& what,
                                                       client::Session& session);

  // Sends commands until `stop`, each thread at least one, and returns their number; the first error ends it. Errors
  // of launches are those of the session's queue.
  StatusOr<uint64_t> Run(const std::atomic<bool>& stop) const;

 private:
  // Sends one command, and releases what an earlier one made.
  using Sender = std::function<Status()>;

  explicit InputFlood(std::vector<Sender> senders) : senders_(std::move(senders)) {}

  const std::vector<Sender> senders_;  // each for a thread of its own
};

}  // namespace ttfd::bench
