// The bytes of writes as they arrive.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/api/request.h"
#include "daemon/session/operation.h"

namespace ttfd {

// Bytes that a command carries inline.
uint64_t InlineBytes(const Request& request);

// Adds bytes to a write whose buffer, offset and size are known: cuts what has come into slices the
// device can take, keeps the rest for the next chunk.
void AddPayload(WriteOperation& write, std::string payload);

}  // namespace ttfd
