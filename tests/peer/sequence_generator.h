// Random sequences of what a host and its programs may do to a card, for two simulators to agree about.
#pragma once

#include <cstdint>

#include "tests/peer/driver_process.h"

namespace ttfd {

// Equal seeds give equal sequences. Most end in something that is refused; its line carries a tag that
// begins with "refuse".
Sequence RandomSequence(uint32_t seed);

}  // namespace ttfd
