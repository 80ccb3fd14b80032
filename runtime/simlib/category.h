// How the official simulator's contract sorts refusals, and where the model's kinds of faults belong.
#pragma once

#include "runtime/sim/fault.h"

namespace ttfd::simlib {

enum class Category {
  kUndefinedBehavior,
  kNonContractualBehavior,
  kUntestedFunctionality,
  kUnimplementedFunctionality,
  kUnsupportedFunctionality,
  kSystemError,
  kConfigurationError,
};

const char* CategoryName(Category category);
Category CategoryOf(sim::FaultKind kind);

}  // namespace ttfd::simlib
