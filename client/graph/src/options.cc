// The only file of the library that reads the environment.
#include "client/graph/src/options.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace ttfd::graph {

std::optional<std::string> TraceOfNextRun() {
  static std::atomic<uint64_t> runs = 0;
  const char* const file = std::getenv("TTFD_GRAPH_TRACE");
  if (file == nullptr) return std::nullopt;
  const char* const number = std::getenv("TTFD_GRAPH_TRACE_RUN");
  const uint64_t wanted = number == nullptr ? 1 : std::strtoull(number, nullptr, 10);
  if (++runs != wanted) return std::nullopt;
  return file;
}

}  // namespace ttfd::graph
