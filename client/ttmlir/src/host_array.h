// Arrays of a TTMetal program in the memory of the client.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "client/ttmlir/src/metal_plan.h"
#include "ttfd/tensor/card.h"

namespace ttfd::ttmlir {

// The tensor of an array: in rows, of the type of tensors next to its own.
tensor::TensorSpec SpecOf(const HostSpec& spec);

// One thread.
class HostArray {
 public:
  HostArray() = default;
  // Zeros.
  explicit HostArray(HostSpec spec) : spec_(std::move(spec)), bytes_(spec_.bytes()) {}

  const HostSpec& spec() const { return spec_; }
  std::span<std::byte> bytes() { return bytes_; }

  // All elements, the last extent fastest, without those between.
  std::vector<std::byte> Elements() const;
  void SetElements(std::span<const std::byte> elements);

  // The elements of a tensor of the same shape and kind of numbers, and a tensor of them in rows.
  client::Status Take(const tensor::Tensor& tensor);
  client::Result<tensor::Tensor> Give(tensor::Card& card) const;

  // Converts numbers that are no integers to tiles of their own type, and back.
  client::Result<std::vector<std::byte>> Tiles() const;
  client::Status TakeTiles(std::span<const std::byte> tiles);

 private:
  HostSpec spec_;
  std::vector<std::byte> bytes_;
};

}  // namespace ttfd::ttmlir
