// Arrays of a TTMetal program in the memory of the client.
#include "client/ttmlir/src/host_array.h"

#include <cstring>

#include "client/ttmlir/src/metal_launch.h"
#include "ttfd/tiles.h"

namespace ttfd::ttmlir {
namespace {

using client::DataFormat;
using client::Result;
using client::Status;
using tensor::DType;
using tensor::Tensor;

bool IsInteger(const HostSpec& spec) {
  return !spec.type.is_bfloat16 && spec.type.basic != Basic::kF32;
}

// Calls `function` with the place of each element, in their order; places are below the volume.
template <typename Function>
void ForEachPlace(const HostSpec& spec, Function function) {
  std::vector<int64_t> at(spec.extents.size());
  uint64_t place = 0;
  for (uint64_t left = spec.elements(); left != 0; --left) {
    function(place);
    for (size_t i = at.size(); i-- > 0;) {
      place += static_cast<uint64_t>(spec.strides[i]);
      if (++at[i] != spec.extents[i]) break;
      place -= static_cast<uint64_t>(spec.strides[i]) * static_cast<uint64_t>(spec.extents[i]);
      at[i] = 0;
    }
  }
}

// Rows and columns of the matrix that tiles are made of.
std::pair<uint32_t, uint32_t> MatrixOf(const HostSpec& spec) {
  const auto columns = static_cast<uint32_t>(spec.extents.back());
  return {static_cast<uint32_t>(spec.elements() / columns), columns};
}

}  // namespace

tensor::TensorSpec SpecOf(const HostSpec& spec) {
  DType dtype = spec.type.is_bfloat16 ? DType::kBFloat16 : DType::kFloat32;
  if (IsInteger(spec)) dtype = DType::kUInt32;
  return {tensor::Shape(std::vector<uint32_t>(spec.extents.begin(), spec.extents.end())), dtype,
          tensor::Layout::kRowMajor};
}

std::vector<std::byte> HostArray::Elements() const {
  const uint64_t size = BytesOf(spec_.type.basic);
  std::vector<std::byte> elements(spec_.elements() * size);
  uint64_t at = 0;
  ForEachPlace(spec_, [&](uint64_t place) {
    std::memcpy(&elements[at], &bytes_[place * size], size);
    at += size;
  });
  return elements;
}

void HostArray::SetElements(std::span<const std::byte> elements) {
  const uint64_t size = BytesOf(spec_.type.basic);
  uint64_t at = 0;
  ForEachPlace(spec_, [&](uint64_t place) {
    std::memcpy(&bytes_[place * size], &elements[at], size);
    at += size;
  });
}

Status HostArray::Take(const Tensor& tensor) {
  if (!IsInteger(spec_)) {
    std::vector<float> numbers(spec_.elements());
    if (Status status = tensor.ToHost(std::span(numbers)); !status.ok()) return status;
    const auto elements = client::ToElements(numbers, FormatOf(spec_.dtype));
    if (!elements.ok()) return elements.status();
    SetElements(*elements);
    return Status();
  }
  std::vector<uint32_t> integers(spec_.elements());
  if (Status status = tensor.ToHost(std::span(integers)); !status.ok()) return status;
  const uint64_t size = BytesOf(spec_.type.basic);
  std::vector<std::byte> elements(integers.size() * size);
  for (size_t i = 0; i < integers.size(); ++i) std::memcpy(&elements[i * size], &integers[i], size);
  SetElements(elements);
  return Status();
}

Result<Tensor> HostArray::Give(tensor::Card& card) const {
  const std::vector<std::byte> elements = Elements();
  const tensor::TensorSpec spec = SpecOf(spec_);
  Tensor made;
  if (!IsInteger(spec_)) {
    const auto numbers = client::FromElements(elements, FormatOf(spec_.dtype));
    if (!numbers.ok()) return numbers.status();
    made = card.FromHost(*numbers, spec.shape, spec.dtype, spec.layout);
  } else {
    const uint64_t size = BytesOf(spec_.type.basic);
    std::vector<uint32_t> integers(spec_.elements());
    for (size_t i = 0; i < integers.size(); ++i)
      std::memcpy(&integers[i], &elements[i * size], size);
    made = card.FromHost(integers, spec.shape, spec.layout);
  }
  if (!made.ok()) return made.status();
  return made;
}

Result<std::vector<std::byte>> HostArray::Tiles() const {
  const DataFormat format = FormatOf(spec_.dtype);
  const auto numbers = client::FromElements(Elements(), format);
  if (!numbers.ok()) return numbers.status();
  const auto [rows, columns] = MatrixOf(spec_);
  return client::ToTiles(*numbers, rows, columns, format);
}

Status HostArray::TakeTiles(std::span<const std::byte> tiles) {
  const DataFormat format = FormatOf(spec_.dtype);
  const auto [rows, columns] = MatrixOf(spec_);
  const auto numbers = client::FromTiles(tiles, rows, columns, format);
  if (!numbers.ok()) return numbers.status();
  const auto elements = client::ToElements(*numbers, format);
  if (!elements.ok()) return elements.status();
  SetElements(*elements);
  return Status();
}

}  // namespace ttfd::ttmlir
