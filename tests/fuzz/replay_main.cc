// Runs a fuzz target without libFuzzer: every file of the corpus, then truncations and byte changes of it.
//
// usage: fuzz_x CORPUS_FOLDER CHANGES, so many of each file. Deterministic: the changes come from a fixed generator. A
// target that misbehaves crashes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// xorshift32: small, fixed, good enough to pick bytes.
uint32_t Next(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

void Replay(const std::vector<uint8_t>& seed, int changes, uint32_t& state) {
  LLVMFuzzerTestOneInput(seed.data(), seed.size());
  if (seed.empty()) return;
  for (int change = 0; change < changes; ++change) {
    std::vector<uint8_t> input = seed;
    if (Next(state) % 4 == 0) input.resize(Next(state) % seed.size());
    const uint32_t bytes = 1 + Next(state) % 4;
    for (uint32_t i = 0; i < bytes && !input.empty(); ++i) {
      // Half of the changes go to the first 64 bytes, where headers are.
      const size_t range = Next(state) % 2 == 0 ? std::min<size_t>(64, input.size()) : input.size();
      input[Next(state) % range] = static_cast<uint8_t>(Next(state));
    }
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int changes = argc == 3 ? std::atoi(argv[2]) : 0;
  if (changes <= 0) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER CHANGES\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "no corpus in %s\n", argv[1]);
    return 2;
  }
  uint32_t state = 0x1234567;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    Replay(std::vector<uint8_t>(std::istreambuf_iterator<char>(stream), {}), changes, state);
  }
  std::printf("%zu seeds replayed\n", files.size());
  return 0;
}
