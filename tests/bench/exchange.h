// An exchange between the benchmark and a process at the other end: its time, and its time over that of another one.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "runtime/base/status.h"
#include "tests/bench/bench_case.h"

namespace ttfd::bench {

struct Exchange {
  // Connects on the first call.
  std::function<Status()> run;
  // The process at the other end. After the first call of `run`.
  std::function<pid_t()> server;
};

// The median of the exchanges of a sample, in microseconds.
BenchCase ExchangeCase(const std::string& name, const Exchange& exchange);

// The median of `upper` over that of `lower`, which alternate. `pinned`: all threads of the benchmark run on the first
// processor that it may use meanwhile, all threads of both servers on the last.
BenchCase QuotientCase(const std::string& name, const Exchange& upper, const Exchange& lower,
                       bool pinned);

}  // namespace ttfd::bench
