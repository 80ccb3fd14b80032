// Sends or receives segments over a link. The sender stores the number of each, from 0, into its first word.
//
// Common arguments: 0 link end, 1 segments, 2 bytes of each, 3 L1 address of a buffer, 4 segments in it, one behind
// the other at multiples of kLinkSegmentBytes (the next goes to its start again), 5 1: send, 0: receive, 2:
// send back what is received, 6 L1 address
// of the report: clock when the first segment was sent or taken, clock at the end.
#include <ttfd/kernel.h>
#include <ttfd/link.h>

using namespace ttfd::kernel;

namespace {

uint32_t Clock() { return ttfd::firmware::Load(ttfd::hw::kWallClockLow); }

// Place of each segment.
class Places {
 public:
  Places()
      : begin_(CommonArgument(3)),
        end_(begin_ + CommonArgument(4) * kLinkSegmentBytes),
        at_(begin_) {}
  uint32_t Next() {
    const uint32_t at = at_;
    at_ = at + kLinkSegmentBytes == end_ ? begin_ : at + kLinkSegmentBytes;
    return at;
  }

 private:
  const uint32_t begin_, end_;
  uint32_t at_;
};

}  // namespace

void kernel_main() {
  const uint32_t end = CommonArgument(0);
  const uint32_t segments = CommonArgument(1);
  const uint32_t bytes = CommonArgument(2);
  auto* const report = L1Pointer<volatile uint32_t>(CommonArgument(6));
  Places places;
  if (CommonArgument(5) == 1) {
    LinkOut out(end);
    report[0] = Clock();
    for (uint32_t segment = 0; segment != segments; ++segment) {
      const uint32_t at = places.Next();
      *L1Pointer<volatile uint32_t>(at) = segment;
      out.AwaitSpace();
      out.Send(at, bytes);
    }
  } else if (CommonArgument(5) == 2) {
    LinkIn in(end);
    LinkOut out(end);
    for (uint32_t segment = 0; segment != segments; ++segment) {
      const uint32_t at = places.Next();
      in.Await();
      in.Take(at, bytes);
      out.AwaitSpace();
      out.Send(at, bytes);
    }
  } else {
    LinkIn in(end);
    for (uint32_t segment = 0; segment != segments; ++segment) {
      in.Await();
      in.Take(places.Next(), bytes);
      if (segment == 0) report[0] = Clock();
    }
  }
  report[1] = Clock();
}
