// A ring all_gather of one direction: each chip's chunk travels round the ring. NCRISC sends, for which
// a sender is cheaper than on BRISC, which receives.
//
// Common arguments: 0 link end to the next chip, 1 link end to the chip before, 2 chips, 3 number of this one,
// 4 segments of a chunk, 5 bytes of a segment, 6 L1 address of the chunks of all chips, one behind the other, this
// chip's in its place, 7 L1 address of a word that is 0: segments taken, 8 L1 address of the sender's report: clocks at
// its begin and end.
#include <ttfd/kernel.h>
#include <ttfd/link.h>

using namespace ttfd::kernel;

namespace {

uint32_t Clock() { return ttfd::firmware::Load(ttfd::hw::kWallClockLow); }

// Places of segments in their order: chunk `first` and then each chunk before, round the ring.
class Places {
 public:
  explicit Places(uint32_t first)
      : segments_(CommonArgument(4)),
        bytes_(CommonArgument(5)),
        begin_(CommonArgument(6)),
        all_(CommonArgument(2) * segments_ * bytes_),
        at_(begin_ + first * segments_ * bytes_) {}
  uint32_t Next() {
    const uint32_t at = at_;
    at_ += bytes_;
    if (++in_chunk_ != segments_) return at;
    in_chunk_ = 0;
    const uint32_t back = 2 * segments_ * bytes_;
    at_ = at_ - begin_ < back ? at_ + all_ - back : at_ - back;
    return at;
  }

 private:
  const uint32_t segments_, bytes_, begin_, all_;
  uint32_t at_;
  uint32_t in_chunk_ = 0;
};

}  // namespace

void kernel_main() {
  const uint32_t chips = CommonArgument(2);
  const uint32_t own = CommonArgument(3);
  const uint32_t segments = CommonArgument(4);
  const uint32_t bytes = CommonArgument(5);
  const uint32_t total = (chips - 1) * segments;
  const uint32_t taken_address = CommonArgument(7);
  if (kHart == ttfd::hw::kBrisc) {
    LinkIn in(CommonArgument(1));
    Places places((own == 0 ? chips : own) - 1);
    for (uint32_t taken = 1; taken <= total; ++taken) {
      in.Await();
      in.Take(places.Next(), bytes);
      ttfd::firmware::Store(taken_address, taken);
    }
    return;
  }
  auto* const report = L1Pointer<volatile uint32_t>(CommonArgument(8));
  LinkOut out(CommonArgument(0));
  Places places(own);
  report[0] = Clock();
  for (uint32_t sent = 0; sent != total; ++sent) {
    if (sent >= segments) {
      const uint32_t need = sent - segments;
      ttfd::firmware::WaitForMemory(ttfd::abi::kWaypointLink,
                                    [=] { return ttfd::firmware::Load(taken_address) > need; });
    }
    out.AwaitSpace();
    out.Send(places.Next(), bytes);
  }
  ttfd::firmware::WaitForMemory(ttfd::abi::kWaypointLink,
                                [=] { return ttfd::firmware::Load(taken_address) == total; });
  report[1] = Clock();
}
