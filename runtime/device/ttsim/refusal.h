// Why a simulator ended its process: the line it printed, and what that means for the host.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/device/ttsim/wire.h"

namespace ttfd::ttsim {

// "[clock] ERROR: Category: function: text", the last such line of what was printed.
struct RefusalLine {
  std::string category;  // "UndefinedBehavior"
  std::string text;      // "function: text"
  std::string clock;
};
std::optional<RefusalLine> FindRefusal(std::string_view printed);

// The same line, for the child's own refusals.
std::string FormatRefusal(std::string_view category, std::string_view text);

// FAILED_PRECONDITION: device code did it, while `current` let the device run. INVALID_ARGUMENT: the
// host's access `current` did. UNAVAILABLE: neither is to blame (the simulator could not start, or
// found a mistake of its own).
Status ToStatus(const RefusalLine& refusal, const Request& current);

// "write of 4 bytes at 0x120001000".
std::string Describe(const Request& request);

}  // namespace ttfd::ttsim
