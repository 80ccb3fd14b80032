// Buffers of tensors on the card, kept for the next tensor of their size.
//
// A buffer that comes back may be in use by launches that have been enqueued. Its next use is enqueued after them on
// the same queue, so nothing waits for them.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "ttfd/session.h"

namespace ttfd::tensor {

class BufferPool {
 public:
  explicit BufferPool(client::Session* session) : session_(session) {}

  // A buffer with any content. When the card has no memory left, the pool's free buffers are freed first.
  client::Result<client::Buffer> Take(uint64_t size_bytes, uint32_t page_bytes);
  void Return(client::Buffer buffer);

  uint64_t free_bytes() const { return free_bytes_; }

 private:
  using Size = std::pair<uint64_t, uint32_t>;  // bytes, of a page

  client::Session* session_;
  std::multimap<Size, client::Buffer> free_;
  uint64_t free_bytes_ = 0;
};

}  // namespace ttfd::tensor
