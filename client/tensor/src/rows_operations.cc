// Operations on whole rows of the table.
#include <string>
#include <vector>

#include "client/tensor/src/lower_rows.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;

constexpr size_t kNormed = 0, kNormWeight = 1, kNormBias = 2;  // inputs

Outputs RunRows(const Call& call, const RowsOperation& operation) {
  if (Status status = call.RequireTiles(); !status.ok()) return status;
  const Result<DType> dtype = call.OutputType(kNormed);
  if (!dtype.ok()) return dtype.status();
  const TensorSpec& x = call.spec(kNormed);
  const TensorSpec* rows[3] = {};
  for (size_t i = kNormWeight; i < call.inputs(); ++i) {
    if (!IsRowOf(call.spec(i).shape, x.shape.columns())) {
      return call.InputError(
          i, "it must be one row of " + std::to_string(x.shape.columns()) + " elements");
    }
    rows[i] = &call.spec(i);
  }
  const TensorSpec output = {x.shape, *dtype, Layout::kTile};
  return call.Run(
      output, LowerRows(operation, x, rows[kNormWeight], rows[kNormBias], output, call.limits()));
}

Outputs RunSoftmax(const Call& call) {
  const Result<size_t> dim = DimOf(call, 1);
  return dim.ok() ? RunRows(call, {ops::RowsFunction::kSoftmax}) : dim.status();
}

template <ops::RowsFunction kFunction>
Outputs RunNorm(const Call& call) {
  const double epsilon = call.attribute<double>("epsilon");
  if (!(epsilon >= 0)) {
    return call.Error("epsilon", "is " + std::to_string(epsilon) + "; it must be at least 0");
  }
  return RunRows(call, {kFunction, static_cast<float>(epsilon)});
}

}  // namespace

void AddRowsOperations(std::vector<Operation>* operations) {
  const OperationInfo::AttributeInfo epsilon = {"epsilon", 1e-12, "is added to the mean square"};
  operations->push_back({{"softmax",
                          {{"x"}},
                          {DimAttribute(), DTypeAttribute()},
                          "exp of each element, divided by the sum of those of its row."},
                         RunSoftmax});
  operations->push_back({{"rms_norm",
                          {{"x"}, {"weight", true}, {"bias", true}},
                          {epsilon, DTypeAttribute()},
                          "Rows divided by their root mean square, times a row of weights, plus a "
                          "row of biases."},
                         RunNorm<ops::RowsFunction::kRmsNorm>});
  operations->push_back({{"layer_norm",
                          {{"x"}, {"weight", true}, {"bias", true}},
                          {epsilon, DTypeAttribute()},
                          "Rows less their mean, divided by their standard deviation, times a row "
                          "of weights, plus a row of biases."},
                         RunNorm<ops::RowsFunction::kLayerNorm>});
}

}  // namespace ttfd::tensor
