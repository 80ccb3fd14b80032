// Operations of the table that rotate pairs of elements by the angles of their position.
#include <string>
#include <utility>
#include <vector>

#include "client/tensor/src/composition.h"
#include "client/tensor/src/lower_matmul.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;

constexpr size_t kRotated = 0, kCos = 1, kSin = 2, kTrans = 3;  // inputs

// Two halves of the last extent of the inputs `first` and `second`, which may be the same, as one tensor.
Tensor JoinHalves(const Composition& steps, const std::vector<Tensor>& inputs, uint32_t first,
                  uint64_t first_half, uint32_t second, uint64_t second_half) {
  const TensorSpec& spec = inputs[0].spec();
  const uint32_t half = spec.shape.columns() / 2;
  std::vector<MoveLevel> levels;
  const std::vector<uint64_t> strides = StridesOf(spec.shape);
  for (size_t d = 0; d < spec.shape.rank(); ++d) levels.push_back({0, spec.shape[d], strides[d]});
  MoveSource low = {.input = first, .offset = first_half * half, .levels = levels};
  MoveSource high = {.input = second, .offset = second_half * half - half, .levels = levels};
  low.levels.back().end = half;
  high.levels.back().begin = half;
  return steps.Move(inputs, spec,
                    {.sizes = ExtentsOf(spec.shape), .sources = {std::move(low), std::move(high)}});
}

// x, and cos and sin, which have the columns of x and can be broadcast to it, but for the rows.
Status CheckRotary(const Call& call) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const TensorSpec& x = call.spec(kRotated);
  if (x.shape.rank() != 4) {
    return call.InputError(kRotated, "it must have four extents: users, heads, rows, columns");
  }
  for (const size_t i : {kCos, kSin}) {
    const Shape& shape = call.spec(i).shape;
    bool matches = shape.rank() == 4 && shape[3] == x.shape[3];
    for (size_t d = 0; matches && d < 2; ++d) matches = shape[d] == 1 || shape[d] == x.shape[d];
    if (!matches) {
      return call.InputError(i,
                             "it must have four extents, the columns of x, and one or as many "
                             "users and heads, as " +
                                 x.shape.ToString());
    }
  }
  if (call.spec(kCos).shape == call.spec(kSin).shape) return Status();
  return call.InputError(kSin,
                         "it must have the shape of cos, " + call.spec(kCos).shape.ToString());
}

// Rows of cos or sin from `first` on.
Tensor RowsOf(const Composition& steps, const Tensor& angles, uint32_t first, uint32_t rows) {
  const Shape& shape = angles.shape();
  if (first == 0 && rows == shape[2]) return angles;
  const std::vector<int64_t> ends = {shape[0], shape[1], int64_t{first} + rows, shape[3]};
  return steps.Run("slice", {angles},
                   {{"begins", std::vector<int64_t>{0, 0, first, 0}}, {"ends", ends}});
}

// x * cos + turned * sin.
Outputs Combined(const Call& call, const Composition& steps, const Tensor& cos, const Tensor& sin,
                 const Tensor& turned) {
  using ops::Combine;
  const Tensor kept = steps.Compute(Combine::kMultiply, {call.input(kRotated), cos});
  const Tensor moved = steps.Compute(Combine::kMultiply, {turned, sin});
  return OutputOf(steps.Compute(Combine::kAdd, {kept, moved}, {}, call.spec(kRotated).dtype));
}

Outputs RunRotaryEmbedding(const Call& call) {
  if (Status status = CheckRotary(call); !status.ok()) return status;
  const Shape &x = call.spec(kRotated).shape, &angles = call.spec(kCos).shape;
  const int64_t token = call.attribute<int64_t>("token_index");
  if (token < -1 || token >= int64_t{angles[2]}) {
    return call.Error("token_index", "is " + std::to_string(token) +
                                         "; it must be -1 or a row of " + angles.ToString());
  }
  if (token == -1 && angles[2] < x[2]) {
    return call.InputError(kCos, "it must have the " + std::to_string(x[2]) + " rows of x");
  }
  if (x[3] % 2 != 0) return call.InputError(kRotated, "its last extent must be even");
  if (call.spec(kRotated).dtype == DType::kBfp8 || call.spec(kSin).dtype == DType::kBfp8) {
    return call.InputError(kRotated, "the dtype of x and sin must be bfloat16 or float32");
  }
  const uint32_t first = token == -1 ? 0 : static_cast<uint32_t>(token);
  const uint32_t rows = token == -1 ? x[2] : 1;
  const Composition steps(call);
  const Tensor cos = RowsOf(steps, call.input(kCos), first, rows);
  const Tensor sin = RowsOf(steps, call.input(kSin), first, rows);
  // The halves of x exchanged, times a sine whose first half is negative.
  const Tensor negative = steps.Run("neg", {sin});
  if (!negative.ok()) return negative.status();
  const Tensor signed_sin = JoinHalves(steps, {sin, negative}, 1, 0, 0, 1);
  const Tensor turned = JoinHalves(steps, {call.input(kRotated)}, 0, 1, 0, 0);
  return Combined(call, steps, cos, signed_sin, turned);
}

// Each 32 columns of x times `trans`: x as a matrix of one column of tiles.
Outputs TurnTiles(const Call& call) {
  const TensorSpec& x = call.spec(kRotated);
  const TensorSpec tiles = {{x.tiles() * kTileExtent, kTileExtent}, x.dtype};
  const TensorSpec trans = {{kTileExtent, kTileExtent}, call.spec(kTrans).dtype};
  const TensorSpec product = {tiles.shape, DType::kFloat32};
  Result<Lowering> lowering = LowerMatmul({}, tiles, trans, nullptr, product, call.limits());
  if (!lowering.ok()) return lowering.status();
  for (KernelWords& kernel : lowering->kernels) {
    for (KernelWords::Address& address : kernel.addresses) {
      if (address.tensor == 1) address.tensor = kTrans;
    }
  }
  return call.Run({x.shape, DType::kFloat32}, lowering);
}

Outputs RunRotaryEmbeddingLlama(const Call& call) {
  if (Status status = CheckRotary(call); !status.ok()) return status;
  const Shape &x = call.spec(kRotated).shape, &angles = call.spec(kCos).shape;
  const bool decode = call.attribute<bool>("decode");
  if (decode ? angles[2] != 1 && angles[2] != x[2] : angles[2] < x[2]) {
    return call.InputError(kCos, std::string("it must have ") + (decode ? "one row, or" : "") +
                                     " the " + std::to_string(x[2]) + " rows of x");
  }
  if (x[3] % kTileExtent != 0) {
    return call.InputError(kRotated, "its last extent must be a multiple of 32");
  }
  const Shape& trans = call.spec(kTrans).shape;
  if (trans.columns() != kTileExtent || trans.rows() % kTileExtent != 0) {
    return call.InputError(kTrans, "it must have 32 columns, and rows in multiples of 32");
  }
  const Composition steps(call);
  const uint32_t rows = decode ? angles[2] : x[2];
  const Tensor cos = RowsOf(steps, call.input(kCos), 0, rows);
  const Tensor sin = RowsOf(steps, call.input(kSin), 0, rows);
  Outputs turned = TurnTiles(call);
  if (!turned.ok()) return turned;
  return Combined(call, steps, cos, sin, turned->front());
}

}  // namespace

void AddRotaryOperations(std::vector<Operation>* operations) {
  operations->push_back(
      {{"rotary_embedding",
        {{"x"}, {"cos"}, {"sin"}},
        {{"token_index", int64_t{-1}, "row of cos and sin for all rows of x; -1: that of the row"}},
        "x * cos + r * sin, where r is the second half of each row of x, negative, and then the "
        "first half."},
       RunRotaryEmbedding});
  operations->push_back(
      {{"rotary_embedding_llama",
        {{"x"}, {"cos"}, {"sin"}, {"trans_mat"}},
        {{"decode", false, "rows of x are heads, of which cos and sin have one row for each user"}},
        "x * cos + r * sin, where r is each 32 columns of x times the first 32 rows of trans_mat."},
       RunRotaryEmbeddingLlama});
}

}  // namespace ttfd::tensor
