// A folder of profiles, each read once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/ttmlir/src/profile.h"

namespace ttfd::ttmlir {

// One thread at a time.
class Profiles {
 public:
  explicit Profiles(std::string folder) : folder_(std::move(folder)) {}

  // The profile of the files of `kind` ("ttnn", "ttmetal", "system") with this hash. null: there is none.
  client::Result<std::shared_ptr<const Profile>> Find(std::string_view kind,
                                                      const std::string& hash);
  // Names of those of a kind, and the folder, for an error.
  std::string Known(std::string_view kind) const;

 private:
  std::string folder_;
  std::map<std::string, std::shared_ptr<const Profile>> read_;
};

// The name of the profile of files of `kind` with this hash: "ttnn-433d79f929b1".
std::string ProfileName(std::string_view kind, const std::string& hash);

}  // namespace ttfd::ttmlir
