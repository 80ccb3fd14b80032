// The elements of a tensor as the pages of its buffer, and back.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

// `elements` has spec.shape.elements() numbers. Of kUInt32: numbers that have the bits of the integers.
std::vector<std::byte> PagesOf(std::span<const float> elements, const TensorSpec& spec);

// `pages` has spec.size_bytes(). Of kUInt32: as above.
std::vector<float> ElementsOf(std::span<const std::byte> pages, const TensorSpec& spec);

}  // namespace ttfd::tensor
