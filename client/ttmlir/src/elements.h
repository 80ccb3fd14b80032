// Elements of tensors in a file.
#pragma once

#include <optional>
#include <string_view>

#include "client/ttmlir/src/record.h"

namespace ttfd::ttmlir {

struct ElementType {
  Basic basic = Basic::kF32;
  bool is_bfloat16 = false;  // the upper half of a float32, in place of `basic`
};

// "Float32", "BFloat16", "Int32", "UInt32", "UInt16" or "UInt8"; none: another one.
std::optional<ElementType> ElementTypeNamed(std::string_view name);

// Element `i` of `data`.
double ElementOf(const ElementType& type, Bytes data, uint64_t i);

}  // namespace ttfd::ttmlir
