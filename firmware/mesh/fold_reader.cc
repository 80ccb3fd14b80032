// Reads the slices of all chunks that a gather has left on the chip, in the order of their numbers, for adder_compute
// to add them. BRISC, words RingWords, argument 0 the adder.
#include <ttfd/kernel.h>

#include "firmware/mesh/adder.h"
#include "firmware/mesh/ring.h"

using namespace ttfd::kernel;
using namespace ttfd::mesh;

void kernel_main() {
  const auto& words = CommonArguments<RingWords>();
  if (!HasWork(words)) return;
  const Extents extents(words.chunks);
  const Pages gathered = OwnPages(words);
  CircularBuffer received(kRingReceived), addend(kRingAddend);
  const uint32_t tiles = SliceTiles(words);
  for (uint32_t segment = 0; segment != words.chunks.segments; ++segment) {
    for (uint32_t chunk = 0; chunk != words.schedule.all; ++chunk) {
      CircularBuffer& into = chunk == 0 ? received : addend;
      Extents::Place place = extents.At(chunk, segment, Adder());
      extents.Slice(place, into.Reserve(tiles),
                    [&](uint32_t page, uint32_t offset, uint32_t to, uint32_t size) {
                      Read(gathered.At(page, offset), to, size);
                    });
      ReadBarrier();
      into.Push(tiles);
    }
  }
}
