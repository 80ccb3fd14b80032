// Elements of tensors, by the conversions of <ttfd/tiles.h>: matrix by matrix, or row by row.
#include "client/tensor/src/elements.h"

#include <algorithm>
#include <cstdint>

#include "ttfd/tiles.h"

namespace ttfd::tensor {
namespace {

// A part of a tensor that is converted at once, which begins a page.
struct Part {
  uint64_t count;     // of them
  uint64_t elements;  // of each
  uint64_t bytes;     // of the pages of each
};

// Integers are moved as the bits of floats, which the conversion to kFloat32 keeps.
client::DataFormat HostFormatOf(DType dtype) {
  return FormatOf(dtype == DType::kUInt32 ? DType::kFloat32 : dtype);
}

Part PartOf(const TensorSpec& spec) {
  const Shape& shape = spec.shape;
  if (spec.layout == Layout::kRowMajor) {
    return {shape.matrices() * shape.rows(), shape.columns(), spec.page_bytes()};
  }
  return {shape.matrices(), uint64_t{shape.rows()} * shape.columns(),
          uint64_t{spec.tile_rows()} * spec.tile_columns() * spec.page_bytes()};
}

}  // namespace

std::vector<std::byte> PagesOf(std::span<const float> elements, const TensorSpec& spec) {
  const client::DataFormat format = HostFormatOf(spec.dtype);
  const Part part = PartOf(spec);
  std::vector<std::byte> pages(spec.size_bytes());
  for (uint64_t i = 0; i < part.count; ++i) {
    const auto numbers = elements.subspan(i * part.elements, part.elements);
    const Result<std::vector<std::byte>> bytes =
        spec.layout == Layout::kTile
            ? client::ToTiles(numbers, spec.shape.rows(), spec.shape.columns(), format)
            : client::ToElements(numbers, format);
    std::copy(bytes->begin(), bytes->end(), pages.begin() + static_cast<ptrdiff_t>(i * part.bytes));
  }
  return pages;
}

void StoreElements(std::span<const std::byte> pages, const TensorSpec& spec,
                   std::span<float> elements) {
  const client::DataFormat format = HostFormatOf(spec.dtype);
  const Part part = PartOf(spec);
  for (uint64_t i = 0; i < part.count; ++i) {
    const auto bytes = pages.subspan(i * part.bytes, part.bytes);
    const Result<std::vector<float>> numbers =
        spec.layout == Layout::kTile
            ? client::FromTiles(bytes, spec.shape.rows(), spec.shape.columns(), format)
            : client::FromElements(bytes, format);
    std::copy_n(numbers->begin(), part.elements,
                elements.begin() + static_cast<ptrdiff_t>(i * part.elements));
  }
}

}  // namespace ttfd::tensor
