// Functions of the kernels of an adder, which adds one slice of every segment that its lane receives (ring_words.h).
#pragma once

#include <stdint.h>
#include <ttfd/kernel.h>

#include "firmware/mesh/ring_words.h"

namespace ttfd::mesh {

// Number of the slice of this adder.
inline uint32_t Adder() { return kernel::Argument(0); }

// Short chunks have fewer slices than there are adders.
inline bool HasWork(const RingWords& words) {
  return Adder() < words.chunks.slices && words.adders.sums != 0;
}

// Tiles of a slice.
inline uint32_t SliceTiles(const RingWords& words) {
  return words.adders.sum == RingSum::kBFloat16 ? 2 : 1;
}

// The slice of this adder in slot `number` of the link worker, whose slots begin at `slots`.
inline kernel::NocAddress SliceInSlot(const RingWords& words, uint32_t slots, uint32_t number) {
  return kernel::OnTile(
      {words.adders.worker_x, words.adders.worker_y},
      slots + number % kRingSlots * kRingSegmentBytes + Adder() * words.chunks.slice_bytes);
}

}  // namespace ttfd::mesh
