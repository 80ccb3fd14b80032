// Random programs for the Tensix engine on the model and on the official simulator: equal results, word for word.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/peer/driver_process.h"
#include "tests/peer/tensix_hashes.inc"
#include "tests/peer/tensix_refusals.h"
#include "tests/peer/tensix_runs.h"

namespace ttfd {
namespace {

// TTFD_PEER_COUNT programs of each unit from program TTFD_PEER_FIRST on.
constexpr uint32_t kPrograms = 2000;

uint32_t Number(const char* name, uint32_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

class TensixPeer : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    if (library_.empty()) {
      GTEST_SKIP() << "no libttsim.so is named, by TTFD_TTSIM_LIB in CMake or the environment";
    }
  }

  const std::string library_ = PeerLibrary();
  const TensixUnit unit_ = static_cast<TensixUnit>(GetParam());
};

TEST_P(TensixPeer, ProgramsHaveEqualResults) {
  const uint32_t first = Number("TTFD_PEER_FIRST", 0);
  const uint32_t end = first + Number("TTFD_PEER_COUNT", kPrograms);
  for (uint32_t number = first; number < end;) {
    const uint32_t count = std::min(end - number, kTensixBatch - number % kTensixBatch);
    const TensixRun ours = RunTensixPrograms(TTFD_SIM_LIBRARY, unit_, number, count);
    const TensixRun theirs = RunTensixPrograms(library_, unit_, number, count);
    const std::string difference =
        CompareTensixRuns(TTFD_SIM_LIBRARY, ours, library_, theirs, unit_, number);
    if (!difference.empty()) FAIL() << difference;
    number += count;
  }
}

TEST_P(TensixPeer, TheRecordedHashesAreItsOwn) {
  const TensixRun run = RunTensixPrograms(library_, unit_, 0, kTensixBatch);
  EXPECT_EQ(run.refusal, "");
  const auto& recorded = kTensixRecorded[GetParam()];
  EXPECT_EQ(TensixHashes(run), std::vector<uint64_t>(recorded.begin(), recorded.end()));
}

TEST_P(TensixPeer, AProgramDependsOnNoneBeforeIt) {
  const uint32_t first = 100, count = 50;
  const TensixRun some = RunTensixPrograms(library_, unit_, first, count);
  const TensixRun all = RunTensixPrograms(library_, unit_, 0, first + count);
  ASSERT_EQ(all.refusal, "");
  EXPECT_EQ(some.results, std::vector<std::string>(all.results.begin() + first, all.results.end()));
}

INSTANTIATE_TEST_SUITE_P(Units, TensixPeer, testing::Range(0u, uint32_t{kTensixUnitNames.size()}),
                         [](const auto& test) {
                           return std::string(kTensixUnitNames[test.param]);
                         });

TEST(TensixPeerRefusals, AreThoseOfTheModel) {
  const std::string library = PeerLibrary();
  if (library.empty()) GTEST_SKIP() << "no libttsim.so is named";
  for (const TensixRefusal& refusal : TensixRefusals()) {
    EXPECT_EQ(RefusalOf(TTFD_SIM_LIBRARY, refusal.Prepared()), "") << refusal.name;
    EXPECT_EQ(RefusalOf(library, refusal.Prepared()), "") << refusal.name;
    EXPECT_NE(RefusalOf(library, refusal.Refused()), "") << refusal.name;
  }
}

}  // namespace
}  // namespace ttfd
