// A circular buffer as an object, as TT-Metalium's kernels of 2026 name it, on the functions of its index.
#pragma once

#include <ttfd/metal/names.h>

class CircularBuffer {
 public:
  explicit CircularBuffer(uint32_t index) : index_(index) {}

  void reserve_back(uint32_t pages) const { cb_reserve_back(index_, pages); }
  void push_back(uint32_t pages) const { cb_push_back(index_, pages); }
  void wait_front(uint32_t pages) const { cb_wait_front(index_, pages); }
  void pop_front(uint32_t pages) const { cb_pop_front(index_, pages); }
#if !TTFD_COMPUTE
  uint32_t get_write_ptr() const { return ::get_write_ptr(index_); }
  uint32_t get_read_ptr() const { return ::get_read_ptr(index_); }
#endif

 private:
  uint32_t index_;
};
