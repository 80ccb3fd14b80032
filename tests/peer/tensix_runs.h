// Batches of programs for the Tensix engine on a simulator library: one process runs a batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/peer/tensix_generator.h"

namespace ttfd {

// Programs of a batch share operands and the TRISC that runs them.
inline constexpr uint32_t kTensixBatch = 250;

struct TensixRun {
  std::vector<std::string> results;  // of each program: a hash of its results, with their end
  std::string refusal;               // not empty: what the library said to the program after these
};

// Programs `first` to `first + count - 1` of a unit, all of one batch.
TensixRun RunTensixPrograms(const std::string& library, TensixUnit unit, uint32_t first,
                            uint32_t count);

// What the library says when it refuses a step of the program; empty: nothing.
std::string RefusalOf(const std::string& library, const TensixProgram& program);

// Not empty: how two runs from program `first` on part, with the program and the first word that differs.
std::string CompareTensixRuns(const std::string& first_library, const TensixRun& one,
                              const std::string& second_library, const TensixRun& two,
                              TensixUnit unit, uint32_t first);

// Recorded hashes are of the first programs, so many to each hash.
inline constexpr uint32_t kTensixHashes = 10;
inline constexpr uint32_t kTensixProgramsPerHash = 25;
// Of the first batch. Less than kTensixHashes: a program was refused.
std::vector<uint64_t> TensixHashes(const TensixRun& run);

}  // namespace ttfd
