// Adds two vectors of 32-bit integers: c = a + b, modulo 2^32. One hart (BRISC) a tile.
//
// a, b and c are interleaved DRAM buffers with pages of the same size, a multiple of 64 bytes; all of a page is added, so the host
// pads the last one.
//
//   common argument 0, 1, 2   base addresses of a, b, c
//   common argument 3         page_bytes
//   per core argument 0       first page of this tile
//   per core argument 1       pages of this tile; may be 0
//   circular buffer 0         6 pages of page_bytes: scratch
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

namespace {

// `words` is a multiple of 16.
void Add(const uint32_t* a, const uint32_t* b, uint32_t* c, uint32_t words) {
  for (const uint32_t* const end = a + words; a != end; a += 8, b += 8, c += 8) {
    // Loads first: on this in-order core an L1 load takes eight clocks, and eight of them overlap.
    const uint32_t a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4], a5 = a[5], a6 = a[6],
                   a7 = a[7];
    const uint32_t b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3], b4 = b[4], b5 = b[5], b6 = b[6],
                   b7 = b[7];
    c[0] = a0 + b0;
    c[1] = a1 + b1;
    c[2] = a2 + b2;
    c[3] = a3 + b3;
    c[4] = a4 + b4;
    c[5] = a5 + b5;
    c[6] = a6 + b6;
    c[7] = a7 + b7;
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

  // Two sets of a, b, c: one is worked on while the next pages travel into the other.
  const uint32_t scratch = CircularBuffer(0).Reserve(6);
  const uint32_t set_bytes = 3 * page_bytes;
  const auto start_read = [&](uint32_t page) {
    const uint32_t set = scratch + (page & 1) * set_bytes;
    const ReadGroup group = static_cast<ReadGroup>(page & 1);
    Read(a.Page(page), set, page_bytes, group);
    Read(b.Page(page), set + page_bytes, page_bytes, group);
  };

  if (first != end) {
    start_read(first);
  }
  for (uint32_t page = first; page != end; ++page) {
    if (page + 1 != end) {
      start_read(page + 1);
    }
    ReadBarrier(static_cast<ReadGroup>(page & 1));
    WritesLeftBarrier();  // the sum of two pages ago has left its place
    const uint32_t set = scratch + (page & 1) * set_bytes;
    Add(L1Pointer<const uint32_t>(set), L1Pointer<const uint32_t>(set + page_bytes),
        L1Pointer<uint32_t>(set + 2 * page_bytes), page_bytes / 4);
    Write(set + 2 * page_bytes, c.Page(page), page_bytes);
  }
}
