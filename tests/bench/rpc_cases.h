// Exchanges of a client of the daemon.
#pragma once

#include <sys/types.h>

#include <functional>

#include "tests/bench/bench_case.h"
#include "tests/bench/exchange.h"

namespace ttfd::bench {

// A blocking launch on one tile, through libttfd. `daemon`: the process.
Exchange BlockingLaunch(AddressFunction address, std::function<pid_t()> daemon);

}  // namespace ttfd::bench
