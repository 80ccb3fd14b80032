// The sequences on our library alone, and the machinery that compares two libraries.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/peer/comparison.h"
#include "tests/peer/golden_runs.h"
#include "tests/peer/refused_operations.h"
#include "tests/peer/sequence_generator.h"

namespace ttfd {
namespace {

DriverRun Ours(const Sequence& sequence, const std::string& options = "") {
  return RunSequence(TTFD_SIM_LIBRARY, sequence, options);
}

TEST(Sequences, EndAsTheyDidOnTheOfficialSimulator) {
  for (uint32_t i = 0; i < std::size(kGoldenRuns); ++i) {
    const Sequence sequence = RandomSequence(i + 1);
    const DriverRun run = Ours(sequence);
    EXPECT_TRUE(run.trouble.empty()) << run.ToString();
    EXPECT_EQ(Digest(sequence, run), kGoldenRuns[i]) << "seed " << i + 1;
  }
}

TEST(Sequences, AreEqualForEqualSeedsAndEndEqually) {
  EXPECT_EQ(RandomSequence(100), RandomSequence(100));
  EXPECT_NE(RandomSequence(100), RandomSequence(101));
  const Sequence sequence = RandomSequence(100);
  const Comparison result = Compare(sequence, Ours(sequence), Ours(sequence));
  EXPECT_EQ(result.difference, "");
  EXPECT_GT(result.operations, 100u);
}

TEST(Sequences, AnOperationThatIsRefusedIsTheLast) {
  for (const char* const operation : {"noc no tile", "hart zeroes", "host no BAR"}) {
    Chooser choose(1);
    SequenceBuilder builder(choose);
    AddRefusedOperation(operation, choose, {{1, 2}, {2, 3}, {7, 11}}, &builder);
    const DriverRun run = Ours(builder.sequence());
    EXPECT_FALSE(run.ended);
    EXPECT_EQ(run.trouble, "");
    ASSERT_LT(run.results.size(), builder.sequence().size());
    EXPECT_TRUE(
        builder.sequence()[run.results.size()].ends_with(std::string("# refuse ") + operation));
  }
}

TEST(Comparisons, FindAnotherResultAndAnotherRefusal) {
  const Sequence sequence = {"init", "cr 0 10", "clock 1 # refuse it"};
  const DriverRun good = {.results = {"0 ", "1 4", "2 "}, .ended = true};
  EXPECT_EQ(Compare(sequence, good, good).difference, "");
  EXPECT_EQ(Compare(sequence, good, good).operations, 3u);
  DriverRun other = good;
  other.results[1] = "1 5";
  EXPECT_NE(Compare(sequence, good, other).difference, "");
  EXPECT_EQ(Compare(sequence, good, other).operations, 1u);

  const DriverRun refused = {
      .results = {"0 ", "1 4"}, .clock = 7, .category = "UndefinedBehavior", .text = "[7] ERROR"};
  EXPECT_EQ(Compare(sequence, refused, refused).difference, "");
  EXPECT_TRUE(Compare(sequence, refused, refused).both_refused);
  const Comparison one_sided = Compare(sequence, refused, good);
  EXPECT_NE(one_sided.difference, "");
  EXPECT_EQ(one_sided.tag, "refuse it");
  EXPECT_EQ(one_sided.first, "UndefinedBehavior");
  EXPECT_EQ(one_sided.second, "ok");
  DriverRun otherwise = refused;
  otherwise.category = "SystemError";
  EXPECT_NE(Compare(sequence, refused, otherwise).difference, "");
  DriverRun later = refused;
  later.clock = 8;
  EXPECT_NE(Compare(sequence, refused, later).difference, "");
  DriverRun died = refused;
  died.trouble = "it took too long";
  EXPECT_NE(Compare(sequence, died, died).difference, "");
}

TEST(Comparisons, SeeThatAnotherCardIsAnother) {
  Chooser choose(1);
  SequenceBuilder builder(choose);
  builder.WriteWord({16, 11}, 0, 1);
  const Comparison result =
      Compare(builder.sequence(), Ours(builder.sequence()), Ours(builder.sequence(), "columns=16"));
  EXPECT_NE(result.difference, "");
  EXPECT_EQ(result.second, "UnimplementedFunctionality");
}

}  // namespace
}  // namespace ttfd
