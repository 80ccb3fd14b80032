// An operation as launches of a family of kernels, as a value: checked against the card's limits before anything is
// enqueued, and compared with golden text in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "client/tensor/src/core_set.h"
#include "client/tensor/src/family.h"
#include "firmware/ops/words.h"
#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::tensor {

// Limits of a card that lowerings depend on.
struct CardLimits {
  uint32_t cores = 0;                  // that operations may use
  uint32_t circular_buffer_bytes = 0;  // on a worker
  uint32_t launch_products = 0;        // longest launch, in products of two tiles
};

// Common words of a kernel.
struct KernelWords {
  struct Address {
    uint32_t word = 0;
    uint32_t tensor = 0;  // index of an input; Lowering::kOutput
    bool operator==(const Address&) const = default;
  };
  std::vector<uint32_t> words = {};
  std::vector<Address> addresses = {};
  bool operator==(const KernelWords&) const = default;
};

// The words of a layout of firmware/ops/words.h.
template <typename Layout>
std::vector<uint32_t> WordsOf(const Layout& layout) {
  static_assert(sizeof(Layout) % sizeof(uint32_t) == 0);
  std::vector<uint32_t> words(sizeof(Layout) / sizeof(uint32_t));
  std::memcpy(words.data(), &layout, sizeof(Layout));
  return words;
}

// Index of the word at an offset in a layout.
constexpr uint32_t WordOf(size_t offset) {
  return static_cast<uint32_t>(offset / sizeof(uint32_t));
}

struct CircularBufferUse {
  uint32_t index = 0;
  uint32_t pages = 0;
  client::DataFormat format = client::DataFormat::kNone;
  bool operator==(const CircularBufferUse&) const = default;
  bool operator<(const CircularBufferUse& other) const {
    return std::tie(index, pages, format) < std::tie(other.index, other.pages, other.format);
  }
};

struct Lowering {
  static constexpr uint32_t kOutput = UINT32_MAX;

  Family family = Family::kEltwise;
  uint32_t cores = 0;
  std::vector<CircularBufferUse> circular_buffers = {};
  // In the order of FamilyInfo::words. Their ops::Cores come first and are filled in for each launch.
  std::vector<KernelWords> kernels = {};
  // Items of all launches together, and of one at most.
  uint32_t items = 0;
  uint32_t items_per_launch = 0;

  bool operator==(const Lowering&) const = default;

  uint32_t launches() const { return (items + items_per_launch - 1) / items_per_launch; }
  // INVALID_ARGUMENT: the circular buffers need more L1 than a worker has for them.
  client::Status Check(const CardLimits& limits) const;
  // For golden tests: a line for each part.
  std::string ToText() const;
};

// Sets the items of a lowering and divides them between cores and launches: `products` is the cost of an item, in
// products of two tiles.
void Divide(uint64_t items, uint64_t products, const CardLimits& limits, Lowering* lowering);

// The words of launch `index` for a kernel of `lowering`.
std::vector<uint32_t> LaunchWords(const Lowering& lowering, const KernelWords& kernel,
                                  uint32_t index, const CoreSet& cores);

}  // namespace ttfd::tensor
