#include "daemon/rpc/group_id.h"

#include <grp.h>

#include <cerrno>
#include <vector>

namespace ttfd {

std::optional<uint32_t> GroupId(const std::string& name) {
  constexpr size_t kMostBytes = size_t{16} << 20;  // the members of a large group
  for (size_t bytes = 16 * 1024; bytes <= kMostBytes; bytes *= 4) {
    std::vector<char> space(bytes);
    group entry{};
    group* found = nullptr;
    const int error = getgrnam_r(name.c_str(), &entry, space.data(), space.size(), &found);
    if (found != nullptr) return entry.gr_gid;
    if (error != ERANGE) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace ttfd
