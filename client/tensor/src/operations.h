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
// The step of the attribute `activation`; none if it is empty.
Result<ChainSteps> ActivationOf(const Call& call);

void AddEltwiseOperations(std::vector<Operation>* operations);
void AddMatmulOperations(std::vector<Operation>* operations);
void AddMoveOperations(std::vector<Operation>* operations);
void AddCacheOperations(std::vector<Operation>* operations);

}  // namespace ttfd::tensor
