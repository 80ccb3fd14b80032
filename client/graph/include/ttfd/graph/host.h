// A graph without a card: what its functions do, as functions of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include "ttfd/resources.h"

namespace ttfd::graph {

// An argument of a task, as the host form of its function sees it.
struct HostArgument {
  uint32_t word = 0;
  uint64_t handle = 0;               // of a buffer; 0: a word
  std::span<std::byte> buffer = {};  // memory bound to it
};

// Arguments as the task has them. Must not change the graph.
using HostFunction = std::function<void(std::span<const HostArgument>)>;

// Host memory that stands for buffers of the card.
class HostMemory {
 public:
  // `bytes` outlives the runs.
  void Bind(const client::Buffer& buffer, std::span<std::byte> bytes) {
    Bind(buffer.handle(), bytes);
  }
  void Bind(uint64_t handle, std::span<std::byte> bytes) { bound_[handle] = bytes; }
  // Null: none is bound.
  const std::span<std::byte>* Find(uint64_t handle) const {
    const auto found = bound_.find(handle);
    return found == bound_.end() ? nullptr : &found->second;
  }

 private:
  std::map<uint64_t, std::span<std::byte>> bound_;
};

}  // namespace ttfd::graph
