// Writes the seed corpus of fuzz_tensix_engine: two of tests/peer's random programs for each unit, for any thread.
//
// usage: make_tensix_seeds CORPUS_FOLDER (tests/fuzz/corpus)
#include <cstdio>
#include <fstream>
#include <string>

#include "runtime/hw/tensix_config.h"
#include "tests/peer/tensix_generator.h"

namespace ttfd {
namespace {

constexpr uint32_t kProgramsPerUnit = 2;

void Append(std::string& seed, uint32_t kind, uint32_t index, uint32_t value) {
  seed += static_cast<char>(kind);
  seed += static_cast<char>(index);
  for (uint32_t shift = 0; shift < 32; shift += 8) seed += static_cast<char>(value >> shift);
}

// The stores of a program as steps of the target; it has no loads and no waits.
std::string SeedOf(const TensixProgram& program, uint32_t thread) {
  std::string seed;
  for (size_t i = 0; i < program.words().size(); i += 2) {
    const uint32_t address = program.words()[i], value = program.words()[i + 1];
    if (address % 4 != 0) continue;
    if (address == hw::tensix::kPush) {
      Append(seed, 4 * thread, 0, value);
    } else if (address >= hw::kTensixConfig) {
      Append(seed, 1, (address - hw::kTensixConfig) / 4, value);
    } else if (address >= hw::tensix::kSemaphore) {
      Append(seed, 3, (address - hw::tensix::kSemaphore) / 4, value);
    } else {
      Append(seed, 4 * thread + 2, (address - hw::tensix::kGprs) / 4, value);
    }
  }
  return seed;
}

}  // namespace
}  // namespace ttfd

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_tensix_seeds CORPUS_FOLDER\n");
    return 2;
  }
  for (uint32_t unit = 0; unit < ttfd::kTensixUnitNames.size(); ++unit) {
    for (uint32_t number = 0; number < ttfd::kProgramsPerUnit; ++number) {
      const ttfd::TensixProgram program =
          ttfd::RandomTensixProgram(static_cast<ttfd::TensixUnit>(unit), number);
      const std::string name = std::string(argv[1]) + "/tensix_engine/" +
                               ttfd::kTensixUnitNames[unit] + std::to_string(number) + ".bin";
      std::ofstream(name, std::ios::binary) << ttfd::SeedOf(program, (unit + number) % 3);
    }
  }
  return 0;
}
