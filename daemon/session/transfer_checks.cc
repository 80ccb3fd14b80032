// Ranges of transfers.
#include "daemon/session/transfer_checks.h"

#include "runtime/command/command.h"

namespace ttfd {

Refusal CheckRange(const SessionLimits& limits, const Buffer& buffer, uint64_t offset,
                   uint64_t size, const char* offset_field, const char* size_field) {
  if (size == 0) return InvalidError(size_field, "a transfer of 0 bytes");
  if (size > limits.transfer_bytes) {
    return LimitError(size_field, "transfer_bytes", limits.transfer_bytes, 0,
                      fmt::format("a transfer of {} bytes", size));
  }
  if (offset > buffer.size_bytes || size > buffer.size_bytes - offset) {
    return InvalidError(offset > buffer.size_bytes ? offset_field : size_field,
                        "{} bytes at offset {} leave the buffer, which has {} bytes", size, offset,
                        buffer.size_bytes);
  }
  return std::nullopt;
}

Refusal CheckUnits(const SessionLimits& limits, const Buffer& buffer, uint64_t offset,
                   uint64_t size, const char* offset_field, const char* size_field) {
  if (Refusal refusal = CheckRange(limits, buffer, offset, size, offset_field, size_field))
    return refusal;
  if (!IsUnitBoundary(buffer.page_bytes, buffer.size_bytes, offset)) {
    return InvalidError(offset_field,
                        "offset {} is not a multiple of {} from the start of its page of {} bytes",
                        offset, hw::kL1Alignment, buffer.page_bytes);
  }
  if (!IsUnitBoundary(buffer.page_bytes, buffer.size_bytes, offset + size)) {
    return InvalidError(size_field,
                        "{} bytes from offset {} end within a unit: pages have {} bytes, a range "
                        "ends a multiple of {} from the start of a page, or where a page or the "
                        "buffer ends",
                        size, offset, buffer.page_bytes, hw::kL1Alignment);
  }
  return std::nullopt;
}

Refusal CheckInline(const SessionLimits& limits, uint64_t size, uint64_t inline_size,
                    const char* field) {
  if (inline_size > limits.inline_bytes) {
    return LimitError(field, "inline_bytes", limits.inline_bytes, 0,
                      fmt::format("{} inline bytes; stream them instead", inline_size));
  }
  if (inline_size != size) {
    return InvalidError(field, "{} inline bytes for a size of {}; they must be equal", inline_size,
                        size);
  }
  return std::nullopt;
}

}  // namespace ttfd
