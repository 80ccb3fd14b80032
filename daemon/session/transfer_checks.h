// Checks of the ranges that transfers touch, and of inline bytes.
#pragma once

#include <cstdint>

#include "daemon/api/errors.h"
#include "daemon/api/reply.h"
#include "daemon/session/objects.h"

namespace ttfd {

// The range lies in the buffer, and is within Limits.transfer_bytes.
Refusal CheckRange(const SessionLimits& limits, const Buffer& buffer, uint64_t offset,
                   uint64_t size, const char* offset_field, const char* size_field);
// The same for a command that touches whole units.
Refusal CheckUnits(const SessionLimits& limits, const Buffer& buffer, uint64_t offset,
                   uint64_t size, const char* offset_field, const char* size_field);
// So many inline bytes, for a command of this size, are within Limits.inline_bytes.
Refusal CheckInline(const SessionLimits& limits, uint64_t size, uint64_t inline_size,
                    const char* field);

}  // namespace ttfd
