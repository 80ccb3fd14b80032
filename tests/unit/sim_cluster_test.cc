// Chips in step: the same result on any number of threads and for any division of time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/device/sim/cluster_options.h"
#include "runtime/hw/ethernet.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/ethernet_tile.h"
#include "runtime/sim/rng.h"
#include "runtime/sim/tensix_tile.h"
#include "tests/support/noc_asm.h"
#include "tests/support/rv32_asm.h"

namespace ttfd::sim::sim_cluster_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr hw::Coordinate kWorker = {1, 2};  // tile 0
constexpr uint32_t kArrived = 0x20F00;      // count, in the worker
constexpr uint32_t kStatusWord = 0x20008;   // modulo 16 as STATUS
constexpr uint32_t kLog = 0x21000;
constexpr uint32_t kData = 0x22000;
constexpr uint32_t kRing = 0x6000;  // in Ethernet tiles
constexpr uint32_t kFarRing = 0x39000;
constexpr uint32_t kBytes = 512;
constexpr uint32_t kSteps = 24;

hw::Coordinate PlaceOf(uint32_t channel) {
  return {hw::kEthTranslatedX + channel, hw::kEthTranslatedY};
}

// A worker of each chip of a ring writes its bytes to the next chip's Ethernet tile, rings there, waits until the chip
// before has rung, notes the clock, and takes what has come for its next turn.
class RingProgram {
 public:
  RingProgram(uint32_t out, uint32_t in) : out_(out) {
    for (uint32_t step = 0; step < kSteps; ++step) {
      EmitNoc(a_, NocWrite(kWorker, kData, PlaceOf(out), kRing, kBytes));
      Command(hw::kEthTransmitStart, kRing);
      Command(hw::kEthTransmitSize, kBytes);
      Command(hw::kEthTransmitDestination, kFarRing);
      Send(hw::kEthWriteL1);
      Command(hw::kEthTransmitDestination, hw::kNiuAddress + hw::kNocCommand);
      Command(hw::kEthTransmitData, 1);
      Send(hw::kEthWriteRegister);
      AwaitBells(step + 1);
      a_.Li(kT0, hw::kWallClockLow);
      a_.Lw(kT1, kT0, 0);
      a_.Li(kT0, kLog + 4 * step);
      a_.Sw(kT1, kT0, 0);
      EmitNoc(a_, NocRead(kWorker, PlaceOf(in), kFarRing, kData, kBytes));
    }
    a_.Halt();
  }
  ByteSpan bytes() const { return a_.bytes(); }

 private:
  void Command(uint32_t offset, uint32_t value) {
    EmitNoc(a_, NocInline(kWorker, PlaceOf(out_), hw::kEthTransmit + offset, value));
  }
  void Send(uint32_t command) {
    const Rv32Asm::Label again = a_.Here();
    EmitNoc(a_, NocRead(kWorker, PlaceOf(out_), hw::kEthTransmit + hw::kEthTransmitStatus,
                        kStatusWord, 4));
    a_.Li(kT0, kStatusWord);
    a_.Lw(kT1, kT0, 0);
    a_.Bne(kT1, kZero, again);
    Command(hw::kEthTransmitCommand, command);
  }
  void AwaitBells(uint32_t count) {
    a_.Li(kT0, kArrived);
    a_.Li(kT2, count);
    const Rv32Asm::Label again = a_.Here();
    a_.Fence();
    a_.Lw(kT1, kT0, 0);
    a_.Bltu(kT1, kT2, again);
  }

  const uint32_t out_;
  Rv32Asm a_;
};

// Channels by which a chip of a ring sends and receives.
struct Ways {
  uint32_t out = 0, in = 0;
};
Ways WaysOf(const Topology& topology, uint32_t chip) {
  Ways ways;
  for (const ChipLink& link : topology.links) {
    if (link.a.chip == chip) ways.out = link.a.channel;
    if (link.b.chip == chip) ways.in = link.b.channel;
  }
  return ways;
}

class Ring {
 public:
  Ring(uint32_t chips, uint32_t threads) {
    const GridShape shape = {.rows = 1, .columns = chips, .wrap_columns = chips > 2, .links = 1};
    const ChipOptions options = DefaultOptions(Board::kP150);
    const Topology topology = GridTopology(shape, options.ethernet_channels).value();
    cluster_ = Cluster::Create({options, topology, 800, threads}).value();
    for (uint32_t i = 0; i < chips; ++i) Prepare(i, WaysOf(topology, i));
  }

  Cluster& cluster() { return *cluster_; }
  // Everything that the chips have made: bytes and the clocks at which they came.
  std::vector<std::vector<uint32_t>> Result() {
    std::vector<std::vector<uint32_t>> result;
    for (uint32_t i = 0; i < cluster_->size(); ++i) {
      const std::byte* const l1 = cluster_->chip(i).tile(0).memory().l1();
      std::vector<uint32_t>& words = result.emplace_back();
      for (uint32_t at = kLog; at < kLog + 4 * kSteps; at += 4)
        words.push_back(LoadAt<uint32_t>(l1 + at));
      for (uint32_t at = kData; at < kData + kBytes; at += 4)
        words.push_back(LoadAt<uint32_t>(l1 + at));
    }
    return result;
  }

 private:
  void Prepare(uint32_t index, const Ways& ways) {
    Chip& chip = cluster_->chip(index);
    TensixTile& worker = chip.tile(0);
    std::byte* const l1 = worker.memory().l1();
    for (uint32_t i = 0; i < kBytes; i += 4) StoreAt(l1 + kData + i, index << 16 | i);
    const RingProgram program(ways.out, ways.in);
    std::memcpy(l1, program.bytes().data(), program.bytes().size());
    // The bell: an increment that the chip before fires.
    NocCommand& bell = chip.FindEthernet(ways.in)->niu(0).command(0);
    const hw::Coordinate at = PlaceOf(ways.in);
    const std::pair<uint32_t, uint32_t> fields[] = {
        {hw::kNocTargetLow, kArrived},
        {hw::kNocTargetHigh, hw::NocXy(kWorker.x, kWorker.y)},
        {hw::kNocReturnLow, 0x5F00},
        {hw::kNocReturnHigh, hw::NocXy(at.x, at.y)},
        {hw::kNocControl, hw::kNocAtomic | hw::kNocResponse},
        {hw::kNocLength, hw::kNocAtomicIncrement},
        {hw::kNocData, 1}};
    for (const auto& [offset, value] : fields) *bell.Register(offset) = value;
    EXPECT_FALSE(worker.WriteRegister(Accessor::FromNoc(), hw::kSoftReset0,
                                      hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc));
  }

  std::unique_ptr<Cluster> cluster_;
};

std::vector<std::vector<uint32_t>> RunWhole(uint32_t threads) {
  Ring ring(4, threads);
  EXPECT_TRUE(ring.cluster().Advance(0, 1'000'000)->quiescent);
  return ring.Result();
}

TEST(Cluster, HasTheSameResultOnAnyNumberOfThreads) {
  const auto one = RunWhole(1);
  EXPECT_EQ(one[0][kSteps], 0u << 16) << "24 steps of 4 chips: each has its own bytes again";
  EXPECT_GT(one[0][kSteps - 1], kSteps * 800) << "each step takes a latency";
  for (const uint32_t threads : {2u, 3u, 4u}) EXPECT_EQ(RunWhole(threads), one) << threads;
}

TEST(Cluster, HasTheSameResultForAnyDivisionOfTimeAmongItsOwners) {
  const auto whole = RunWhole(1);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Rng rng(seed, 1);
    Ring ring(4, 1 + rng.Below(2));
    bool quiescent = false;
    for (int calls = 0; calls < 100'000 && !quiescent; ++calls) {
      quiescent = ring.cluster().Advance(rng.Below(4), 1 + rng.Below(2000))->quiescent;
    }
    EXPECT_EQ(ring.Result(), whole) << seed;
  }
}

TEST(Cluster, RunsOnlyAsFarAsTheOwnerWhoIsAheadWants) {
  Ring ring(4, 1);
  EXPECT_EQ(ring.cluster().Advance(0, 5000)->clocks, 5000u);
  const uint64_t clock = ring.cluster().clock();
  EXPECT_GE(clock, 5000u);
  EXPECT_LT(clock, 5000u + 800);
  for (uint32_t owner = 1; owner < 4; ++owner) {
    const Chip::Progress progress = ring.cluster().Advance(owner, 5000).value();
    EXPECT_EQ(progress.clocks, 5000u);
    EXPECT_FALSE(progress.quiescent);
  }
  EXPECT_EQ(ring.cluster().clock(), clock);
}

TEST(Cluster, AResetOfOneChipLeavesTheOthersAsTheyAre) {
  Ring ring(4, 2);
  ASSERT_TRUE(ring.cluster().Advance(0, 10'000).ok());
  ASSERT_TRUE(ring.cluster().Reset(2).ok());
  // The others wait for it until nothing happens any more, and time passes for all.
  EXPECT_TRUE(ring.cluster().Advance(1, 1'000'000)->quiescent);
  const auto result = ring.Result();
  EXPECT_EQ(result[2][kSteps - 1], 0u);
  EXPECT_GT(result[3][5], 0u);
  EXPECT_EQ(ring.cluster().chip(2).clock(), ring.cluster().clock());
}

TEST(Cluster, AResetDropsWhatIsUnderWayToTheChip) {
  const auto cluster =
      Cluster::Create({DefaultOptions(Board::kP150), {2, {{{0, 2}, {1, 9}}}}}).value();
  EthernetTile& near = *cluster->chip(0).FindEthernet(2);
  const auto ring = [&] {  // a doorbell without a command: it would be a fault
    const auto put = [&](uint32_t offset, uint32_t value) {
      EXPECT_FALSE(near.WriteRegister(Accessor::FromNoc(), hw::kEthTransmit + offset, value));
    };
    put(hw::kEthTransmitDestination, hw::kNiuAddress + hw::kNocCommand);
    put(hw::kEthTransmitData, 1);
    put(hw::kEthTransmitCommand, hw::kEthWriteRegister);
  };
  ring();
  ASSERT_TRUE(cluster->Reset(1).ok());
  EXPECT_TRUE(cluster->Advance(0, 5000)->quiescent);
  EXPECT_TRUE(cluster->Advance(1, 5000).ok());
  cluster->chip(0).Idle(TransmitQueues::kLatch);
  ring();
  EXPECT_TRUE(cluster->Advance(0, 5000).ok());
  EXPECT_FALSE(cluster->Advance(1, 5000).ok()) << "without a reset it is one";
}

TEST(Cluster, RunsForAnOwnerWhoHasNotCalledForLong) {
  Ring ring(4, 1);
  ASSERT_TRUE(ring.cluster().Advance(0, 10'000).ok());
  const uint64_t clock = ring.cluster().clock();
  ASSERT_TRUE(ring.cluster().Advance(1, 1000).ok());
  ASSERT_TRUE(ring.cluster().Advance(1, 1000).ok());
  ASSERT_TRUE(ring.cluster().Advance(1, 1000).ok());
  EXPECT_GT(ring.cluster().clock(), clock);
}

std::string TextOf(const Topology& topology) {
  std::string text;
  for (const ChipLink& link : topology.links) {
    text += LinkEndText(link.a) + "-" + LinkEndText(link.b) + " ";
  }
  return text;
}

TEST(Topology, OfAGridConnectsNeighboursByTheirNextFreeChannels) {
  const struct {
    GridShape shape;
    const char* links;
  } kRows[] = {
      {{1, 2, false, false, 2}, "0.0-1.0 0.1-1.1 "},
      {{2, 2, false, false, 1}, "0.0-1.0 0.1-2.0 1.1-3.0 2.1-3.1 "},
      {{1, 3, false, true, 1}, "0.0-1.0 1.1-2.0 2.1-0.1 "},
      {{3, 1, true, false, 1}, "0.0-1.0 1.1-2.0 2.1-0.1 "},
      {{1, 3, false, false, 1}, "0.0-1.0 1.1-2.0 "},
      {{1, 1, false, false, 4}, ""},
  };
  for (const auto& [shape, links] : kRows) {
    const StatusOr<Topology> topology = GridTopology(shape, 0xFFF);
    ASSERT_TRUE(topology.ok()) << topology.status().ToString();
    EXPECT_EQ(TextOf(*topology), links);
    EXPECT_TRUE(Validate(*topology, 0xFFF).ok());
  }
  const Topology galaxy = GridTopology({8, 4, true, true, 2}, 0xFFF).value();
  EXPECT_EQ(galaxy.chips, 32u);
  EXPECT_EQ(galaxy.links.size(), 32u * 2 * 2);
}

TEST(Topology, WithARuleBrokenNamesTheEnd) {
  const struct {
    const char* links;
    const char* reason;
  } kRows[] = {
      {"0.0 1.0\n0.1 1.0", "1.0 is connected twice"},
      {"0.0 1.0\n1.0 0.1", "1.0 is connected twice"},
      {"0.12 1.0", "0.12: the chip has no Ethernet channel 12"},
      {"0.40 1.0", "0.40: the chip has no Ethernet channel 40"},
      {"0.0 0.1", "0.0 is connected to its own chip, at 0.1"},
      {"0.0 2.0", "chip 1 has no link to another"},
      {"0.0\n", "line 1: \"0.0\" is not the two ends of a link"},
      {"# ends\n\n0.0 1.0 2.0\n", "line 3: \"0.0 1.0 2.0\" is not the two ends"},
      {"0.0 1", "line 1: \"1\" is not CHIP.CHANNEL, such as 1.9"},
      {"0.0 1.x", "\"1.x\" is not CHIP.CHANNEL"},
      {"0.0 64.1", "64.1: a cluster has at most 64 chips"},
      {"0.0 99999999999.1", "is not a number"},
  };
  for (const auto& [links, reason] : kRows) {
    const StatusOr<Topology> topology = ParseTopology(links);
    const Status status = topology.ok() ? Validate(*topology, 0xFFF) : topology.status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << links;
    EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr(reason));
  }
  const Topology good = ParseTopology("0.0 1.9 # QSFP\r\n  1.3\t0.4\n").value();
  EXPECT_THAT(good.links, ElementsAre(ChipLink{{0, 0}, {1, 9}}, ChipLink{{1, 3}, {0, 4}}));
}

TEST(Topology, OfAGridThatCannotBeSaysWhy) {
  const struct {
    GridShape shape;
    const char* reason;
  } kRows[] = {
      {{0, 4}, "0x4 chips: 1 to 64 are possible"},
      {{9, 8}, "9x8 chips: 1 to 64 are possible"},
      {{1, 65}, "1 to 64 are possible"},
      {{65536, 65536}, "1 to 64 are possible"},
      {{2, 2, false, false, 5}, "5 links between two neighbours"},
      {{3, 3, true, true, 4}, "has no Ethernet channel left"},
  };
  for (const auto& [shape, reason] : kRows) {
    const Status status = GridTopology(shape, 0xFFF).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr(reason));
  }
}

}  // namespace
}  // namespace ttfd::sim::sim_cluster_test
