// Files of tt-mlir's kinds for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "client/ttmlir/src/profile.h"
#include "tests/support/random.h"

namespace ttfd::ttmlir {

// WriteFile of the library; an error ends the process: the test is wrong.
std::string WriteCompiledFile(const Profile& profile, const nlohmann::json& root);

// A root table with random fields, lists and members of unions, at most `depth` tables deep; its header is right.
// `turn` counts through the members of each union, so that few files have all of them.
nlohmann::json RandomCompiledRoot(const Profile& profile, int depth, uint32_t turn, Random* random);

}  // namespace ttfd::ttmlir
