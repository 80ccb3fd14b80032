// Relaying data that is not in the entry: read into one half of scratch while the other half is
// written into the dispatch ring.
//
// A source knows what comes next: uint32_t Fill(scratch, room) starts reads of up to `room` bytes to
// `scratch` (or a little behind it, told by skew()) and returns how many, 0 at the end. All pieces
// but the last are multiples of 16 bytes.
#pragma once

#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/common/wait.h"
#include "firmware/cq/prefetch/niu.h"
#include "firmware/cq/prefetch/ring_writer.h"

namespace ttfd::firmware::prefetch {

// Reads in flight of one transaction id; the NIU counts to 255.
inline constexpr uint32_t kMaxReadsPerHalf = 128;

struct Scratch {
  Scratch() : address(TTFD_BOOT(scratch_address)), half_bytes(TTFD_BOOT(scratch_bytes) / 2) {}
  const uint32_t address;
  const uint32_t half_bytes;
};

inline void SetRelayId(uint32_t id) {
  RelayBuffer::AwaitFree();
  RelayBuffer::Set(hw::kNocPacketTag, PacketTag(id));
}
inline void SetRelayHalf(uint32_t half) { SetRelayId(half == 0 ? kRelayId[0] : kRelayId[1]); }

inline void StartRelayRead(uint32_t tile, uint32_t low, uint32_t to, uint32_t bytes) {
  RelayBuffer::AwaitFree();
  RelayBuffer::Set(hw::kNocTargetLow, low);
  RelayBuffer::Set(hw::kNocReturnLow, to);
  RelayBuffer::Set(hw::kNocLength, bytes);
  RelayBuffer::Set(hw::kNocTargetHigh, tile);
  RelayBuffer::Set(hw::kNocReturnHigh, OwnXy());
  RelayBuffer::Issue();
}

// Waits until the data that was read under `id` has arrived.
inline void AwaitRelayId(uint32_t id) {
  RelayBuffer::AwaitFree();
  AwaitAnswers(id);
}
inline void AwaitRelayHalf(uint32_t half) { AwaitRelayId(half == 0 ? kRelayId[0] : kRelayId[1]); }

template <typename Source>
[[gnu::noinline]] inline void Relay(Source source, const Scratch& scratch,
                                    RingWriter<DispatchRing>& ring) {
  AwaitWritesLeft();  // an earlier command may have written from scratch
  SetRelayHalf(0);
  uint32_t from = scratch.address + source.skew();
  uint32_t filled = source.Fill(scratch.address, scratch.half_bytes);
  for (uint32_t half = 0; filled != 0; half ^= 1) {
    const uint32_t other = half ^ 1;
    AwaitWritesLeft();  // of the half about to be filled
    SetRelayHalf(other);
    const uint32_t next_from = scratch.address + (other != 0 ? scratch.half_bytes : 0);
    const uint32_t next_filled = source.Fill(next_from, scratch.half_bytes);
    AwaitRelayHalf(half);
    ring.Append(from, filled);
    ring.AnnounceFull();
    from = next_from;
    filled = next_filled;
  }
  ring.Finish();
}

}  // namespace ttfd::firmware::prefetch
