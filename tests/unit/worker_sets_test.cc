// Which workers belong to which sub-device: always disjoint, always as asked for last.
#include "runtime/card/worker_sets.h"

#include <gtest/gtest.h>

#include "runtime/card/launch_layouts.h"
#include "runtime/command/launch_ring.h"
#include "tests/support/random.h"

namespace ttfd::worker_sets_test {
namespace {

constexpr GridSize kGrid = {12, 10};

TileSet All() { return TilesOf({0, 0, 11, 9}, kGrid); }
TileSet Range(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1) {
  return TilesOf({x0, y0, x1, y1}, kGrid);
}

TEST(WorkerSets, BeginWithAllWorkersInSetZero) {
  WorkerSets sets(All());
  EXPECT_EQ(sets.Find(All()), 0u);
  EXPECT_EQ(sets.Overlapping(Range(3, 3, 3, 3)), 1u);
}

TEST(WorkerSets, AChangeEndsWhatItTakesFromAndLeavesOrphans) {
  WorkerSets sets(All());
  const TileSet left = Range(0, 0, 5, 9);
  const auto change = sets.Plan(left, std::nullopt);
  EXPECT_EQ(change.ended, 1u);
  EXPECT_EQ(change.orphans, All() & ~left);
  sets.Apply(change, left, 1);
  EXPECT_EQ(sets.Find(left), change.number);
  EXPECT_EQ(sets[change.number].hardware_queue, 1u);
  const TileSet right = Range(6, 0, 11, 9);
  const auto other = sets.Plan(right, std::nullopt);
  EXPECT_EQ(other.ended, 0u) << "nobody loses anything";
  EXPECT_TRUE(other.orphans.none());
  EXPECT_NE(other.number, change.number);
}

TEST(WorkerSets, StayDisjointAndGiveTheNumberAskedFor) {
  WorkerSets sets(All());
  Random random(6);
  for (int i = 0; i < 3000; ++i) {
    const uint32_t x0 = random() % 12, y0 = random() % 10;
    const TileSet tiles =
        i % 7 == 0 ? All() : Range(x0, y0, x0 + random() % (12 - x0), y0 + random() % (10 - y0));
    std::optional<uint32_t> number;
    if (i % 3 == 0) number = random() % abi::kMaxSubDevices;
    if (!number.has_value() && sets.Find(tiles).has_value()) continue;
    TileSet lost;
    const auto change = sets.Plan(tiles, number);
    EXPECT_EQ(change.number, number.value_or(change.number));
    for (uint32_t set = 0; set < abi::kMaxSubDevices; ++set) {
      if ((change.ended >> set & 1) != 0) lost |= sets[set].tiles;
      EXPECT_TRUE((sets[set].tiles & tiles).none() || (change.ended >> set & 1) != 0);
    }
    EXPECT_EQ(change.orphans, lost & ~tiles);
    sets.Apply(change, tiles, random() % 2);
    EXPECT_EQ(sets.Find(tiles), change.number);
    TileSet seen;
    for (uint32_t set = 0; set < abi::kMaxSubDevices; ++set) {
      ASSERT_TRUE((seen & sets[set].tiles).none());
      seen |= sets[set].tiles;
    }
  }
}

TEST(LaunchRing, GivesNoPlaceThatALaunchMayStillUse) {
  LaunchRing ring;
  ring.Clear();
  Random random(2);
  struct Use {
    uint32_t slot, begin, end;
    uint64_t busy;
  };
  std::vector<Use> uses;
  uint64_t waited = 0, count = 0;
  for (int i = 0; i < 4000; ++i) {
    if (i % 500 == 499) {
      // A replay: everything is in use until it has ended.
      ring.Fill(count += 1000);
      uses.assign(1, {abi::kLaunchSlots, abi::kConfigRingAddress,
                      abi::kConfigRingAddress + abi::kConfigRingBytes, count});
      for (uint32_t slot = 0; slot < abi::kLaunchSlots; ++slot) uses.push_back({slot, 0, 0, count});
    }
    const uint32_t bytes = 16 * (random() % 400);
    const LaunchRing::Place place = ring.Take(bytes, waited);
    waited = std::max(waited, place.wait_workers);
    ASSERT_LT(place.slot, abi::kLaunchSlots);
    for (const Use& use : uses) {
      const bool meets = use.slot == place.slot || (place.config_address < use.end &&
                                                    use.begin < place.config_address + bytes);
      ASSERT_TRUE(!meets || use.busy <= waited) << "launch " << i;
    }
    std::erase_if(uses, [waited](const Use& use) { return use.busy <= waited; });
    count += 1 + random() % 110;
    uses.push_back({place.slot, place.config_address, place.config_address + bytes, count});
    ring.Used(count);
  }
}

TEST(LaunchLayouts, AreBuiltOnceForEachShapeOfArguments) {
  const CardGeometry card({1, 2}, {hw::NocXy(17, 12)}, {{{15, 3}, {15, 5}}});
  LaunchLayouts layouts(card);
  const auto program = [] {
    auto image = std::make_shared<KernelImage>();
    image->bytes.resize(64);
    ProgramSpec spec;
    spec.kernels.push_back({image, hw::kBrisc, {{0, 0, 1, 3}}});
    return *BuildProgram(1, spec, {2, 10});
  };
  const auto one = program();
  std::vector<KernelArguments> arguments(1);
  const auto first = layouts.Get(one, arguments);
  EXPECT_EQ(layouts.Get(one, arguments), first);
  arguments[0].common = {1, 2, 3};
  const auto second = layouts.Get(one, arguments);
  EXPECT_NE(second, first);
  arguments[0].common = {4, 5, 6};
  EXPECT_EQ(layouts.Get(one, arguments), second) << "other words, same shape";
  arguments[0].common.clear();
  EXPECT_EQ(layouts.Get(one, arguments), first);
  for (size_t i = 0; i < LaunchLayouts::kMaxLayouts; ++i) layouts.Get(program(), arguments);
  EXPECT_NE(layouts.Get(one, arguments), first) << "forgotten for newer ones";
}

}  // namespace
}  // namespace ttfd::worker_sets_test
