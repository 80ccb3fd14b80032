// Sends this chip's chunks to the next chip and passes on segments from the slots of its receiver. Words RingWords.
#include <ttfd/kernel.h>
#include <ttfd/link.h>

#include "firmware/mesh/link_worker.h"
#include "firmware/mesh/ring.h"
#include "firmware/mesh/stopwatch.h"

using namespace ttfd::kernel;
using namespace ttfd::mesh;

namespace {

class Sender {
 public:
  Sender(const RingWords& words, const Scratch& scratch, const Extents& extents)
      : words_(words),
        scratch_(scratch),
        extents_(extents),
        own_(OwnPages(words)),
        result_(ResultPages(words)),
        read_(words, words.schedule.own_chunks, words.schedule.own_first) {}

  void Run() {
    Order own(words_, words_.schedule.own_chunks, words_.schedule.own_first);
    Order received(words_, words_.schedule.forwarded, words_.schedule.received_first);
    if (own.done() && received.done()) return;
    LinkOut out(words_.schedule.out_end);
    while (!own.done() || !received.done()) {
      if (!own.done() && (received.done() || own.group() <= received.group())) {
        SendOwn(own, out);
        own.Next();
      } else {
        PassOn(received, out);
        received.Next();
      }
    }
    WriteBarrier();
  }

 private:
  [[gnu::always_inline]] void SendOwn(const Order& own, LinkOut& out) {
    if (begun_ == sent_) BeginRead();
    const uint32_t at = scratch_.Own(sent_);
    const uint32_t bytes = bytes_[sent_ & 1];
    ReadBarrier(Group(sent_));
    if (!read_.done()) BeginRead();  // one more travels while this one is sent
    if (words_.buffers.copies_own != 0) {
      extents_.Segment(extents_.At(own.chunk(), own.segment(), 0), at,
                       [this](uint32_t page, uint32_t offset, uint32_t from, uint32_t size) {
                         Write(from, result_.At(page, offset), size);
                       });
    }
    if (bytes != 0) {
      out.AwaitSpace();
      out.Send(at, bytes);
    }
    WritesFlushedBarrier();
    ++sent_;
  }

  [[gnu::always_inline]] void PassOn(const Order& received, LinkOut& out) {
    const uint32_t number = received.NumberAmong(words_.schedule.received);
    const Semaphore done(RingDone(kLane) + number % kRingSlots);
    done.WaitAtLeast(words_.chunks.slices * (number / kRingSlots + 1));
    const uint32_t bytes = extents_.SegmentBytes(received.chunk(), received.segment());
    if (bytes != 0) {
      out.AwaitSpace();
      out.Send(scratch_.Slot(number), bytes);
    }
    all_passed_on_.Set(++passed_on_);
  }

  static ReadGroup Group(uint32_t segment) { return static_cast<ReadGroup>(segment & 1); }

  void BeginRead() {
    bytes_[begun_ & 1] = extents_.SegmentBytes(read_.chunk(), read_.segment());
    extents_.Segment(
        extents_.At(read_.chunk(), read_.segment(), 0), scratch_.Own(begun_),
        [this, group = Group(begun_)](uint32_t page, uint32_t offset, uint32_t to, uint32_t size) {
          Read(own_.At(page, offset), to, size, group);
        });
    ++begun_;
    read_.Next();
  }

  const RingWords& words_;
  const Scratch& scratch_;
  const Extents& extents_;
  const Pages own_, result_;
  Semaphore all_passed_on_{RingPassedOn(kLane)};
  Order read_;              // of this chip's segments: the next that is read
  uint32_t begun_ = 0;      // of this chip's segments: whose reads have begun,
  uint32_t sent_ = 0;       // and that are sent
  uint32_t passed_on_ = 0;  // of those that are received
  uint32_t bytes_[2] = {};  // of the segments in scratch
};

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<RingWords>();
  const Scratch scratch;
  const Stopwatch watch(words);
  const Extents extents(words.chunks);
  Sender(words, scratch, extents).Run();
  watch.Stop(0, scratch.Stamp(0));
}
