// Asks the user database.
#include "daemon/session/user_name.h"

#include <pwd.h>

#include <vector>

namespace ttfd {

std::string UserName(uint32_t uid) {
  std::vector<char> space(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(uid, &entry, space.data(), space.size(), &found);
  return found != nullptr ? found->pw_name : std::to_string(uid);
}

}  // namespace ttfd
