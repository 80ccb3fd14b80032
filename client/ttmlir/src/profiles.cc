// A folder of profiles.
#include "client/ttmlir/src/profiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "client/ttmlir/src/installation.h"
#include "ttfd/ttmlir/binary.h"

namespace ttfd::ttmlir {
namespace {

namespace fs = std::filesystem;
constexpr size_t kNameDigits = 12;  // of a hash, in the name of a profile

}  // namespace

std::string ProfileName(std::string_view kind, const std::string& hash) {
  return fmt::format("{}-{}", kind, hash.substr(0, kNameDigits));
}

std::string ProfileFolder() { return FoundAbove("share/ttfd/ttmlir"); }

std::vector<std::string> ProfilesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".profile") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

client::Result<std::shared_ptr<const Profile>> Profiles::Find(std::string_view kind,
                                                              const std::string& hash) {
  const std::string name = ProfileName(kind, hash);
  auto found = read_.find(name);
  if (found == read_.end()) {
    std::error_code ignored;
    if (!fs::exists(fmt::format("{}/{}.profile", folder_, name), ignored)) {
      return std::shared_ptr<const Profile>();
    }
    auto profile = Profile::Read(folder_, name);
    if (!profile.ok()) return profile.status();
    found = read_.emplace(name, *std::move(profile)).first;
  }
  return found->second->hash() == hash ? found->second : std::shared_ptr<const Profile>();
}

std::string Profiles::Known(std::string_view kind) const {
  std::vector<std::string> names = ProfilesIn(folder_);
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(kind); });
  if (names.empty()) return "none in " + (folder_.empty() ? "share/ttfd/ttmlir" : folder_);
  return fmt::format("{} in {}", fmt::join(names, ", "), folder_);
}

}  // namespace ttfd::ttmlir
