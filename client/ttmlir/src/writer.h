// Files of tt-mlir's kinds, written by a profile: as FlatBuffers' compiler writes JSON with the schema.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "client/ttmlir/src/profile.h"

namespace ttfd::ttmlir {

// The file whose root is `root`, in the form that WriteJsonOf prints: fields that are missing or null are absent, an
// enum is a name or a number, flags are names separated by spaces, a union NAME has its member in NAME_type.
// INVALID_ARGUMENT: a field or name that the profile does not have, or a value that its type does not take; names it.
client::Result<std::string> WriteFile(const Profile& profile, const nlohmann::json& root);

}  // namespace ttfd::ttmlir
