// The elements of a tensor as the pages of its buffer, and back.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

// `elements` has spec.shape.elements() numbers. Of kUInt32: numbers that have the bits of the integers.
std::vector<std::byte> PagesOf(std::span<const float> elements, const TensorSpec& spec);

// `pages` has spec.size_bytes(), `elements` spec.shape.elements() numbers. Of kUInt32: as above.
void StoreElements(std::span<const std::byte> pages, const TensorSpec& spec,
                   std::span<float> elements);

}  // namespace ttfd::tensor
