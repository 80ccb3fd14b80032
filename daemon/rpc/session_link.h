// State that the connections of one session share, one after the other. Only the newest one writes
// (SessionTransport::newest).
#pragma once

#include <memory>
#include <utility>

#include "daemon/api/session_port.h"
#include "daemon/rpc/link.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// Kept by the session until it is released.
struct SessionLink final : SessionTransport {
  explicit SessionLink(const LinkOptions& options) : link(options) {}

  void Attach(std::shared_ptr<OutputBudget> unacknowledged) override {
    link.Attach(std::move(unacknowledged));
  }

  Link link;
  // Held while output is taken from the session, numbered and kept: the next connection finds all of it in `link`, or
  // still in the session.
  Mutex writing;
};

}  // namespace ttfd
