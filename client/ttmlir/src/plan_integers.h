// Plans of functions of integers.
#pragma once

#include <string_view>
#include <vector>

#include "client/ttmlir/src/planner.h"

namespace ttfd::ttmlir {

bool AreIntegers(const Planner& p, const std::vector<uint64_t>& inputs);

// A function of integers, whose result is converted to the type of the output.
void PlanOfIntegers(Planner& p, std::string_view operation, std::vector<uint64_t> inputs,
                    const Value& output);

// 1 for each element, an integer or a number, that is not 0; else 0, as integers.
uint64_t NotZero(Planner& p, uint64_t input);

// Chooses an integer of inputs[1] where inputs[0] is not 0, else one of inputs[2].
void PlanWhereOfIntegers(Planner& p, const std::vector<uint64_t>& inputs, const Value& output);

// The conversion of signed integers to numbers; exact up to 2^24.
void PlanSignedToNumbers(Planner& p, uint64_t input, const Value& output);

}  // namespace ttfd::ttmlir
