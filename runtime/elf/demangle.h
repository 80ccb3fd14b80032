// C++ names for people: scopes and the function's own name, without parameters and return type.
#pragma once

#include <string>
#include <string_view>

namespace ttfd {

// "_ZN4ttfd8firmware5ServeEv" is "ttfd::firmware::Serve". Template arguments become "<>", an unnamed namespace is
// left out, a lambda is "{lambda}". What it does not understand it returns as it is. Takes time and room
// in proportion to the name, which clients write; the demangler of the C++ runtime does not: its back
// references double what it prints.
std::string Demangle(std::string_view mangled);

}  // namespace ttfd
