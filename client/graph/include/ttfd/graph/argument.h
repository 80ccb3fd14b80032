// An argument of a task: a word, or a buffer, whose address the task's function gets.
#pragma once

#include <bit>
#include <cstdint>

#include "ttfd/resources.h"

namespace ttfd::graph {

class Argument {
 public:
  // Arguments are written as a list of words and buffers: {a, b, 128 * 128}.
  // NOLINTBEGIN(google-explicit-constructor)
  Argument(uint32_t word) : value_(word) {}
  Argument(int32_t word) : value_(static_cast<uint32_t>(word)) {}
  // The bits of the number.
  Argument(float number) : value_(std::bit_cast<uint32_t>(number)) {}
  // The buffer must exist when the graph runs.
  Argument(const client::Buffer& buffer) : value_(buffer.handle()), is_buffer_(true) {}
  // NOLINTEND(google-explicit-constructor)
  // The same by its handle.
  static Argument OfBuffer(uint64_t handle) {
    Argument argument(uint32_t{0});
    argument.value_ = handle;
    argument.is_buffer_ = true;
    return argument;
  }

  bool is_buffer() const { return is_buffer_; }
  // REQUIRES is_buffer(). Buffer::handle().
  uint64_t buffer() const { return value_; }
  // REQUIRES !is_buffer().
  uint32_t word() const { return static_cast<uint32_t>(value_); }

 private:
  uint64_t value_;
  bool is_buffer_ = false;
};

}  // namespace ttfd::graph
