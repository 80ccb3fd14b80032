// Comparing secrets, such as the tokens that sessions are resumed with.
#pragma once

#include <string_view>

namespace ttfd {

// In a time that depends on nothing but their lengths. An empty secret is the same as none.
bool SameSecret(std::string_view given, std::string_view secret);

}  // namespace ttfd
