// Prints tensix_hashes.inc as a simulator library makes it.
//
// usage: tensix_hashes LIBRARY >tests/peer/tensix_hashes.inc
#include <fmt/format.h>

#include <cstdio>

#include "tests/peer/tensix_runs.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tensix_hashes LIBRARY\n");
    return 2;
  }
  fmt::print(
      "// Results of the first {} programs of each unit on libttsim 1.10.0, a hash for each {}.\n"
      "// Written by tensix_hashes LIBRARY.\n"
      "#pragma once\n\n#include <array>\n#include <cstdint>\n\nnamespace ttfd {{\n\n"
      "inline constexpr std::array<std::array<uint64_t, {}>, {}> kTensixRecorded = {{{{\n",
      ttfd::kTensixBatch, ttfd::kTensixProgramsPerHash, ttfd::kTensixHashes,
      ttfd::kTensixUnitNames.size());
  for (uint32_t i = 0; i < ttfd::kTensixUnitNames.size(); ++i) {
    const ttfd::TensixRun run =
        ttfd::RunTensixPrograms(argv[1], static_cast<ttfd::TensixUnit>(i), 0, ttfd::kTensixBatch);
    if (!run.refusal.empty()) {
      fmt::print(stderr, "program {}: {}\n", run.results.size(), run.refusal);
      return 1;
    }
    fmt::print("    {{  // {}\n", ttfd::kTensixUnitNames[i]);
    for (const uint64_t hash : ttfd::TensixHashes(run)) fmt::print("        {:#018x},\n", hash);
    fmt::print("    }},\n");
  }
  fmt::print("}}}};\n\n}}  // namespace ttfd\n");
  return 0;
}
