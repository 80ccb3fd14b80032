// Rules that a launch must keep so that the encoder may rely on them.
#pragma once

#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/command.h"
#include "runtime/command/route.h"

namespace ttfd {

// INVALID_ARGUMENT says which rule is broken and what is allowed. Thread-safe.
Status CheckLaunch(const Route& route, const LaunchCommand& launch, const CardGeometry& card);

}  // namespace ttfd
