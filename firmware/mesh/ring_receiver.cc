// Receives chunks from the chip before and writes them to their places in the gathered buffer. BRISC, words RingWords.
#include <ttfd/kernel.h>
#include <ttfd/link.h>

#include "firmware/mesh/ring.h"

using namespace ttfd::kernel;
using namespace ttfd::mesh;

namespace {

void Receive(const RingWords& words, const Scratch& scratch) {
  LinkIn in(words.end);
  const Extents extents(words);
  const InterleavedBuffer gathered(words.gathered, words.page_bytes);
  Semaphore written(kRingWritten);
  uint32_t segment = 0;
  // The sender may pass on all segments before `segment`.
  const auto hand_over = [&] {
    WriteBarrier();
    written.Set(segment);
  };
  uint32_t chunk = words.first;
  for (uint32_t left = words.chunks; left != 0; --left, chunk = extents.After(chunk)) {
    Extents::Place to = extents.Chunk(chunk);
    while (to.page != to.end) {
      const uint32_t at = scratch.Segment(segment);
      // The next one may come only after this chip has passed on the last one.
      ttfd::firmware::WaitUntil(ttfd::abi::kWaypointLink,
                                [&] { return !in.empty() || WritesHaveLanded(); });
      if (in.empty()) hand_over();
      in.Await();
      in.Take(at, extents.SegmentBytes(to));
      hand_over();  // the writes had all this time
      ++segment;
      extents.Segment(gathered, to, at, [](NocAddress page, uint32_t from, uint32_t size) {
        Write(from, page, size);
      });
    }
  }
  hand_over();
}

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<RingWords>();
  const Scratch scratch(kRingReceiverScratch);
  const Stopwatch watch(words, scratch);
  if (words.chunks != 0) Receive(words, scratch);
  watch.Stop();
}
