// Stream registers as 17-bit counters.
#include "runtime/sim/streams.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kRemoteSourceMask = (1u << 24) - 1;

}  // namespace

Refusal Streams::Read(uint32_t offset, uint32_t* value) const {
  const Stream& stream = streams_[offset / hw::kStreamStride];
  switch (offset % hw::kStreamStride) {
    case hw::kStreamRemoteSource:
      *value = stream.remote_source;
      return {};
    case hw::kStreamBufferStart:
      *value = stream.buffer_start;
      return {};
    case hw::kStreamBufferSize:
      *value = stream.buffer_size;
      return {};
    case hw::kStreamSpaceAvailable:
      *value = stream.space_available;
      return {};
    case hw::kStreamSpaceAvailableUpdate:
      return {FaultKind::kUnsupportedRegister, hw::kStreamAddress + offset,
              "the stream's update register is write only"};
    default:
      return {FaultKind::kUnsupportedRegister, hw::kStreamAddress + offset,
              "of a stream only registers 4, 8, 10, 270 and 297 are modelled"};
  }
}

Refusal Streams::Write(uint32_t offset, uint32_t value, uint32_t* changed) {
  Stream& stream = streams_[offset / hw::kStreamStride];
  *changed = offset;
  switch (offset % hw::kStreamStride) {
    case hw::kStreamRemoteSource:
      if ((value & ~kRemoteSourceMask) != 0) {
        return {FaultKind::kUnsupportedValue, hw::kStreamAddress + offset,
                "the stream's remote source has 24 bits"};
      }
      stream.remote_source = value;
      return {};
    case hw::kStreamBufferStart:
      stream.buffer_start = value & hw::kStreamCounterMask;
      return {};
    case hw::kStreamBufferSize:
      stream.buffer_size = value & hw::kStreamCounterMask;
      stream.space_available = stream.buffer_size;
      ++stream.times_set;
      *changed = SpaceAvailable(offset);
      return {};
    case hw::kStreamSpaceAvailableUpdate:
      if (!Add(offset, value)) {
        return {FaultKind::kUnsupportedValue, hw::kStreamAddress + offset,
                "the low 6 bits of a stream update name a destination; only 0 exists"};
      }
      *changed = SpaceAvailable(offset);
      return {};
    case hw::kStreamSpaceAvailable:
      return {FaultKind::kUnsupportedRegister, hw::kStreamAddress + offset,
              "the stream's space available register is read only"};
    default:
      return {FaultKind::kUnsupportedRegister, hw::kStreamAddress + offset,
              "of a stream only registers 4, 8, 10, 270 and 297 are modelled"};
  }
}

}  // namespace ttfd::sim
