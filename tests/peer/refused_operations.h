// Operations that at least one of two simulators refuses, by name.
#pragma once

#include <string>
#include <vector>

#include "tests/peer/hart_program.h"

namespace ttfd {

// Adds one of them, tagged "refuse NAME". Every hart of `stage` is held.
void AddRefusedOperation(Chooser& choose, const std::vector<hw::Coordinate>& stage,
                         SequenceBuilder* builder);

// All their names, and the one of that name with arguments from `choose`.
std::vector<std::string> RefusedOperations();
void AddRefusedOperation(const std::string& name, Chooser& choose,
                         const std::vector<hw::Coordinate>& stage, SequenceBuilder* builder);

}  // namespace ttfd
