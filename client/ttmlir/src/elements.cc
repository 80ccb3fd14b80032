// Elements of tensors in a file.
#include "client/ttmlir/src/elements.h"

#include <array>
#include <bit>

namespace ttfd::ttmlir {

std::optional<ElementType> ElementTypeNamed(std::string_view name) {
  struct Row {
    std::string_view name;
    ElementType type;
  };
  static constexpr std::array<Row, 6> kRows = {{{"Float32", {Basic::kF32, false}},
                                                {"BFloat16", {Basic::kU16, true}},
                                                {"Int32", {Basic::kI32, false}},
                                                {"UInt32", {Basic::kU32, false}},
                                                {"UInt16", {Basic::kU16, false}},
                                                {"UInt8", {Basic::kU8, false}}}};
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

double ElementOf(const ElementType& type, Bytes data, uint64_t i) {
  const uint64_t at = i * BytesOf(type.basic);
  if (!type.is_bfloat16) return RealAt(data, at, type.basic);
  return std::bit_cast<float>(static_cast<uint32_t>(LoadAt<uint16_t>(data, at)) << 16);
}

}  // namespace ttfd::ttmlir
