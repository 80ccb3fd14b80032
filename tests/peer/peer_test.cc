// The model beside the official simulator: the same sequences on both, and every difference listed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "tests/peer/comparison.h"
#include "tests/peer/golden_runs.h"
#include "tests/peer/known_differences.h"
#include "tests/peer/refused_operations.h"
#include "tests/peer/sequence_generator.h"

namespace ttfd {
namespace {

// TTFD_PEER_COUNT sequences from seed TTFD_PEER_FIRST on.
constexpr uint32_t kSequences = 60;

uint32_t Number(const char* name, uint32_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

class Peer : public testing::Test {
 protected:
  void SetUp() override {
    if (library_.empty()) {
      GTEST_SKIP() << "no libttsim.so is named, by TTFD_TTSIM_LIB in CMake or the environment";
    }
  }

  Comparison Both(const Sequence& sequence) {
    const Comparison result =
        Compare(sequence, RunSequence(TTFD_SIM_LIBRARY, sequence), RunSequence(library_, sequence));
    operations_ += result.operations;
    return result;
  }

  // Notes the difference as seen. False: it is not listed.
  bool IsKnown(const Comparison& result) {
    if (!result.tag.starts_with("refuse ")) return false;
    const std::string operation = result.tag.substr(7);
    for (const KnownDifference& known : KnownDifferences()) {
      if (operation == known.operation && result.first == known.ours &&
          result.second == known.peer) {
        seen_.insert(&known);
        return true;
      }
    }
    return false;
  }

  const std::string library_ = PeerLibrary();
  size_t operations_ = 0;
  std::set<const KnownDifference*> seen_;
};

TEST_F(Peer, RandomSequencesEndAlike) {
  const uint32_t first = Number("TTFD_PEER_FIRST", 1);
  const uint32_t count = Number("TTFD_PEER_COUNT", kSequences);
  uint32_t refused = 0;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    const Comparison result = Both(RandomSequence(seed));
    refused += result.both_refused ? 1 : 0;
    if (result.both_refused) {
      EXPECT_TRUE(result.tag.starts_with("refuse ")) << seed << ": " << result.second;
    }
    if (!result.difference.empty()) {
      EXPECT_TRUE(IsKnown(result)) << "seed " << seed << ": " << result.difference;
    }
  }
  fmt::print("{} sequences, {} operations with equal results, {} refused by both\n", count,
             operations_, refused);
}

TEST_F(Peer, EveryOddOperationIsRefusedByBothOrListed) {
  const uint32_t seeds = 2;
  uint32_t alike = 0;
  for (const std::string& operation : RefusedOperations()) {
    for (uint32_t seed = 1; seed <= seeds; ++seed) {
      Chooser choose(seed);
      SequenceBuilder builder(choose);
      AddRefusedOperation(operation, choose, {{1, 2}, {2, 3}, {7, 11}}, &builder);
      const Comparison result = Both(builder.sequence());
      if (result.difference.empty()) {
        alike += 1;
      } else {
        EXPECT_TRUE(IsKnown(result)) << fmt::format("{{\"{}\", \"{}\", \"{}\"}},\n{}", operation,
                                                    result.first, result.second, result.difference);
      }
    }
  }
  for (const KnownDifference& known : KnownDifferences()) {
    EXPECT_TRUE(seen_.contains(&known)) << known.operation << " differs no more";
  }
  fmt::print("{} operations, {} of {} runs alike\n", RefusedOperations().size(), alike,
             seeds * RefusedOperations().size());
}

TEST_F(Peer, TheGoldenRunsAreItsOwn) {
  for (uint32_t i = 0; i < std::size(kGoldenRuns); ++i) {
    const Sequence sequence = RandomSequence(i + 1);
    const uint64_t digest = Digest(sequence, RunSequence(library_, sequence));
    EXPECT_EQ(digest, kGoldenRuns[i]) << fmt::format("seed {}: {:#018x}", i + 1, digest);
  }
}

}  // namespace
}  // namespace ttfd
