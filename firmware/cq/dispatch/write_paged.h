// WRITE_PAGED: the data behind the command goes to pages of an interleaved buffer, bank after bank.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/cq/bank_walk.h"
#include "firmware/cq/dispatch/niu.h"
#include "firmware/cq/dispatch/ring.h"
#include "runtime/abi/dispatch_commands.h"
#include "runtime/hw/tensix.h"

namespace ttfd::firmware::dispatch {

inline void WritePaged(Ring& ring, Writes& writes, uint32_t word) {
  const uint32_t at = ring.cursor();
  const uint32_t base = Load(at + offsetof(abi::WritePaged, base_address));
  const uint32_t page_bytes = Load(at + offsetof(abi::WritePaged, page_size));
  uint32_t pages = Load(at + offsetof(abi::WritePaged, pages));
  if ((page_bytes | base) % hw::kL1Alignment != 0 || page_bytes == 0) [[unlikely]] {
    Refuse(at, abi::kFaultBadLength, page_bytes, base);
  }
  if (pages == 0) [[unlikely]] {
    Refuse(at, abi::kFaultBadCount, pages, ~0u);
  }
  BankWalk<0> walk((word >> 8 & 0xFF) != 0, word >> 16, base, page_bytes);
  ring.Skip(sizeof(abi::WritePaged));
  for (; pages != 0; --pages, walk.Next()) {
    uint32_t to = walk.address();
    uint32_t remaining = page_bytes;
    do {  // more than once when the page crosses the ring's end or has not all arrived
      const uint32_t piece = NextPiece(ring, remaining);
      Writes::SetUnicastTile(walk.tile());
      writes.Unicast(ring.cursor(), to, piece);
      ring.Skip(piece);
      to += piece, remaining -= piece;
    } while (remaining != 0);
  }
  ring.FinishCommand();
}

}  // namespace ttfd::firmware::dispatch
