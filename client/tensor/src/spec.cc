// Shapes, and how many bytes their tensors have.
#include "ttfd/tensor/spec.h"

#include "client/tensor/src/error.h"
#include "ttfd/tiles.h"

namespace ttfd::tensor {
namespace {

constexpr uint64_t kRowAlignment = 64;  // of DRAM pages, so that rows are at one place in all banks

uint64_t RoundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

uint64_t Shape::elements() const {
  uint64_t product = extents_.empty() ? 0 : 1;
  for (const uint32_t extent : extents_) product *= extent;
  return product;
}

uint64_t Shape::matrices() const {
  uint64_t product = 1;
  for (size_t i = 0; i + 2 < rank(); ++i) product *= extents_[i];
  return product;
}

std::string Shape::ToString() const {
  std::string text = "[";
  for (size_t i = 0; i < rank(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(extents_[i]);
  }
  text += "]";
  return text;
}

const char* DTypeName(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kFloat32:
      return "float32";
    case DType::kBfp8:
      return "bfp8";
    case DType::kUInt32:
      return "uint32";
  }
  return "unknown";
}

client::DataFormat FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
      return client::DataFormat::kFloat16B;
    case DType::kFloat32:
      return client::DataFormat::kFloat32;
    case DType::kBfp8:
      return client::DataFormat::kBfp8B;
    case DType::kUInt32:
      return client::DataFormat::kInt32;
  }
  return client::DataFormat::kNone;
}

uint32_t ElementBytes(DType dtype) {
  if (dtype == DType::kBfp8) return 0;
  return dtype == DType::kBFloat16 ? 2 : 4;
}

const char* LayoutName(Layout layout) { return layout == Layout::kTile ? "tile" : "row_major"; }

Status TensorSpec::Check() const {
  if (shape.rank() == 0 || shape.rank() > Shape::kMaxRank) {
    return Invalid("shape", "a shape has 1 to " + std::to_string(Shape::kMaxRank) +
                                " extents, not " + std::to_string(shape.rank()));
  }
  if (FormatOf(dtype) == client::DataFormat::kNone) return Invalid("dtype", "unknown dtype");
  if (dtype == DType::kBfp8 && layout != Layout::kTile) {
    return Invalid("layout", "bfp8 has layout tile only, not row_major");
  }
  // No product below overflows: it is compared before the next factor.
  uint64_t bytes = uint64_t{RoundUp(shape.rows(), 32)} * 4;
  for (size_t i = 0; i < shape.rank(); ++i) {
    const uint64_t extent = i + 1 == shape.rank() ? RoundUp(shape[i], 32) : shape[i];
    if (extent == 0) return Invalid("shape", "extents are at least 1: " + shape.ToString());
    if (i + 2 == shape.rank()) continue;  // rows
    if (bytes > kMaxBytes / extent) {
      return Invalid("shape", "a tensor of " + shape.ToString() + " needs more than " +
                                  std::to_string(kMaxBytes) + " bytes");
    }
    bytes *= extent;
  }
  return Status();
}

uint32_t TensorSpec::tiles() const {
  return static_cast<uint32_t>(shape.matrices() * tile_rows() * tile_columns());
}

uint32_t TensorSpec::page_bytes() const {
  if (layout == Layout::kTile) return client::TileBytes(FormatOf(dtype));
  return static_cast<uint32_t>(
      RoundUp(uint64_t{shape.columns()} * ElementBytes(dtype), kRowAlignment));
}

uint64_t TensorSpec::size_bytes() const {
  const uint64_t pages = layout == Layout::kTile ? tiles() : shape.matrices() * shape.rows();
  return pages * page_bytes();
}

std::string TensorSpec::ToString() const {
  return std::string(DTypeName(dtype)) + " " + shape.ToString() + " in layout " +
         LayoutName(layout);
}

}  // namespace ttfd::tensor
