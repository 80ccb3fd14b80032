// The model's engine has the results that the official simulator had for the first random programs of each unit.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/peer/tensix_hashes.inc"
#include "tests/peer/tensix_refusals.h"
#include "tests/peer/tensix_runs.h"

namespace ttfd {
namespace {

using testing::HasSubstr;

class TensixModel : public testing::TestWithParam<uint32_t> {};

TEST_P(TensixModel, HasTheRecordedResults) {
  const TensixRun run =
      RunTensixPrograms(TTFD_SIM_LIBRARY, static_cast<TensixUnit>(GetParam()), 0, kTensixBatch);
  const std::vector<uint64_t> hashes = TensixHashes(run);
  for (uint32_t i = 0; i < hashes.size(); ++i) {
    const uint32_t first = i * kTensixProgramsPerHash;
    EXPECT_EQ(hashes[i], kTensixRecorded[GetParam()][i])
        << fmt::format("programs {} to {}; tensix_peer_test shows which and how", first,
                       first + kTensixProgramsPerHash - 1);
  }
  EXPECT_EQ(run.refusal, "") << "program " << run.results.size();
}

INSTANTIATE_TEST_SUITE_P(Units, TensixModel, testing::Range(0u, uint32_t{kTensixUnitNames.size()}),
                         [](const auto& test) {
                           return std::string(kTensixUnitNames[test.param]);
                         });

TEST(TensixModelRefusals, NameTheField) {
  for (const TensixRefusal& refusal : TensixRefusals()) {
    EXPECT_THAT(RefusalOf(TTFD_SIM_LIBRARY, refusal.Refused()), HasSubstr(refusal.text))
        << refusal.name;
  }
}

}  // namespace
}  // namespace ttfd
