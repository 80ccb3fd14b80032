// Users of this machine by number.
#pragma once

#include <cstdint>
#include <string>

namespace ttfd {

// The name in the user database; the number in decimal where there is none.
std::string UserName(uint32_t uid);

}  // namespace ttfd
