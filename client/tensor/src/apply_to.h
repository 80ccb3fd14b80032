// Calls of operations that have one output.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "ttfd/tensor/apply.h"

namespace ttfd::tensor {

template <size_t kInputs>
Tensor ApplyTo(std::string_view name, const Tensor (&inputs)[kInputs],
               const Attributes& attributes = {}) {
  return std::move(Apply(name, inputs, attributes).front());
}

}  // namespace ttfd::tensor
