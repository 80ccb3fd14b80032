// The end of a page of a circular buffer, in writers.
#pragma once

#include <stdint.h>
#include <ttfd/kernel.h>

namespace ttfd::ops {

// Calls `write(L1 address)` for the next page, and gives it back as soon as that may be.
template <typename Function>
[[gnu::always_inline]] inline void WritePage(kernel::CircularBuffer& pages, Function write) {
  write(pages.Wait());
  kernel::WritesFlushedBarrier();
  pages.Pop();
}

}  // namespace ttfd::ops
