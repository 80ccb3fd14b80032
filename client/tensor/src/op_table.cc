// The table of operations, and calls by name.
#include <algorithm>

#include "client/tensor/src/card_state.h"
#include "client/tensor/src/error.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

class OpTable {
 public:
  static const OpTable& Get() {
    static const OpTable table;
    return table;
  }

  std::span<const OperationInfo> infos() const { return infos_; }

  // Null: there is none of that name.
  const Operation* Find(std::string_view name) const {
    const auto found = std::lower_bound(
        operations_.begin(), operations_.end(), name,
        [](const Operation& operation, std::string_view key) { return operation.info.name < key; });
    return found != operations_.end() && found->info.name == name ? &*found : nullptr;
  }

 private:
  OpTable() {
    AddEltwiseOperations(&operations_);
    AddFunctionOperations(&operations_);
    AddIntegerOperations(&operations_);
    AddMatmulOperations(&operations_);
    AddMoveOperations(&operations_);
    AddCacheOperations(&operations_);
    AddAttentionOperations(&operations_);
    AddReduceOperations(&operations_);
    AddRowsOperations(&operations_);
    AddArgmaxOperation(&operations_);
    AddPagedCacheOperations(&operations_);
    AddDecodeHeadsOperations(&operations_);
    AddRotaryOperations(&operations_);
    AddConvolutionOperations(&operations_);
    AddPoolOperations(&operations_);
    std::sort(operations_.begin(), operations_.end(),
              [](const Operation& a, const Operation& b) { return a.info.name < b.info.name; });
    for (const Operation& operation : operations_) infos_.push_back(operation.info);
  }

  std::vector<Operation> operations_;  // by name
  std::vector<OperationInfo> infos_;
};

// A recording of the operation fails as well.
void NoteError(std::span<const Tensor> inputs, const Status& error) {
  for (const Tensor& input : inputs) {
    if (input.ok() && input.storage()->allocation() != nullptr) {
      input.storage()->allocation()->card()->NoteError(error);
    }
  }
}

Result<std::vector<Tensor>> Run(std::string_view name, std::span<const Tensor> inputs,
                                const Attributes& attributes) {
  const Operation* const operation = OpTable::Get().Find(name);
  if (operation == nullptr) {
    return Invalid("name", "there is no operation \"" + std::string(name) + "\"");
  }
  const Result<Call> call = Call::Make(operation->info, inputs, attributes);
  Result<std::vector<Tensor>> outputs = call.ok() ? operation->run(*call) : call.status();
  if (!outputs.ok()) NoteError(inputs, outputs.status());
  return outputs;
}

}  // namespace

OperationInfo::AttributeInfo DTypeAttribute() {
  return {"dtype", std::string(), "of the output: bfloat16, float32 or bfp8; empty: the input's"};
}

OperationInfo::AttributeInfo ActivationAttribute() {
  return {"activation", std::string(),
          "name of a function of one tensor that is applied before rounding; empty: none"};
}

const char* TypeName(const Attribute& attribute) {
  constexpr const char* kNames[] = {"bool", "integer", "number", "string", "list of integers"};
  static_assert(std::variant_size_v<Attribute> == std::size(kNames));
  return kNames[attribute.index()];
}

OperationInfo::AttributeInfo DimAttribute() {
  return {"dim", int64_t{-1}, "number of the extent, from the end if it is negative"};
}

Result<size_t> DimOf(const Call& call, size_t last) {
  const int64_t dim = call.attribute<int64_t>("dim");
  const Shape& shape = call.spec(0).shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  const int64_t least = -std::min(rank, static_cast<int64_t>(last));
  const int64_t from_end = dim < 0 ? dim : dim - rank;
  if (from_end >= least && from_end < 0) return static_cast<size_t>(rank + from_end);
  return call.Error("dim", "is " + std::to_string(dim) + "; it must be " +
                               (least == -1 ? "-1" : "-1 or " + std::to_string(least)) + ", of " +
                               shape.ToString() + "; permute other extents to there");
}

bool IsRowOf(const Shape& shape, uint32_t columns) {
  return shape.elements() == columns && shape.columns() == columns;
}

std::span<const OperationInfo> Operations() { return OpTable::Get().infos(); }

std::vector<Tensor> Apply(std::string_view name, std::span<const Tensor> inputs,
                          const Attributes& attributes) {
  Result<std::vector<Tensor>> outputs = Run(name, inputs, attributes);
  if (outputs.ok()) return *std::move(outputs);
  return {Tensor(outputs.status())};
}

}  // namespace ttfd::tensor
