// The bytes of streamed commands as they arrive.
#pragma once

#include <memory>
#include <string>

#include "daemon/session/task.h"

namespace ttfd {

// Adds a chunk to a streamed write: cuts what has come into slices the device can take, keeps the
// rest for the next chunk.
void AddPayload(WriteTask& write, std::string payload);

}  // namespace ttfd
