// Writes sums back to the slots of the link worker, or to the result. NCRISC, words RingWords, argument 0 the adder.
#include <ttfd/kernel.h>

#include "firmware/mesh/adder.h"
#include "firmware/mesh/ring.h"

using namespace ttfd::kernel;
using namespace ttfd::mesh;

void kernel_main() {
  const auto& words = CommonArguments<RingWords>();
  if (!HasWork(words)) return;
  CircularBuffer total(kRingTotal);
  const Extents extents(words.chunks);
  const Pages result = ResultPages(words);
  const Semaphore slots_address(kRingSlotsAddress), results(kRingResults);
  const uint32_t tiles = SliceTiles(words);
  uint32_t number = 0;
  for (Order order(words, words.schedule.received, words.schedule.received_first); !order.done();
       order.Next(), ++number) {
    const bool is_last = order.index() >= words.schedule.forwarded;
    const uint32_t at = total.Wait(tiles);
    Extents::Place place = extents.At(order.chunk(), order.segment(), Adder());
    const uint32_t bytes =
        extents.Slice(place, at, [&](uint32_t page, uint32_t offset, uint32_t from, uint32_t size) {
          if (is_last) Write(from, result.At(page, offset), size);
        });
    if (is_last && words.adders.accumulated != 0) {
      WriteBarrier();
      results.IncrementOn({words.adders.adder_x + 1, words.adders.adder_y + Adder()}, 1);
    }
    if (!is_last && bytes != 0) {
      Write(at, SliceInSlot(words, slots_address.value(), number), bytes);
    }
    Semaphore(words.adders.done + number % kRingSlots)
        .IncrementOn({words.adders.worker_x, words.adders.worker_y}, 1);
    WritesFlushedBarrier();
    total.Pop(tiles);
  }
  WriteBarrier();
  IncrementBarrier();
}
