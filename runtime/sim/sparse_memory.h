// Zero-filled memory that costs address space until it is touched, then 4 KiB at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/base/status.h"

namespace ttfd::sim {

class SparseMemory {
 public:
  // RESOURCE_EXHAUSTED when the address space is not to be had.
  static StatusOr<SparseMemory> Map(uint64_t size_bytes);

  SparseMemory() = default;
  SparseMemory(SparseMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  SparseMemory& operator=(SparseMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~SparseMemory();

  std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  SparseMemory(std::byte* data, uint64_t size) : data_(data), size_(size) {}

  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace ttfd::sim
