// How much a reset of the card may cost sessions that did not cause it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

namespace ttfd {

// Counted over a whole test. Plain values: the caller adds up what its threads counted.
struct BystanderCounts {
  uint64_t resets = 0;
  uint64_t operations = 0;  // commands that bystanders sent
  uint64_t retries = 0;  // retryable errors that bystanders got, without those that follow from one
};

// At most 2 retryable errors in 100 resets, so none in fewer than 50.
inline void ExpectBystandersSpared(const BystanderCounts& counts) {
  constexpr uint64_t kResetsPerRetry = 50;
  printf("bystanders: %llu operations, %llu retryable errors, %llu resets\n",
         static_cast<unsigned long long>(counts.operations),
         static_cast<unsigned long long>(counts.retries),
         static_cast<unsigned long long>(counts.resets));
  EXPECT_GT(counts.operations, 0u) << "no bystander was at work";
  EXPECT_LE(counts.retries, counts.resets / kResetsPerRetry)
      << "retryable errors of bystanders in " << counts.resets << " resets and "
      << counts.operations << " operations";
}

}  // namespace ttfd
