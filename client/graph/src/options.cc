// The only file of the library that reads the environment.
#include "client/graph/src/options.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace ttfd::graph {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::optional<std::string> TraceOfNextRun() {
  static std::atomic<uint64_t> runs = 0;
  const std::string file = Variable("TTFD_GRAPH_TRACE"), number = Variable("TTFD_GRAPH_TRACE_RUN");
  if (file.empty()) return std::nullopt;
  const uint64_t wanted = number.empty() ? 1 : std::strtoull(number.c_str(), nullptr, 10);
  if (++runs != wanted) return std::nullopt;
  return file;
}

}  // namespace ttfd::graph
