// Where the model and the official simulator are known to differ, and docs/simulator.md says why.
#pragma once

#include <span>

namespace ttfd {

struct KnownDifference {
  const char* operation;  // of refused_operations.h
  const char* ours;       // "ok", or the category of the refusal
  const char* peer;
};

std::span<const KnownDifference> KnownDifferences();

}  // namespace ttfd
