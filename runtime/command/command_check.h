// The rules of command.h, checked: what the encoder may rely on.
#pragma once

#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/command.h"
#include "runtime/command/route.h"

namespace ttfd {

// INVALID_ARGUMENT says which rule is broken and what is allowed.
Status CheckCommand(const Route& route, const Command& command, const CardGeometry& card);

}  // namespace ttfd
