// rpc.bare_stream_us: what gRPC itself takes for a question and an answer of a blocking launch's sizes.
#pragma once

#include <string>

#include "tests/bench/bench_case.h"

namespace ttfd::bench {

// `server` is the path of bench_stream_server, `folder` where its socket and log go.
BenchCase BareStreamCase(const std::string& server, const std::string& folder);

}  // namespace ttfd::bench
