// A transport of a session that keeps nothing for its client.
#pragma once

#include <memory>

#include "daemon/api/session_port.h"

namespace ttfd {

struct PlainTransport final : SessionTransport {
  void Attach(std::shared_ptr<OutputBudget>) override {}
};

}  // namespace ttfd
