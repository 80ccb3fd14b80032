// A call of an operation: its arguments, checked as far as the table describes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/tensor/src/lowering.h"
#include "client/tensor/src/storage.h"
#include "ttfd/tensor/apply.h"

namespace ttfd::tensor {

class Call {
 public:
  // Checks the number of inputs, that they are tensors of one card, and that the attributes are known and of their
  // type; those that are missing get their standard value. An error of an input is returned as it is.
  static Result<Call> Make(const OperationInfo& info, std::span<const Tensor> inputs,
                           const Attributes& attributes);

  std::string_view name() const { return info_.name; }
  size_t inputs() const { return inputs_.size(); }
  const TensorSpec& spec(size_t i) const { return inputs_[i].spec(); }
  std::vector<TensorSpec> specs() const;

  // REQUIRES that the table has an attribute of that name and type.
  template <typename Type>
  const Type& attribute(std::string_view name) const {
    return std::get<Type>(attributes_.find(name)->second);
  }

  // INVALID_ARGUMENT that names the operation and the argument.
  Status Error(std::string_view argument, const std::string& message) const;
  // For input `i`: "<its spec>, <rule>".
  Status InputError(size_t i, const std::string& rule) const;

  // The attribute `dtype`, or the type of input `i` if it is empty.
  Result<DType> OutputType(size_t i) const;
  // Error unless each input has layout tile and a type that operations compute with.
  Status RequireTiles() const;
  Status RequireTiles(size_t i) const;  // of input `i`

  const Tensor& input(size_t i) const { return inputs_[i]; }
  // Whether two inputs are the same memory.
  bool IsSame(size_t i, size_t j) const { return allocations_[i] == allocations_[j]; }

  const CardLimits& limits() const;
  // Error that names the output, unless `output` and the lowering are within limits.
  Status Check(const TensorSpec& output, const Result<Lowering>& lowering) const;
  // Checks `output` and the lowering, and enqueues it.
  Result<std::vector<Tensor>> Run(const TensorSpec& output, const Result<Lowering>& lowering) const;
  // The same for several outputs, which are all checked before the first is enqueued.
  Result<std::vector<Tensor>> RunAll(std::span<const TensorSpec> outputs,
                                     std::span<const Result<Lowering>> lowerings) const;
  // The same, but the output is input `i`, in place.
  Result<std::vector<Tensor>> RunInPlace(size_t i, const Result<Lowering>& lowering) const;

 private:
  std::string_view NameOf(size_t input) const {
    return info_.inputs[std::min(input, info_.inputs.size() - 1)].name;
  }
  Call(const OperationInfo& info, std::span<const Tensor> inputs) : info_(info), inputs_(inputs) {}

  const OperationInfo& info_;
  std::span<const Tensor> inputs_;
  std::vector<std::shared_ptr<Allocation>> allocations_;  // of the inputs
  Attributes attributes_;
};

}  // namespace ttfd::tensor
