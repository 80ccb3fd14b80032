// Golden tensors: what operations should give, as the compiler computed it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/ttmlir/src/record.h"

namespace ttfd::ttmlir {

struct GoldenTensor {
  std::vector<int64_t> shape;
  std::vector<float> numbers;  // the last extent runs fastest
};

// Compares two lists of the same length.
struct Closeness {
  double correlation = 0;     // Pearson's; 1 if both are constant and equal
  double relative_error = 0;  // the norm of the difference over that of `wanted`
};
Closeness ClosenessOf(const std::vector<float>& made, const std::vector<float>& wanted);

// That of the first chip, of a location of the program such as `loc("add.3")`, or of "input_0", "output_0" and the
// like; none: the file has none, or of another type than float32, bfloat16 and integers, or its data does not fill its
// shape.
std::optional<GoldenTensor> GoldenOf(const Record& program, std::string_view key);

}  // namespace ttfd::ttmlir
