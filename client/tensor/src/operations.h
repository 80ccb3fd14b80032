// The entries of the table of operations, in groups that have a source each.
#pragma once

#include <vector>

#include "client/tensor/src/call.h"
#include "client/tensor/src/chain.h"
#include "ttfd/tensor/apply.h"

namespace ttfd::tensor {

struct Operation {
  OperationInfo info;
  Result<std::vector<Tensor>> (*run)(const Call& call);
};

// Attributes that several operations have.
OperationInfo::AttributeInfo DTypeAttribute();
OperationInfo::AttributeInfo ActivationAttribute();
OperationInfo::AttributeInfo DimAttribute();
// The step of the attribute `activation`; none if it is empty.
Result<ChainSteps> ActivationOf(const Call& call);
// The attribute `dim` as an index of an extent of the first input, one of the last `last`.
Result<size_t> DimOf(const Call& call, size_t last);
// A tensor of this shape is one row of `columns` elements.
bool IsRowOf(const Shape& shape, uint32_t columns);

void AddArgmaxOperation(std::vector<Operation>* operations);
void AddConvolutionOperations(std::vector<Operation>* operations);
void AddEltwiseOperations(std::vector<Operation>* operations);
void AddFunctionOperations(std::vector<Operation>* operations);
void AddIntegerOperations(std::vector<Operation>* operations);
void AddMatmulOperations(std::vector<Operation>* operations);
void AddMoveOperations(std::vector<Operation>* operations);
void AddCacheOperations(std::vector<Operation>* operations);
void AddAttentionOperations(std::vector<Operation>* operations);
void AddPagedCacheOperations(std::vector<Operation>* operations);
void AddDecodeHeadsOperations(std::vector<Operation>* operations);
void AddPoolOperations(std::vector<Operation>* operations);
void AddReduceOperations(std::vector<Operation>* operations);
void AddRotaryOperations(std::vector<Operation>* operations);
void AddRowsOperations(std::vector<Operation>* operations);

}  // namespace ttfd::tensor
