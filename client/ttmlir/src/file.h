// The bytes of a file, recognised and verified.
#pragma once

#include <memory>
#include <string>

#include "client/ttmlir/src/profiles.h"
#include "client/ttmlir/src/record.h"
#include "ttfd/ttmlir/binary.h"

namespace ttfd::ttmlir {

// Refers to the bytes it was made of, which must outlive it.
struct File {
  Kind kind = Kind::kTtnn;
  std::string schema_hash;
  std::string git_hash;
  std::string profile_name;
  std::shared_ptr<const Profile> profile;
  Record root;
};

// Errors as of Binary::Load, without the path.
client::Result<File> OpenFile(Bytes bytes, Profiles* profiles);

}  // namespace ttfd::ttmlir
