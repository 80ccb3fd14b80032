// Reads slices of received segments from the link worker, and what is added to them from DRAM. BRISC, words RingWords,
// argument 0 the adder.
#include <ttfd/kernel.h>

#include "firmware/mesh/adder.h"
#include "firmware/mesh/ring.h"

using namespace ttfd::kernel;
using namespace ttfd::mesh;

void kernel_main() {
  const auto& words = CommonArguments<RingWords>();
  if (!HasWork(words)) return;
  const Extents extents(words.chunks);
  const Pages own = OwnPages(words), result = ResultPages(words);
  CircularBuffer received(kRingReceived), addend(kRingAddend);
  const Semaphore slots_address(kRingSlotsAddress), arrived(kRingArrived), results(kRingResults);
  const uint32_t tiles = SliceTiles(words);
  uint32_t number = 0, accumulated = 0;
  for (Order order(words, words.schedule.received, words.schedule.received_first); !order.done();
       order.Next()) {
    const bool from_result =
        words.adders.accumulates != 0 && order.index() + 1 == words.schedule.received;
    if (from_result) results.WaitAtLeast(++accumulated);
    Extents::Place place = extents.At(order.chunk(), order.segment(), Adder());
    const uint32_t bytes = extents.Slice(
        place, addend.Reserve(tiles),
        [&](uint32_t page, uint32_t offset, uint32_t to, uint32_t size) {
          Read(from_result ? result.At(page, offset) : own.At(page, offset), to, size);
        });
    const uint32_t to = received.Reserve(tiles);
    arrived.WaitAtLeast(++number);
    if (bytes != 0) Read(SliceInSlot(words, slots_address.value(), number - 1), to, bytes);
    ReadBarrier();
    received.Push(tiles);
    addend.Push(tiles);
  }
}
