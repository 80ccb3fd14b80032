// Buffers of tensors on the card, kept for the next tensor of their size.
//
// A buffer that comes back may be in use by launches that have been enqueued. Its next use is enqueued after them on
// the same queue, so nothing waits for them.
//
// The launches of a recording use their buffers again in each replay. A recording has a pool of its own, within which
// its operations share buffers; they come back to the card's pool after the last replay.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "ttfd/session.h"

namespace ttfd::tensor {

class BufferPool {
 public:
  // The pool of a card, which allocates; both outlive the pools of its recordings.
  explicit BufferPool(client::Session* session) : session_(session) {}
  // That of a recording.
  explicit BufferPool(BufferPool* parent) : parent_(parent) {}

  // A buffer with any content. When the card has no memory left, its pool's free buffers are freed first.
  client::Result<client::Buffer> Take(uint64_t size_bytes, uint32_t page_bytes);
  void Return(client::Buffer buffer);
  // The recording is gone: all buffers, and those that come back from now on, go to the card's pool.
  void Close();

  uint64_t free_bytes() const { return free_bytes_; }

 private:
  using Size = std::pair<uint64_t, uint32_t>;  // bytes, of a page

  client::Session* session_ = nullptr;
  BufferPool* parent_ = nullptr;
  bool is_closed_ = false;
  std::multimap<Size, client::Buffer> free_;
  uint64_t free_bytes_ = 0;
};

}  // namespace ttfd::tensor
