// The daemon from its start to its end: boots the card, serves, drains.
#pragma once

#include "daemon/options.h"
#include "daemon/system/signals.h"
#include "runtime/base/status.h"
#include "runtime/device/kmd/system.h"

namespace ttfd {

// Returns OK after a stop that was asked for by a signal. `system`: through which a card is reached.
Status Serve(const Options& options, Signals& signals, const kmd::System& system);

}  // namespace ttfd
