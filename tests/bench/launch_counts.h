// Counts of the daemon's work for a blocking launch.
#pragma once

#include <string>

#include "tests/bench/bench_case.h"
#include "tests/bench/exchange.h"

namespace ttfd::bench {

// rpc.wakeups_per_launch: how often a thread of the server is woken, for each exchange.
BenchCase WakeupsCase(const Exchange& launch);

// rpc.locks_per_launch: mutexes that code of ttfd took for each blocking launch, in a daemon of its own into which
// bench_lock_counter (`counter`, a path) is preloaded. `daemon` is the path of ttfd, `folder` where its files go.
BenchCase LocksCase(const std::string& daemon, const std::string& counter,
                    const std::string& folder);

}  // namespace ttfd::bench
