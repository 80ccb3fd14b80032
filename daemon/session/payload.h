// The bytes of writes as they arrive.
#pragma once

#include <memory>
#include <string>

#include "daemon/session/task.h"

namespace ttfd {

// Adds bytes to a write whose buffer, offset and size are known: cuts what has come into slices the
// device can take, keeps the rest for the next chunk.
void AddPayload(WriteTask& write, std::string payload);

}  // namespace ttfd
