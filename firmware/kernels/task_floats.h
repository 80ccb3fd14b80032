// Elements of float32 buffers, page by page, for the tasks task_add, task_add_scalar and task_multiply. The cores have
// no floating point: the compiler's library does it, in about 60 instructions an element.
#pragma once

#include <ttfd/kernel.h>

namespace task_floats {

using namespace ttfd::kernel;

constexpr uint32_t kPageBytes = 2048;  // of every buffer
constexpr uint32_t kPerPage = kPageBytes / sizeof(float);

// Space for `kPages` pages, at a multiple of 64: a kernel is placed at one of 16, and reads of DRAM want 64.
template <uint32_t kPages>
struct Pages {
  alignas(16) uint8_t bytes[kPages * kPageBytes + 64];

  float* operator[](uint32_t page) {
    const uint32_t begin = (L1AddressOf(bytes) + 63) & ~63u;
    return L1Pointer<float>(begin + page * kPageBytes);
  }
};

// to[i] = operation(a[i], b[i]) of `count` elements of DRAM buffers.
template <typename Operation>
inline void Combine(const InterleavedBuffer& a, const InterleavedBuffer& b,
                    const InterleavedBuffer& to, uint32_t count, Operation operation) {
  static Pages<2> pages;
  float* const left = pages[0];
  float* const right = pages[1];
  for (uint32_t page = 0; page * kPerPage < count; ++page) {
    WritesFlushedBarrier();  // of the page before, which lies there
    Read(a.Page(page), L1AddressOf(left), kPageBytes);
    Read(b.Page(page), L1AddressOf(right), kPageBytes);
    ReadBarrier();
    const uint32_t rest = count - page * kPerPage;
    const uint32_t elements = rest < kPerPage ? rest : kPerPage;
    for (uint32_t i = 0; i != elements; ++i) left[i] = operation(left[i], right[i]);
    Write(L1AddressOf(left), to.Page(page), (elements * 4 + 15) & ~15u);
  }
}

}  // namespace task_floats
