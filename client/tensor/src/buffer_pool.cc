// Buffers for tensors.
#include "client/tensor/src/buffer_pool.h"

namespace ttfd::tensor {

client::Result<client::Buffer> BufferPool::Take(uint64_t size_bytes, uint32_t page_bytes) {
  const auto found = free_.find({size_bytes, page_bytes});
  if (found != free_.end()) {
    client::Buffer buffer = std::move(found->second);
    free_.erase(found);
    free_bytes_ -= size_bytes;
    return buffer;
  }
  if (parent_ != nullptr) return parent_->Take(size_bytes, page_bytes);
  client::Result<client::Buffer> buffer =
      session_->AllocateDram(size_bytes, {.page_bytes = page_bytes});
  if (buffer.status().code() != client::Code::kResourceExhausted || free_.empty()) return buffer;
  free_.clear();
  free_bytes_ = 0;
  return session_->AllocateDram(size_bytes, {.page_bytes = page_bytes});
}

void BufferPool::Return(client::Buffer buffer) {
  if (is_closed_) return parent_->Return(std::move(buffer));
  free_bytes_ += buffer.size_bytes();
  const Size size = {buffer.size_bytes(), buffer.page_bytes()};
  free_.emplace(size, std::move(buffer));
}

void BufferPool::Close() {
  is_closed_ = true;
  for (auto& [size, buffer] : free_) parent_->Return(std::move(buffer));
  free_.clear();
  free_bytes_ = 0;
}

}  // namespace ttfd::tensor
