// Receives segments from the chip before into slots, and writes them to the result or lets the adders have them. Words
// RingWords.
#include <ttfd/kernel.h>
#include <ttfd/link.h>

#include "firmware/mesh/link_worker.h"
#include "firmware/mesh/ring.h"
#include "firmware/mesh/stopwatch.h"

using namespace ttfd::kernel;
using namespace ttfd::mesh;

namespace {

void IncrementOnAdders(const RingWords& words, const Semaphore& semaphore, uint32_t increment) {
  for (uint32_t slice = 0; slice != words.chunks.slices; ++slice) {
    semaphore.IncrementOn({words.adders.adder_x, words.adders.adder_y + slice}, increment);
  }
}

// Waits until the adders have done with so many segments.
void AwaitSums(const RingWords& words, uint32_t segments) {
  for (uint32_t slot = 0; slot != kRingSlots; ++slot) {
    const uint32_t uses = (segments + kRingSlots - 1 - slot) / kRingSlots;
    Semaphore(RingDone(kLane) + slot).WaitAtLeast(words.chunks.slices * uses);
  }
}

void Receive(const RingWords& words, const Scratch& scratch) {
  const Extents extents(words.chunks);
  if (words.adders.folds != 0) return AwaitSums(words, words.chunks.segments);
  Order order(words, words.schedule.received, words.schedule.received_first);
  if (order.done()) return;
  LinkIn in(words.schedule.in_end);
  const Pages result = ResultPages(words);
  const Semaphore passed_on(RingPassedOn(kLane));
  const Semaphore slots_address(kRingSlotsAddress), arrived(kRingArrived);
  const bool adds = words.adders.sum != RingSum::kNone;
  if (adds) IncrementOnAdders(words, slots_address, scratch.Slot(0));
  uint32_t forwarded = 0;
  // Slots are free when so many segments have been passed on; 0: when their adders are done.
  uint32_t until[kRingSlots] = {};
  uint32_t number = 0;
  for (; !order.done(); order.Next(), ++number) {
    const uint32_t slot = number % kRingSlots, use = number / kRingSlots;
    const Extents::Place place = extents.At(order.chunk(), order.segment(), 0);
    const uint32_t at = scratch.Slot(number);
    const uint32_t bytes = extents.SegmentBytes(order.chunk(), order.segment());
    Semaphore done(RingDone(kLane) + slot);
    passed_on.WaitAtLeast(until[slot]);
    if (until[slot] == 0) done.WaitAtLeast(words.chunks.slices * use);
    until[slot] = order.index() < words.schedule.forwarded ? ++forwarded : 0;
    WritesFlushedBarrier();
    if (bytes != 0) {
      in.Await();
      in.Take(at, bytes);
    }
    if (adds) {
      IncrementOnAdders(words, arrived, 1);
    } else {
      done.Set(use + 1);
      extents.Segment(place, at, [&](uint32_t page, uint32_t offset, uint32_t from, uint32_t size) {
        Write(from, result.At(page, offset), size);
      });
    }
  }
  AwaitSums(words, number);
  WriteBarrier();
  IncrementBarrier();
}

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<RingWords>();
  const Scratch scratch;
  const Stopwatch watch(words);
  Receive(words, scratch);
  watch.Stop(1, scratch.Stamp(1));
}
