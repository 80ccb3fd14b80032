// Sends this chip's chunk to the next chip and passes on the chunks that its receiver has written. NCRISC, words
// RingWords.
#include <ttfd/kernel.h>
#include <ttfd/link.h>

#include "firmware/mesh/ring.h"

using namespace ttfd::kernel;
using namespace ttfd::mesh;

namespace {

class Sender {
 public:
  Sender(const RingWords& words, const Scratch& scratch)
      : extents_(words),
        own_(words.own, words.page_bytes),
        gathered_(words.gathered, words.page_bytes),
        scratch_(scratch),
        total_(words.chunks * extents_.segments()),
        chunk_(words.first),
        from_(extents_.Chunk(0)),
        to_(extents_.Chunk(words.first)) {}

  void Run(uint32_t end) {
    LinkOut out(end);
    for (uint32_t segment = 0; segment != total_; ++segment) {
      if (begun_ == segment) {
        written_.WaitAtLeast(Need());
        BeginRead();
      }
      ReadBarrier(Group(segment));
      const bool is_own = segment < extents_.segments();
      const uint32_t at = scratch_.Segment(segment);
      // One more travels while this one is sent.
      if (begun_ != total_ && static_cast<int32_t>(written_.value() - Need()) >= 0) BeginRead();
      if (is_own)
        extents_.Segment(gathered_, to_, at, [](NocAddress to, uint32_t from, uint32_t bytes) {
          Write(from, to, bytes);
        });
      out.AwaitSpace();
      out.Send(at, bytes_[segment & 1]);
      if (is_own) WritesFlushedBarrier();
    }
    WriteBarrier();
  }

 private:
  static ReadGroup Group(uint32_t segment) { return static_cast<ReadGroup>(segment & 1); }

  // Segments that must have been written before the next read.
  uint32_t Need() const {
    return begun_ < extents_.segments() ? 0 : begun_ - extents_.segments() + 1;
  }
  void BeginRead() {
    const bool is_own = begun_ < extents_.segments();
    bytes_[begun_ & 1] =
        extents_.Segment(is_own ? own_ : gathered_, from_, scratch_.Segment(begun_),
                         [group = Group(begun_)](NocAddress from, uint32_t to, uint32_t bytes) {
                           Read(from, to, bytes, group);
                         });
    ++begun_;
    if (from_.page == from_.end) {
      chunk_ = extents_.After(chunk_);
      from_ = extents_.Chunk(chunk_);
    }
  }

  const Extents extents_;
  const InterleavedBuffer own_, gathered_;
  const Scratch scratch_;
  const Semaphore written_{kRingWritten};
  const uint32_t total_;
  uint32_t chunk_;          // that is read
  Extents::Place from_;     // the next that is read
  Extents::Place to_;       // the next of this chip's chunk in the gathered buffer
  uint32_t begun_ = 0;      // segments whose reads have begun
  uint32_t bytes_[2] = {};  // of the segments in scratch
};

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<RingWords>();
  const Scratch scratch(kRingSenderScratch);
  const Stopwatch watch(words, scratch);
  if (words.chunks != 0) Sender(words, scratch).Run(words.end);
  watch.Stop();
}
