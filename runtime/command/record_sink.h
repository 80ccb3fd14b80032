// Where an encoder puts records: the open entry of the issue ring, or a vector in a test.
#pragma once

#include <cstdint>

#include "runtime/abi/prefetch_commands.h"
#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace ttfd {

class RecordSink {
 public:
  virtual ~RecordSink() = default;

  // Memory for `bytes` bytes of prefetch commands, behind everything appended before; they are read
  // together. `bytes` is a multiple of 64 and at most max_record_bytes(). The caller fills it
  // before the next call. An error means that the device is lost.
  virtual StatusOr<MutableByteSpan> Append(uint32_t bytes) = 0;

  // The largest entry the card's rings take.
  virtual uint32_t max_record_bytes() const = 0;
};

// Size of a RELAY_INLINE record whose dispatch command and data are `payload` bytes long.
constexpr uint32_t InlineRecordBytes(uint32_t payload) {
  return AlignUp(abi::kCommandBytes + payload, abi::kEntryAlignment);
}

}  // namespace ttfd
