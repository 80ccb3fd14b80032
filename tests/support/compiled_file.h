// Files of tt-mlir's kinds, written by a profile: what FlatBuffers' compiler makes of JSON with the schema.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "client/ttmlir/src/profile.h"
#include "tests/support/random.h"

namespace ttfd::ttmlir {

// The file whose root is `root`, in the form that WriteJsonOf prints: fields that are missing or null are absent, an
// enum is a name or a number, a union NAME has its member in NAME_type. A field that the profile does not have ends the
// process: the test is wrong.
std::string WriteCompiledFile(const Profile& profile, const nlohmann::json& root);

// A root table with random fields, lists and members of unions, at most `depth` tables deep; its header is right.
// `turn` counts through the members of each union, so that few files have all of them.
nlohmann::json RandomCompiledRoot(const Profile& profile, int depth, uint32_t turn, Random* random);

}  // namespace ttfd::ttmlir
