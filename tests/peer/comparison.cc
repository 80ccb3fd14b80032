#include "tests/peer/comparison.h"

#include <fmt/format.h>

#include <algorithm>

namespace ttfd {
namespace {

std::string Outcome(const DriverRun& run, size_t operation) {
  return run.results.size() > operation || run.ended ? "ok" : run.category;
}

std::string Shown(const DriverRun& run, size_t operation) {
  return run.results.size() > operation ? run.results[operation] : run.ended ? "end" : run.text;
}

}  // namespace

uint64_t Digest(const Sequence& sequence, const DriverRun& run) {
  uint64_t digest = 0xCBF29CE484222325;  // FNV-1a
  for (size_t i = 0; i < run.results.size(); ++i) {
    if (sequence[i].find('#') != std::string::npos) break;
    for (const char c : run.results[i]) {
      digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    }
  }
  return digest;
}

Comparison Compare(const Sequence& sequence, const DriverRun& first, const DriverRun& second) {
  Comparison result;
  if (!first.trouble.empty() || !second.trouble.empty()) {
    result.difference = fmt::format("trouble: {} / {}", first.trouble, second.trouble);
    return result;
  }
  const size_t common = std::min(first.results.size(), second.results.size());
  size_t at = 0;
  while (at < common && first.results[at] == second.results[at]) ++at;
  result.operations = at;
  if (at == first.results.size() && at == second.results.size()) {
    if (first.ended && second.ended) return result;
    result.both_refused = !first.ended && !second.ended;
  }
  result.first = Outcome(first, at);
  result.second = Outcome(second, at);
  const std::string& operation = sequence[std::min(at, sequence.size() - 1)];
  const size_t tag = operation.find("# ");
  if (tag != std::string::npos) result.tag = operation.substr(tag + 2);
  if (result.both_refused && result.first == result.second && first.clock == second.clock) {
    return result;
  }
  result.difference = fmt::format("operation {}: {}\n  {}\n  {}", at, operation.substr(0, 200),
                                  Shown(first, at), Shown(second, at));
  return result;
}

}  // namespace ttfd
