// Matching shapes.
#include "client/tensor/src/broadcast.h"

#include <algorithm>

namespace ttfd::tensor {

std::optional<Shape> BroadcastShape(std::span<const Shape> shapes) {
  size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.rank());
  std::vector<uint32_t> extents(rank, 1);
  for (const Shape& shape : shapes) {
    for (size_t i = 0; i < shape.rank(); ++i) {
      uint32_t& extent = extents[rank - shape.rank() + i];
      if (extent == 1) extent = shape[i];
      if (shape[i] != extent && shape[i] != 1) return std::nullopt;
    }
  }
  return Shape(std::move(extents));
}

}  // namespace ttfd::tensor
