// c = a + b, element by element, on 32-bit integers modulo 2^32 (signed or unsigned). BRISC.
//
// Common arguments: 0, 1, 2 base addresses of a, b, c in interleaved DRAM; 3 page bytes (multiple of
// 64, the same for all three). Per core: 0 first page, 1 number of pages.
// Circular buffer 0: scratch, at least 4 pages of that size.
//
// Two pairs of pages: one is added while the other is on its way. The sum replaces a.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

void Add(uint32_t* a, const uint32_t* b, uint32_t bytes) {
  // Pages are multiples of 64 bytes: 16 words a trip, all loads in front of the stores they feed.
  for (const uint32_t* const end = a + bytes / 4; a != end; a += 8, b += 8) {
    const uint32_t a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    const uint32_t b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
    const uint32_t a4 = a[4], a5 = a[5], a6 = a[6], a7 = a[7];
    a[0] = a0 + b0, a[1] = a1 + b1, a[2] = a2 + b2, a[3] = a3 + b3;
    const uint32_t b4 = b[4], b5 = b[5], b6 = b[6], b7 = b[7];
    a[4] = a4 + b4, a[5] = a5 + b5, a[6] = a6 + b6, a[7] = a7 + b7;
  }
}

}  // namespace

void kernel_main() {
  const uint32_t page_bytes = CommonArgument(3);
  const InterleavedBuffer a(CommonArgument(0), page_bytes);
  const InterleavedBuffer b(CommonArgument(1), page_bytes);
  const InterleavedBuffer c(CommonArgument(2), page_bytes);
  const uint32_t first = Argument(0);
  const uint32_t end = first + Argument(1);
  const uint32_t scratch = CircularBuffer(0).address();
  const auto slot = [&](uint32_t which) { return scratch + which * 2 * page_bytes; };
  const auto start = [&](uint32_t page, uint32_t which) {
    const ReadGroup group = which == 0 ? ReadGroup::kFirst : ReadGroup::kSecond;
    Read(a.Page(page), slot(which), page_bytes, group);
    Read(b.Page(page), slot(which) + page_bytes, page_bytes, group);
  };
  if (first == end) {
    return;
  }
  start(first, 0);
  for (uint32_t page = first, which = 0; page != end; ++page, which ^= 1) {
    if (page + 1 != end) {
      WritesFlushedBarrier();  // of the sum that was in the other pair
      start(page + 1, which ^ 1);
    }
    ReadBarrier(which == 0 ? ReadGroup::kFirst : ReadGroup::kSecond);
    Add(L1Pointer<uint32_t>(slot(which)), L1Pointer<uint32_t>(slot(which) + page_bytes),
        page_bytes);
    Write(slot(which), c.Page(page), page_bytes);
  }
}
