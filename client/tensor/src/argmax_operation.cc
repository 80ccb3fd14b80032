// The operation of the table that finds the greatest element of each row.
#include <utility>
#include <vector>

#include "client/tensor/src/composition.h"
#include "client/tensor/src/operations.h"
#include "firmware/ops/argmax_words.h"
#include "ttfd/tiles.h"

namespace ttfd::tensor {
namespace {

// `output` has an element for each row of `input`.
Lowering LowerArgmax(const TensorSpec& input, const TensorSpec& output, const CardLimits& limits) {
  constexpr uint32_t kAlignment = 64;
  ops::Argmax words = {};
  words.input = {0, 1, input.shape.rows(), input.shape.columns()};
  words.unit_bytes = ElementBytes(input.dtype);
  words.output = {0, 0, output.shape.rows(), output.shape.columns()};
  const auto page = static_cast<uint32_t>(client::TileBytes(FormatOf(input.dtype)));
  Lowering lowering = {.family = Family::kArgmax};
  lowering.circular_buffers = {
      {0, (ops::kArgmaxMemory + kAlignment + page - 1) / page, FormatOf(input.dtype)}};
  lowering.kernels = {{WordsOf(words),
                       {{WordOf(offsetof(ops::Argmax, input)), 0},
                        {WordOf(offsetof(ops::Argmax, output)), Lowering::kOutput}}}};
  Divide(output.shape.elements(), input.tile_columns(), limits, &lowering);
  return lowering;
}

Result<std::vector<Tensor>> RunArgmax(const Call& call) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const TensorSpec& x = call.spec(0);
  if (x.dtype == DType::kBfp8) return call.InputError(0, "the dtype must be bfloat16 or float32");
  const Result<size_t> dim = DimOf(call, 1);
  if (!dim.ok()) return dim.status();
  std::vector<uint32_t> extents = ExtentsOf(x.shape);
  extents.pop_back();
  const TensorSpec output = {Shape(extents.empty() ? std::vector<uint32_t>{1} : extents),
                             DType::kUInt32, Layout::kRowMajor};
  Result<std::vector<Tensor>> made = call.Run(output, LowerArgmax(x, output, call.limits()));
  if (!made.ok() || !call.attribute<bool>("keepdim")) return made;
  if (!extents.empty()) extents.push_back(1);
  return OutputOf(Composition(call).Reshape(
      made->front(), extents.empty() ? output.shape : Shape(std::move(extents))));
}

}  // namespace

void AddArgmaxOperation(std::vector<Operation>* operations) {
  operations->push_back(
      {{"argmax",
        {{"x"}},
        {DimAttribute(), {"keepdim", false, "the extent stays, as 1"}},
        "Numbers of the greatest elements along the last extent, uint32 in layout row_major; of "
        "equal elements the first."},
       RunArgmax});
}

}  // namespace ttfd::tensor
