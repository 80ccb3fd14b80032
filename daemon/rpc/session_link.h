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

  // Held once for each message. While one is read: it is acknowledged, accepted and counted in one step. While one is
  // written: output is taken from the session, numbered and kept in one step, so that the next connection finds all of
  // it in `link`, or still in the session.
  Mutex mu;
  Link link;  // guarded by `mu`, but for what it says
};

}  // namespace ttfd
