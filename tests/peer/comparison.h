// One sequence on two simulators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/peer/driver_process.h"

namespace ttfd {

struct Comparison {
  size_t operations = 0;  // that both carried out with the same result
  bool both_refused = false;
  std::string difference;  // empty: none
  // Where they parted: the tag of the operation, and what each did ("ok", or the category of its refusal).
  std::string tag;
  std::string first;
  std::string second;
};

// Of the results before the first operation of `sequence` with a tag.
uint64_t Digest(const Sequence& sequence, const DriverRun& run);

Comparison Compare(const Sequence& sequence, const DriverRun& first, const DriverRun& second);

}  // namespace ttfd
