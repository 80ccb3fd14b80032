// Reductions of the table.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/tensor/src/composition.h"
#include "client/tensor/src/lower_reduce.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;
using Integers = std::vector<int64_t>;

// The tiles of both shapes hold the same elements at the same places.
bool HaveEqualTiles(const Shape& a, const Shape& b) {
  return a.rows() == b.rows() && a.columns() == b.columns() && a.matrices() == b.matrices();
}

// The extents that are reduced, in ascending order: `dims`, or `dim` if that is empty.
Result<std::vector<size_t>> ReducedDims(const Call& call) {
  const Shape& shape = call.spec(0).shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  const auto& given = call.attribute<Integers>("dims");
  std::vector<size_t> dims;
  for (const int64_t dim : given.empty() ? Integers{call.attribute<int64_t>("dim")} : given) {
    const auto index = static_cast<size_t>(dim < 0 ? dim + rank : dim);
    if (dim < -rank || dim >= rank || std::find(dims.begin(), dims.end(), index) != dims.end()) {
      return given.empty()
                 ? call.Error("dim", "is " + std::to_string(dim) + "; it must be an extent of " +
                                         shape.ToString() + ", " + std::to_string(-rank) + " to " +
                                         std::to_string(rank - 1))
                 : call.Error("dims", "is " + ListText(given) + "; it must have extents of " +
                                          shape.ToString() + ", each once at most");
    }
    dims.push_back(index);
  }
  std::sort(dims.begin(), dims.end());
  return dims;
}

// The shape of the result: 1 in place of extents that are reduced, or without them.
Shape ReducedShape(const Shape& shape, const std::vector<size_t>& dims, bool keepdim) {
  std::vector<uint32_t> extents = ExtentsOf(shape);
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    if (keepdim || extents.size() == 1) {
      extents[*dim] = 1;
    } else {
      extents.erase(extents.begin() + static_cast<ptrdiff_t>(*dim));
    }
  }
  return Shape(std::move(extents));
}

// Along one of the last two extents.
Outputs ReduceMatrices(const Call& call, ReduceOperation operation, size_t dim, DType dtype) {
  const TensorSpec& input = call.spec(0);
  operation.to_row = dim + 1 != input.shape.rank();
  const TensorSpec kept = {ReducedShape(input.shape, {dim}, true), dtype};
  const TensorSpec output = {ReducedShape(input.shape, {dim}, call.attribute<bool>("keepdim")),
                             dtype};
  const Lowering lowering = LowerReduce(operation, input, kept, call.limits());
  if (HaveEqualTiles(kept.shape, output.shape)) return call.Run(output, lowering);
  // Tiles of bfp8 cannot be reshaped: the call is refused before the reduction is enqueued.
  if (dtype == DType::kBfp8) {
    return call.Error("keepdim", "is false; it must be true, because the output is bfp8 and " +
                                     kept.shape.ToString() + " has other tiles than " +
                                     output.shape.ToString());
  }
  const Outputs outputs = call.Run(kept, lowering);
  if (!outputs.ok()) return outputs.status();
  return OutputOf(Composition(call).Reshape(outputs->front(), output.shape));
}

// The elements of extents that are reduced as one extent: the last one, or the one before the last if that is kept.
Tensor Gathered(const Composition& steps, const Tensor& x, const std::vector<size_t>& dims) {
  const Shape& shape = x.shape();
  const size_t last = shape.rank() - 1;
  const bool keeps_last = dims.back() != last;
  Integers order;
  uint64_t rows = 1, reduced = 1;
  for (size_t d = 0; d < shape.rank() - keeps_last; ++d) {
    if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
    order.push_back(static_cast<int64_t>(d));
    rows *= shape[d];
  }
  for (const size_t d : dims) {
    order.push_back(static_cast<int64_t>(d));
    reduced *= shape[d];
  }
  if (keeps_last) order.push_back(static_cast<int64_t>(last));
  Tensor ordered =
      std::is_sorted(order.begin(), order.end()) ? x : steps.Run("permute", {x}, {{"dims", order}});
  if (!ordered.ok()) return ordered;
  std::vector<uint32_t> extents = {static_cast<uint32_t>(rows), static_cast<uint32_t>(reduced)};
  if (keeps_last) extents.push_back(shape[last]);
  return steps.Reshape(ordered, Shape(std::move(extents)));
}

Outputs RunReduce(const Call& call, const ReduceOperation& operation) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const TensorSpec& input = call.spec(0);
  const Result<std::vector<size_t>> dims = ReducedDims(call);
  if (!dims.ok()) return dims.status();
  const Result<DType> dtype = call.OutputType(0);
  if (!dtype.ok()) return dtype.status();
  if (dims->size() == 1 && dims->front() + 2 >= input.shape.rank()) {
    return ReduceMatrices(call, operation, dims->front(), *dtype);
  }
  const Composition steps(call);
  // Elements of bfp8 are those of bfloat16, which move.
  const Tensor x = input.dtype == DType::kBfp8 ? steps.Compute(call.input(0), {}, DType::kBFloat16)
                                               : call.input(0);
  if (!x.ok()) return x.status();
  const DType moved = *dtype == DType::kBfp8 ? DType::kFloat32 : *dtype;
  const int64_t dim = dims->back() + 1 == input.shape.rank() ? -1 : -2;
  const Tensor reduced =
      steps.Run(call.name(), {Gathered(steps, x, *dims)},
                {{"dim", dim}, {"keepdim", true}, {"dtype", std::string(DTypeName(moved))}});
  const Tensor result =
      steps.Reshape(reduced, ReducedShape(input.shape, *dims, call.attribute<bool>("keepdim")));
  return OutputOf(moved == *dtype ? result : steps.Compute(result, {}, *dtype));
}

template <ops::Pool kPool, bool kMean = false>
Outputs Reduce(const Call& call) {
  return RunReduce(call, {.pool = kPool, .is_mean = kMean});
}

// Elements of the first extent from `begin` to `end`.
Tensor PartOf(const Composition& steps, const Tensor& x, int64_t begin, int64_t end) {
  if (!x.ok()) return x;
  Integers begins(x.shape().rank(), 0);
  Integers ends(x.shape().extents().begin(), x.shape().extents().end());
  begins[0] = begin, ends[0] = end;
  return steps.Run("slice", {x}, {{"begins", begins}, {"ends", ends}});
}

// Products along extent `dim`, which becomes 1: halves of it, multiplied with one another until one element is left.
Tensor MultiplyAlong(const Composition& steps, Tensor x, size_t dim) {
  if (!x.ok()) return x;
  Integers order(x.shape().rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[dim]);
  const Attributes dims = {{"dims", order}};
  if (dim != 0) x = steps.Run("permute", {x}, dims);
  while (x.ok() && x.shape()[0] != 1) {
    const int64_t count = x.shape()[0], half = count / 2;
    const Tensor product = steps.Compute(
        ops::Combine::kMultiply, {PartOf(steps, x, 0, half), PartOf(steps, x, half, 2 * half)});
    x = count % 2 == 0 ? product
                       : steps.Run("concat", {product, PartOf(steps, x, count - 1, count)},
                                   {{"dim", int64_t{0}}});
  }
  return dim == 0 ? x : steps.Run("permute", {x}, dims);
}

Outputs RunProd(const Call& call) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const Result<std::vector<size_t>> dims = ReducedDims(call);
  if (!dims.ok()) return dims.status();
  const Result<DType> dtype = call.OutputType(0);
  if (!dtype.ok()) return dtype.status();
  const Composition steps(call);
  Tensor x = steps.Compute(call.input(0), {});
  for (const size_t dim : *dims) x = MultiplyAlong(steps, x, dim);
  const Shape shape = ReducedShape(call.spec(0).shape, *dims, call.attribute<bool>("keepdim"));
  return OutputOf(steps.Compute(steps.Reshape(x, shape), {}, *dtype));
}

// Adds to each element those before it, in steps that double the distance.
Outputs RunCumsum(const Call& call) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const Shape& shape = call.spec(0).shape;
  const int64_t given = call.attribute<int64_t>("dim");
  const auto rank = static_cast<int64_t>(shape.rank());
  if (given < -rank || given >= rank) {
    return call.Error("dim", "is " + std::to_string(given) + "; it must be an extent of " +
                                 shape.ToString() + ", " + std::to_string(-rank) + " to " +
                                 std::to_string(rank - 1));
  }
  const Result<DType> dtype = call.OutputType(0);
  if (!dtype.ok()) return dtype.status();
  const auto dim = static_cast<size_t>(given < 0 ? given + rank : given);
  const std::vector<uint64_t> strides = StridesOf(shape);
  const TensorSpec spec = {shape, DType::kFloat32};
  const Composition steps(call);
  Tensor sums = steps.Compute(call.input(0), {});
  for (uint64_t distance = 1; distance < shape[dim]; distance *= 2) {
    MoveSource source = WholeSource(0, shape, strides);
    source.levels[dim].begin = static_cast<uint32_t>(distance);
    source.offset = 0 - distance * strides[dim];
    const Tensor before = steps.Move({sums}, spec,
                                     {.sizes = ExtentsOf(shape),
                                      .sources = {std::move(source)},
                                      .filling = ops::MoveFilling::kValue});
    sums = steps.Compute(ops::Combine::kAdd, {sums, before});
  }
  return OutputOf(steps.Compute(sums, {}, *dtype));
}

}  // namespace

void AddReduceOperations(std::vector<Operation>* operations) {
  const OperationInfo::AttributeInfo dim = DimAttribute();
  const std::vector<OperationInfo::AttributeInfo> attributes = {
      dim,
      {"dims", Integers(), "numbers of several extents, in place of dim"},
      {"keepdim", false, "extents stay, as 1"},
      DTypeAttribute()};
  const auto add = [&](std::string_view name, auto run, std::string_view doc) {
    operations->push_back({{name, {{"x"}}, attributes, doc}, run});
  };
  add("sum", Reduce<ops::Pool::kSum>, "Sums along extents.");
  add("mean", Reduce<ops::Pool::kSum, true>, "Means along extents.");
  add("max", Reduce<ops::Pool::kMaximum>, "Greatest elements along extents.");
  add("min", Reduce<ops::Pool::kMinimum>, "Smallest elements along extents.");
  add("prod", RunProd, "Products along extents.");
  operations->push_back({{"cumsum",
                          {{"x"}},
                          {dim, DTypeAttribute()},
                          "Sums of each element and those before it along an extent."},
                         RunCumsum});
}

}  // namespace ttfd::tensor
