// WRITE_PACKED_LARGE: up to 35 stretches of data, each multicast to its own rectangle and address.
//
//   command | targets of 12 bytes, padded to 16 | data 0, padded to `alignment` | data 1 ...
//
// Packets to one rectangle are linked until a target's UNLINK flag: they keep the path, so only the
// first of them waits for acknowledgements. While a link is open the NIU takes nothing but its packets,
// and the path is closed to everyone else (tt-isa-documentation BlackholeA0/NoC/MemoryMap.md,
// NOC_CMD_VC_LINKED). Waiting for data and giving pages back, an increment from the same NIU, must not
// happen then: a link is kept only to a packet whose data has begun to arrive.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/cq/dispatch/niu.h"
#include "firmware/cq/dispatch/ring.h"
#include "firmware/cq/dispatch/write_packed.h"
#include "runtime/abi/dispatch_commands.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"

namespace ttfd::firmware::dispatch {

// While a link is open all its data lies in the ring, and a packet ends where its target ends, where the ring ends, or
// has the largest size.
inline constexpr uint32_t kMaxLinkedPackets =
    hw::kL1Bytes / hw::kNocMaxPacketBytes + abi::kPackedLargeMaxCount + 1;
static_assert(kMaxLinkedPackets < 256, "the count of writes that were not flushed has 8 bits");

[[gnu::noinline]] inline void WritePackedLarge(Ring& ring, Writes& writes, uint32_t word,
                                               const uint32_t* write_offsets) {
  const uint32_t at = ring.cursor();
  const uint32_t second = Load(at + offsetof(abi::WritePackedLarge, alignment));
  const uint32_t count = word >> 16;
  const uint32_t alignment = second & 0xFFFF;
  const uint32_t offset_index = second >> 16;
  if (count == 0 || count > abi::kPackedLargeMaxCount) [[unlikely]] {
    Refuse(at, abi::kFaultBadCount, count, abi::kPackedLargeMaxCount);
  }
  if (alignment < 16 || (alignment & (alignment - 1)) != 0 || offset_index >= abi::kMaxWriteOffsets)
      [[unlikely]] {
    Refuse(at, abi::kFaultBadLength, alignment, offset_index);
  }
  constexpr uint32_t kTargetWords = sizeof(abi::WritePackedLargeTarget) / 4;
  uint32_t targets[abi::kPackedLargeMaxCount * kTargetWords];
  for (uint32_t i = 0; i != count * kTargetWords; ++i) {
    targets[i] = Load(at + sizeof(abi::WritePackedLarge) + 4 * i);
  }
  for (uint32_t i = 0; i != count; ++i) {  // all before a link is open
    const uint32_t rest = targets[kTargetWords * i + 2];
    RequireAligned(at, targets[kTargetWords * i + 1] + write_offsets[offset_index], 0);
    if ((rest & 0xFFFF) == 0 || (rest >> 16 & 0xFF) == 0) [[unlikely]] {
      Refuse(at, abi::kFaultBadLength, rest, i);
    }
  }
  ring.Skip(sizeof(abi::WritePackedLarge) + RoundUp16(count * sizeof(abi::WritePackedLargeTarget)));
  bool linked = false;
  for (uint32_t i = 0; i != count; ++i) {
    const uint32_t rectangle = targets[kTargetWords * i];
    uint32_t to = targets[kTargetWords * i + 1] + write_offsets[offset_index];
    const uint32_t rest = targets[kTargetWords * i + 2];
    const uint32_t length = rest & 0xFFFF;
    const uint32_t receivers = rest >> 16 & 0xFF;
    // The last target ends the transaction whatever its flag says, and so does another rectangle.
    const bool unlink = (rest >> 24 & abi::kPackedLargeUnlink) != 0 || i + 1 == count ||
                        targets[kTargetWords * (i + 1)] != rectangle;
    const uint32_t padding = -length & (alignment - 1);
    for (uint32_t remaining = length; remaining != 0;) {
      const uint32_t piece = NextPiece(ring, remaining);
      const uint32_t to_next = piece == remaining ? piece + padding : piece;
      const bool stays_linked = (piece != remaining || !unlink) && ring.ready() > to_next;
      writes.Multicast(ring.cursor(), rectangle, receivers, to, piece, linked, stays_linked);
      linked = stays_linked;
      ring.Skip(piece);
      to += piece, remaining -= piece;
    }
    ring.SkipAll(padding);
  }
  ring.FinishCommand();
}

}  // namespace ttfd::firmware::dispatch
