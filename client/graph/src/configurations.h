// The configurations of a graph as pages for the card (layout::Configuration).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "client/graph/src/error.h"
#include "ttfd/graph/graph.h"

namespace ttfd::graph {

class Configurations {
 public:
  // Packs another one. `index_of` gives the index of a buffer among those of the graph. INVALID_ARGUMENT: it does not
  // fit a page, or the indices of circular buffers are too high.
  Status Add(const ConfigurationOptions& options,
             const std::function<uint32_t(uint64_t)>& index_of);

  uint32_t size() const { return static_cast<uint32_t>(used_.size()); }
  // Bytes of a configuration that the worker reads.
  uint32_t UsedBytes(uint32_t number) const { return used_[number]; }
  // All of them, a page each.
  std::span<const std::byte> pages() const { return pages_; }
  // Bytes for the circular buffers of any of them.
  uint32_t arena_bytes() const { return arena_bytes_; }

 private:
  std::vector<std::byte> pages_;
  std::vector<uint32_t> used_;
  uint32_t arena_bytes_ = 0;
};

}  // namespace ttfd::graph
