// Reductions of the table.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/tensor/src/lower_reduce.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;

// The tiles of both shapes hold the same elements at the same places.
bool HaveEqualTiles(const Shape& a, const Shape& b) {
  return a.rows() == b.rows() && a.columns() == b.columns() && a.matrices() == b.matrices();
}

Outputs RunReduce(const Call& call, ReduceOperation operation) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const TensorSpec& input = call.spec(0);
  const size_t rank = input.shape.rank();
  const Result<size_t> dim = DimOf(call, 2);
  if (!dim.ok()) return dim.status();
  const Result<DType> dtype = call.OutputType(0);
  if (!dtype.ok()) return dtype.status();
  operation.to_row = *dim + 1 != rank;

  std::vector<uint32_t> extents(input.shape.extents().begin(), input.shape.extents().end());
  extents[*dim] = 1;
  const TensorSpec kept = {Shape(extents), *dtype};
  TensorSpec output = kept;
  if (!call.attribute<bool>("keepdim") && rank > 1) {
    extents.erase(extents.begin() + static_cast<ptrdiff_t>(*dim));
    output.shape = Shape(extents);
  }
  const Lowering lowering = LowerReduce(operation, input, kept, call.limits());
  if (HaveEqualTiles(kept.shape, output.shape)) return call.Run(output, lowering);
  // Tiles of bfp8 cannot be reshaped: the call is refused before the reduction is enqueued.
  if (*dtype == DType::kBfp8) {
    return call.Error("keepdim", "is false; it must be true, because the output is bfp8 and " +
                                     kept.shape.ToString() + " has other tiles than " +
                                     output.shape.ToString());
  }
  const Outputs outputs = call.Run(kept, lowering);
  if (!outputs.ok()) return outputs.status();
  return Apply("reshape", *outputs,
               {{"shape", std::vector<int64_t>(extents.begin(), extents.end())}});
}

template <ops::Pool kPool, bool kMean = false>
Outputs Reduce(const Call& call) {
  return RunReduce(call, {.pool = kPool, .is_mean = kMean});
}

}  // namespace

void AddReduceOperations(std::vector<Operation>* operations) {
  const std::vector<OperationInfo::AttributeInfo> attributes = {
      DimAttribute(), {"keepdim", false, "the extent stays, as 1"}, DTypeAttribute()};
  const auto add = [&](std::string_view name, auto run, std::string_view doc) {
    operations->push_back({{name, {{"x"}}, attributes, doc}, run});
  };
  add("sum", Reduce<ops::Pool::kSum>, "Sums along an extent.");
  add("mean", Reduce<ops::Pool::kSum, true>, "Means along an extent.");
  add("max", Reduce<ops::Pool::kMaximum>, "Greatest elements along an extent.");
  add("min", Reduce<ops::Pool::kMinimum>, "Smallest elements along an extent.");
}

}  // namespace ttfd::tensor
