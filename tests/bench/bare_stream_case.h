// The yardstick of a blocking launch: an exchange of messages of its sizes over a gRPC stream.
#pragma once

#include <string>

#include "tests/bench/exchange.h"

namespace ttfd::bench {

// `server` is the path of bench_stream_server, `folder` where its socket and log go.
Exchange BareStream(const std::string& server, const std::string& folder);

}  // namespace ttfd::bench
