// How a trace is cut into segments.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/command/command.h"
#include "runtime/command/decoder.h"
#include "runtime/command/trace_layout.h"
#include "tests/support/random.h"

namespace ttfd::command_trace_test {
namespace {

constexpr GridSize kGrid{12, 10};

CardGeometry Card(size_t dram_banks) {
  std::vector<uint32_t> banks;
  for (uint32_t bank = 0; bank < dram_banks; ++bank) banks.push_back(hw::NocXy(17, 2 + bank));
  return CardGeometry({1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14}, banks, {{{15, 3}, {15, 5}}});
}

std::shared_ptr<const KernelImage> Image(size_t bytes) {
  const auto image = std::make_shared<KernelImage>();
  image->name = "kernel";
  image->bytes.resize(bytes);
  return image;
}

LaunchCommand Launch(const CoreRange& cores, size_t words,
                     const std::shared_ptr<const KernelImage>& image = Image(4096)) {
  ProgramSpec spec;
  spec.kernels.push_back({image, hw::kBrisc, {cores}});
  LaunchCommand launch{*BuildProgram(1, spec, kGrid), {KernelArguments{}}};
  launch.arguments[0].common.resize(words);
  return launch;
}

std::vector<Duration> Times(std::initializer_list<int> times) {
  std::vector<Duration> durations;
  for (const int time : times) durations.emplace_back(time);
  return durations;
}

// Where segments begin, and where the last one ends.
std::vector<uint32_t> Cuts(const Trace& trace) {
  std::vector<uint32_t> cuts = {0};
  for (uint32_t segment = 0; segment < TraceSegments(trace); ++segment) {
    const SegmentExtent extent = TraceSegmentExtent(trace, segment);
    EXPECT_EQ(extent.begin, cuts.back());
    cuts.push_back(extent.end);
  }
  return cuts;
}

TEST(CommandTrace, ASegmentTakesNoLongerThanItMay) {
  const std::vector<LaunchCommand> launches(6, Launch({0, 0, 3, 3}, 4));
  const auto cuts = [&](Duration most, const std::vector<Duration>& times) {
    return Cuts(**BuildTrace(Card(8), Route(), launches, {most, times}));
  };
  EXPECT_EQ(cuts(Duration(6), Times({3, 3, 1, 10, 2, 4})), (std::vector<uint32_t>{0, 2, 3, 4, 6}))
      << "a launch that is expected to take longer has a segment of its own";
  EXPECT_EQ(cuts(Duration(100), Times({3, 3, 1, 10, 2, 4})), (std::vector<uint32_t>{0, 6}));
  EXPECT_EQ(Cuts(**BuildTrace(Card(8), Route(), launches)), (std::vector<uint32_t>{0, 6}));
}

TEST(CommandTrace, ASegmentHasNoMoreCompletionsThanCanBeCounted) {
  const std::vector<LaunchCommand> launches(1100, Launch({0, 0, 11, 9}, 1));
  const auto trace = *BuildTrace(Card(8), Route(), launches);
  EXPECT_EQ(Cuts(*trace), (std::vector<uint32_t>{0, 546, 1092, 1100}));
  EXPECT_EQ(trace->segments[0].workers, 546u * 120);
  EXPECT_LE(trace->segments[0].workers, hw::kStreamCounterReach);
}

TEST(CommandTrace, ASegmentHasNoMoreBytesThanAreSentAtOnce) {
  const std::vector<LaunchCommand> launches(500, Launch({0, 0, 0, 0}, 256));
  const auto trace = *BuildTrace(Card(8), Route(), launches);
  EXPECT_GT(TraceSegments(*trace), 2u);
  for (uint32_t segment = 0; segment < TraceSegments(*trace); ++segment) {
    EXPECT_LE(TraceSegmentExtent(*trace, segment).bytes, kMaxSegmentBytes + TracePageBytes(*trace));
  }
}

// Programs that share an image on tiles of their own each need it there.
TEST(CommandTrace, ASegmentNeedsNoMoreImagesThanAreSentAtOnce) {
  const auto image = Image(60'000);
  std::vector<LaunchCommand> launches;
  for (uint32_t i = 0; i < 40; ++i) {
    launches.push_back(Launch({i % 12, i / 12, i % 12, i / 12}, 1, image));
    launches.push_back(launches.back());
  }
  const auto trace = *BuildTrace(Card(8), Route(), launches);
  EXPECT_EQ(Cuts(*trace), (std::vector<uint32_t>{0, 34, 68, 80}));
}

// Whatever the cuts: segments lie one behind the other, each from the first bank on, and each is a buffer of records
// that ends where it says, with a go for each of its launches.
TEST(CommandTrace, SegmentsAreBuffersOfTheirOwn) {
  Random random(6);
  for (int round = 0; round < 60; ++round) {
    const size_t banks = random() % 2 == 0 ? 7 : 8;
    const CardGeometry card = Card(banks);
    const LaunchCommand kinds[] = {Launch({0, 0, 11, 9}, 3), Launch({2, 2, 2, 2}, random() % 250),
                                   Launch({0, 0, 4, 4}, 9)};
    std::vector<LaunchCommand> launches;
    std::vector<Duration> times;
    for (uint32_t i = 1 + random() % 80; i > 0; --i) {
      launches.push_back(kinds[random() % 3]);
      times.emplace_back(random() % 10);
    }
    const auto trace = *BuildTrace(card, Route(), launches, {Duration(random() % 60), times});
    const uint64_t row = uint64_t{TracePageBytes(*trace)} * banks;
    uint64_t end = 0;
    EXPECT_EQ(Cuts(*trace).back(), launches.size());
    for (const TraceSegment& segment : trace->segments) {
      EXPECT_GE(segment.offset, end);
      EXPECT_LT(segment.offset, end + row);
      EXPECT_EQ(segment.offset % row, 0u);
      EXPECT_EQ(segment.shadow.size() % TracePageBytes(*trace), 0u);
      end = segment.offset + segment.shadow.size();
      const auto commands = DecodeExecBuffer(segment.shadow);
      ASSERT_TRUE(commands.ok()) << commands.status().ToString();
      const auto goes = std::count_if(commands->begin(), commands->end(), [](const auto& one) {
        return one.dispatch.has_value() &&
               std::holds_alternative<abi::SendGoSignal>(one.dispatch->header);
      });
      EXPECT_EQ(static_cast<uint32_t>(goes), segment.launches);
    }
    EXPECT_EQ(TraceBytes(*trace), end);
  }
}

}  // namespace
}  // namespace ttfd::command_trace_test
