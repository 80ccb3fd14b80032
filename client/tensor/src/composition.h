// Operations that are made of several launches.
#pragma once

#include <string_view>
#include <vector>

#include "client/tensor/src/call.h"
#include "client/tensor/src/lower_eltwise.h"
#include "client/tensor/src/lower_move.h"
#include "ttfd/tensor/apply.h"

namespace ttfd::tensor {

// The steps of a call. Each makes a tensor of tensors of the call's card; an error of an input becomes that of the
// tensor. Intermediate tensors are float32, with which elementwise operations compute.
class Composition {
 public:
  explicit Composition(const Call& call) : name_(call.name()) {}

  // Combines tensors of tiles, broadcast as NumPy does. Broadcast elements of float32 are cut to 10 bits.
  Tensor Compute(ops::Combine combine, const std::vector<Tensor>& inputs, ChainSteps chain = {},
                 DType dtype = DType::kFloat32) const;
  Tensor Compute(const Tensor& x, ChainSteps chain, DType dtype = DType::kFloat32) const {
    return Compute(ops::Combine::kNone, {x}, std::move(chain), dtype);
  }
  Tensor Move(const std::vector<Tensor>& inputs, const TensorSpec& output,
              const MoveOperation& operation) const;
  // An operation of the table.
  Tensor Run(std::string_view name, const std::vector<Tensor>& inputs,
             const Attributes& attributes = {}) const {
    return Apply(name, inputs, attributes).front();
  }
  Tensor Reshape(const Tensor& x, const Shape& shape) const;
  // `x`, repeated where `shape` is greater.
  Tensor BroadcastTo(const Tensor& x, const Shape& shape) const;

 private:
  std::string_view name_;
};

// The last step as the result of the call.
inline Result<std::vector<Tensor>> OutputOf(Tensor tensor) {
  if (!tensor.ok()) return tensor.status();
  return std::vector<Tensor>{std::move(tensor)};
}

// All of input `i`, whose levels are extents of the output with these strides.
MoveSource WholeSource(uint32_t i, const Shape& output, const std::vector<uint64_t>& strides);
std::vector<uint32_t> ExtentsOf(const Shape& shape);
// "[1, -2]"
std::string ListText(const std::vector<int64_t>& numbers);

}  // namespace ttfd::tensor
