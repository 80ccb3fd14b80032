// Products of matrices of the table.
#include <string>
#include <utility>
#include <vector>

#include "client/tensor/src/broadcast.h"
#include "client/tensor/src/lower_matmul.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

constexpr size_t kA = 0, kB = 1, kBias = 2;  // inputs

Shape BatchOf(const Shape& shape) {
  std::vector<uint32_t> extents(shape.extents().begin(), shape.extents().end());
  extents.resize(extents.size() < 2 ? 0 : extents.size() - 2);
  return Shape(std::move(extents));
}

// Shape of the product; an error if the factors do not match.
Result<Shape> ProductShape(const Call& call, bool transpose_b) {
  const Shape& a = call.spec(kA).shape;
  const Shape& b = call.spec(kB).shape;
  if (b.rank() < 2) return call.InputError(kB, "it must have two extents at least");
  const uint32_t inner = transpose_b ? b.columns() : b.rows();
  if (a.columns() != inner) {
    return call.InputError(kB, "its inner extent " + std::to_string(inner) +
                                   " must be that of a, " + std::to_string(a.columns()) + " of " +
                                   a.ToString());
  }
  const Shape batches[] = {BatchOf(a), BatchOf(b)};
  const std::optional<Shape> batch = BroadcastShape(batches);
  if (!batch) {
    return call.InputError(kB, "its batch cannot be broadcast with that of " + a.ToString());
  }
  std::vector<uint32_t> extents(batch->extents().begin(), batch->extents().end());
  if (a.rank() > 1) extents.push_back(a.rows());
  extents.push_back(transpose_b ? b.rows() : b.columns());
  return Shape(std::move(extents));
}

Status CheckBias(const Call& call, const Shape& product) {
  if (IsRowOf(call.spec(kBias).shape, product.columns())) return Status();
  return call.InputError(
      kBias, "it must be one row of " + std::to_string(product.columns()) + " elements");
}

Result<std::vector<Tensor>> RunMatmul(const Call& call) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const bool transpose_b = call.attribute<bool>("transpose_b");
  const int64_t fidelity = call.attribute<int64_t>("fidelity");
  if (fidelity < 1 || fidelity > 4) {
    return call.Error("fidelity", "is " + std::to_string(fidelity) + "; it must be 1 to 4");
  }
  Result<ChainSteps> chain = ActivationOf(call);
  if (!chain.ok()) return chain.status();
  const Result<DType> dtype = call.OutputType(kA);
  if (!dtype.ok()) return dtype.status();
  Result<Shape> shape = ProductShape(call, transpose_b);
  if (!shape.ok()) return shape.status();
  const bool has_bias = call.inputs() > kBias;
  if (has_bias) {
    if (Status status = CheckBias(call, *shape); !status.ok()) return status;
  }
  const TensorSpec output = {*std::move(shape), *dtype, Layout::kTile};
  const MatmulOperation operation = {transpose_b, static_cast<uint32_t>(fidelity),
                                     *std::move(chain)};
  return call.Run(output,
                  LowerMatmul(operation, call.spec(kA), call.spec(kB),
                              has_bias ? &call.spec(kBias) : nullptr, output, call.limits()));
}

}  // namespace

void AddMatmulOperations(std::vector<Operation>* operations) {
  const std::vector<OperationInfo::AttributeInfo> attributes = {
      {"transpose_b", false, "b is [..., n, k] in place of [..., k, n]"},
      {"fidelity", int64_t{4}, "passes of a product, 1 to 4"},
      ActivationAttribute(),
      DTypeAttribute()};
  operations->push_back(
      {{"matmul", {{"a"}, {"b"}}, attributes, "Matrix products, [..., m, k] times [..., k, n]."},
       RunMatmul});
  operations->push_back({{"linear",
                          {{"a"}, {"b"}, {"bias", true}},
                          attributes,
                          "Matrix products, plus a bias of [n]."},
                         RunMatmul});
}

}  // namespace ttfd::tensor
