// Buffers of chunks in DRAM, for the kernels of a lane (ring_words.h).
#pragma once

#include <stdint.h>
#include <ttfd/kernel.h>

#include "firmware/mesh/chunks.h"

namespace ttfd::mesh {

// A buffer in DRAM, by pages of the numbering of chunks.
class Pages {
 public:
  Pages(uint32_t address, uint32_t page_bytes, uint32_t first)
      : buffer_(address, page_bytes), first_(first) {}
  kernel::NocAddress At(uint32_t page, uint32_t offset) const {
    return buffer_.Page(first_ + page, offset);
  }

 private:
  kernel::InterleavedBuffer buffer_;
  uint32_t first_;
};

inline Pages OwnPages(const RingWords& words) {
  return {words.buffers.own, words.chunks.page_bytes, words.buffers.own_page};
}
inline Pages ResultPages(const RingWords& words) {
  return {words.buffers.result, words.chunks.page_bytes, words.buffers.result_page};
}

}  // namespace ttfd::mesh
