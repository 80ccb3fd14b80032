// WRITE_LINEAR, WRITE_LINEAR_H: the data behind the command goes to consecutive addresses of one tile, or of every tile
// of a rectangle.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/cq/dispatch/niu.h"
#include "firmware/cq/dispatch/ring.h"
#include "runtime/abi/dispatch_commands.h"

namespace ttfd::firmware::dispatch {

inline void WriteLinear(Ring& ring, Writes& writes, uint32_t word, uint32_t write_offset) {
  const uint32_t at = ring.cursor();
  const uint32_t noc_xy = Load(at + offsetof(abi::WriteLinear, noc_xy));
  const uint32_t low = Load(at + offsetof(abi::WriteLinear, address));
  const uint32_t high = Load(at + offsetof(abi::WriteLinear, address) + 4);
  uint32_t remaining = Load(at + offsetof(abi::WriteLinear, length));
  const uint32_t length_high = Load(at + offsetof(abi::WriteLinear, length) + 4);
  if (length_high != 0 || remaining == 0) [[unlikely]] {
    Refuse(at, abi::kFaultBadLength, length_high != 0 ? ~0u : remaining, ~0u);
  }
  uint32_t to = low + write_offset;
  RequireAligned(at, to, remaining);
  uint32_t mid = high + (to < low ? 1 : 0);
  const uint32_t receivers = word >> 8 & 0xFF;
  ring.Skip(sizeof(abi::WriteLinear));
  if (receivers != 0) {
    while (remaining != 0) {
      const uint32_t piece = NextPiece(ring, remaining);
      writes.Multicast(ring.cursor(), noc_xy, receivers, to, piece, false, false);
      ring.Skip(piece);
      to += piece, remaining -= piece;
    }
    ring.FinishCommand();
    return;
  }
  mid |= PcieMid(noc_xy);
  const uint32_t tile = TileOf(noc_xy);
  while (remaining != 0) {
    const uint32_t piece = NextPiece(ring, remaining);
    Writes::SetUnicastTarget(tile, mid);
    writes.Unicast(ring.cursor(), to, piece);
    ring.Skip(piece);
    to += piece, remaining -= piece;
    mid += to < piece ? 1 : 0;
  }
  Writes::ClearUnicastHigh();
  ring.FinishCommand();
}

}  // namespace ttfd::firmware::dispatch
