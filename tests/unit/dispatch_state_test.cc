// What outlasts a launch: kernel cache, config ring, go table. Nothing is overwritten while it may
// be in use, nothing is written that is there already.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/abi/kernel_image.h"
#include "runtime/base/staged.h"
#include "runtime/command/config_ring.h"
#include "runtime/command/go_table.h"
#include "runtime/dispatch/kernel_cache.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

using testing::ElementsAre;

constexpr GridSize kGrid = {12, 10};

std::shared_ptr<const KernelImage> Image(size_t bytes) {
  auto image = std::make_shared<KernelImage>();
  image->bytes.resize(bytes);
  return image;
}

std::shared_ptr<const Program> Use(const std::vector<std::shared_ptr<const KernelImage>>& images,
                                   const std::vector<CoreRange>& cores) {
  ProgramSpec spec;
  uint32_t hart = 0;
  for (const auto& image : images) {
    spec.kernels.push_back({image, static_cast<hw::Hart>(hart++), cores});
  }
  return *BuildProgram(1, spec, kGrid);
}

KernelCache::Placement Place(KernelCache& cache, const Program& program) {
  auto placed = cache.Place(program, TilesOf({0, 0, 11, 9}, kGrid));
  EXPECT_TRUE(placed.ok()) << placed.status().ToString();
  return std::move(placed).value_or(KernelCache::Placement());
}

TEST(KernelCache, WritesAnImageOncePerTile) {
  KernelCache cache(0x10000, 4096);
  const auto image = Image(1024);
  const auto one = Place(cache, *Use({image}, {{2, 2, 2, 2}}));
  EXPECT_EQ(one.images[0].missing, (std::vector<CoreRange>{{2, 2, 2, 2}})) << "one tile only";
  EXPECT_TRUE(one.images[0].new_code);
  EXPECT_TRUE(Place(cache, *Use({image}, {{2, 2, 2, 2}})).images[0].missing.empty());
  const auto row = Place(cache, *Use({image}, {{0, 2, 11, 2}}));
  EXPECT_EQ(row.images[0].address, one.images[0].address);
  EXPECT_EQ(row.images[0].missing, (std::vector<CoreRange>{{0, 2, 1, 2}, {3, 2, 11, 2}}));
  EXPECT_FALSE(Place(cache, *Use({image}, {{0, 2, 11, 2}})).images[0].new_code);
}

TEST(KernelCache, DropsInstructionCachesOfTilesInTheBoxOnTheirFirstLaunch) {
  KernelCache cache(0x10000, 4096);
  const auto image = Image(1024);
  std::vector<CoreRange> diagonal;
  for (uint32_t i = 0; i < 6; ++i) diagonal.push_back({i, i, i, i});
  const auto placed = Place(cache, *Use({image}, diagonal));
  EXPECT_EQ(placed.images[0].missing, (std::vector<CoreRange>{{0, 0, 5, 5}})) << "too many pieces";
  const auto other = Place(cache, *Use({image}, {{1, 0, 1, 0}}));
  EXPECT_TRUE(other.images[0].missing.empty()) << "it was written with the box";
  EXPECT_TRUE(other.images[0].new_code) << "but this tile may still cache what was there before";
}

TEST(KernelCache, EvictsTheLeastRecentlyUsedAndWaitsForItsLaunch) {
  KernelCache cache(0x10000, 4096);
  const auto a = Use({Image(1024)}, {{0, 0, 0, 0}});
  const auto b = Use({Image(1024)}, {{0, 0, 0, 0}});
  const auto c = Use({Image(2048)}, {{0, 0, 0, 0}});
  Place(cache, *a);
  cache.Used(*a, 0, 0, 1);
  Place(cache, *b);
  cache.Used(*b, 0, 0, 2);
  Place(cache, *c);
  cache.Used(*c, 0, 0, 3);
  EXPECT_TRUE(Place(cache, *a).images[0].missing.empty());
  cache.Used(*a, 0, 0, 4);
  const auto d = Use({Image(1024)}, {{0, 0, 0, 0}});
  EXPECT_EQ(Place(cache, *d).wait.queue[0][0], 2u) << "b was oldest";
  EXPECT_TRUE(Place(cache, *a).images[0].missing.empty()) << "a stayed";
  EXPECT_FALSE(Place(cache, *b).images[0].missing.empty()) << "b went";
}

TEST(KernelCache, KeepsWhatIsInUseApartWhateverTheSizes) {
  Random random(5);
  KernelCache cache(0x10000, 0x20000);
  std::vector<std::shared_ptr<const Program>> programs;
  for (int i = 0; i < 30; ++i) {
    std::vector<std::shared_ptr<const KernelImage>> images;
    const int count = 1 + static_cast<int>(random() % 3);
    for (int k = 0; k < count; ++k) images.push_back(Image(64 + random() % 43000));
    programs.push_back(Use(images, {{0, 0, 3, 3}}));
  }
  // Who has which bytes until which launch ended; launches end as one worker count each.
  struct Range {
    uint32_t begin, end;
    const KernelImage* image;
    uint64_t busy;
  };
  std::vector<Range> ranges;
  uint64_t waited = 0;
  for (uint64_t launch = 1; launch < 3000; ++launch) {
    const Program& program = *programs[random() % programs.size()];
    const auto placed = Place(cache, program);
    waited = std::max(waited, placed.wait.queue[0][0]);
    for (size_t i = 0; i < program.images.size(); ++i) {
      const KernelImage* image = program.images[i].image.get();
      const uint32_t begin = placed.images[i].address;
      const uint32_t end = begin + static_cast<uint32_t>(image->bytes.size());
      ASSERT_GE(begin, 0x10000u);
      ASSERT_LE(end, 0x30000u);
      bool resident = false;
      for (const Range& range : ranges) {
        if (range.image == image && range.begin == begin) resident = true;
        if (range.image == image || range.end <= begin || end <= range.begin) continue;
        ASSERT_LE(range.busy, waited) << "overwritten while it may run";
      }
      std::erase_if(ranges, [&](const Range& range) {
        return range.image != image && range.begin < end && begin < range.end;
      });
      if (placed.images[i].missing.empty()) {
        ASSERT_TRUE(resident) << "not written, but not there either";
      }
      std::erase_if(ranges, [&](const Range& range) { return range.image == image; });
      ranges.push_back({begin, end, image, launch});
    }
    cache.Used(program, 0, 0, launch);
  }
}

TEST(KernelCache, WaitsForWhoeverHadThePlaceOnEveryTileItComesTo) {
  KernelCache cache(0x10000, 2048);
  const auto evicted = Use({Image(2048)}, {{0, 0, 11, 9}});
  Place(cache, *evicted);
  cache.Used(*evicted, 1, 3, 777);
  const auto image = Image(2048);
  EXPECT_EQ(Place(cache, *Use({image}, {{0, 0, 0, 0}})).wait.queue[1][3], 777u);
  EXPECT_EQ(Place(cache, *Use({image}, {{5, 5, 5, 5}})).wait.queue[1][3], 777u)
      << "also where it comes later";
  cache.Clear();
  EXPECT_EQ(Place(cache, *Use({image}, {{0, 0, 0, 0}})).wait, WorkerCounts())
      << "a boot ended them all";
}

TEST(KernelCache, GivesAwayThePlaceOfWhatHasEndedBeforeThatOfWhatRuns) {
  KernelCache cache(0x10000, 4096);
  const auto runs = Use({Image(2048)}, {{0, 0, 0, 0}});
  const auto ended = Use({Image(2048)}, {{1, 1, 1, 1}});
  Place(cache, *runs);
  cache.Used(*runs, 0, 1, 5);
  Place(cache, *ended);
  cache.Used(*ended, 0, 2, 3);
  WorkerCounts seen;
  seen.queue[0][1] = 4;
  seen.queue[0][2] = 3;
  const auto next = cache.Place(*Use({Image(2048)}, {{2, 2, 2, 2}}), TileSet().set(), seen);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->wait.queue[0][1], 0u) << "the one that runs was used before the other, and stays";
  EXPECT_EQ(next->wait.queue[0][2], 3u);
}

TEST(KernelCache, WritesNothingBeyondTheWorkersOfTheLaunch) {
  KernelCache cache(0x10000, 4096);
  std::vector<CoreRange> diagonal;
  for (uint32_t i = 0; i < 6; ++i) diagonal.push_back({i, i, i, i});
  TileSet workers;
  for (const CoreRange& core : diagonal) workers |= TilesOf(core, kGrid);
  const auto placed = cache.Place(*Use({Image(1024)}, diagonal), workers);
  ASSERT_TRUE(placed.ok());
  TileSet written;
  for (const CoreRange& range : placed->images[0].missing) written |= TilesOf(range, kGrid);
  EXPECT_EQ(written, workers);
}

TEST(KernelCache, LeavesWhatALivingTraceHoldsWhereItIs) {
  KernelCache cache(0x10000, 4096);
  const auto held = Use({Image(1024)}, {{0, 0, 0, 0}});
  const auto first = Use({Image(1024)}, {{0, 0, 0, 0}});
  // A trace is opaque here: only that somebody holds it counts.
  std::shared_ptr<const Trace> trace(std::make_shared<int>(), nullptr);
  Place(cache, *first);
  const uint32_t address = Place(cache, *held).images[0].address;
  cache.Pin(*held, trace);
  EXPECT_EQ(cache.pinned_bytes(), 1024u);
  const auto large = Use({Image(2048)}, {{0, 0, 0, 0}});
  EXPECT_EQ(Place(cache, *large).images[0].address, address + 1024) << "first went, held stays";
  const auto larger = Use({Image(3072)}, {{0, 0, 0, 0}});
  EXPECT_EQ(cache.Place(*larger, TilesOf({0, 0, 11, 9}, kGrid)).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_TRUE(Place(cache, *held).images[0].missing.empty()) << "and was not disturbed";
  trace.reset();
  EXPECT_EQ(cache.pinned_bytes(), 0u);
  Place(cache, *larger);
  EXPECT_FALSE(Place(cache, *held).images[0].missing.empty()) << "nothing held it any more";
}

TEST(KernelCache, PlaceResident_TakesOnlyWhatHasNothingToBeSent) {
  KernelCache cache(0x10000, 4096);
  const auto program = Use({Image(1024), Image(512)}, {{0, 0, 1, 0}});
  EXPECT_FALSE(cache.PlaceResident(*program).has_value()) << "never placed";
  const auto placed = Place(cache, *program);
  ASSERT_TRUE(placed.images[0].new_code);
  const auto again = cache.PlaceResident(*program);
  ASSERT_TRUE(again.has_value());
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again->images[i].address, placed.images[i].address);
    EXPECT_TRUE(again->images[i].missing.empty());
    EXPECT_FALSE(again->images[i].new_code);
  }
  EXPECT_EQ(again->wait, WorkerCounts());
}

TEST(KernelCache, PlaceResident_LeavesInstructionCachesToBeDropped) {
  KernelCache cache(0x10000, 4096);
  const auto image = Image(1024);
  std::vector<CoreRange> diagonal;
  for (uint32_t i = 0; i < 6; ++i) diagonal.push_back({i, i, i, i});
  Place(cache, *Use({image}, diagonal));  // writes the whole box
  const auto other = Use({image}, {{1, 0, 1, 0}});
  EXPECT_FALSE(cache.PlaceResident(*other).has_value()) << "it is there, but was never run";
  EXPECT_TRUE(Place(cache, *other).images[0].new_code);
  EXPECT_TRUE(cache.PlaceResident(*other).has_value());
}

TEST(KernelCache, PlaceResident_CountsAsAUse) {
  KernelCache cache(0x10000, 2048);
  const auto a = Use({Image(1024)}, {{0, 0, 0, 0}});
  const auto b = Use({Image(1024)}, {{0, 0, 0, 0}});
  Place(cache, *a);
  Place(cache, *b);
  ASSERT_TRUE(cache.PlaceResident(*a).has_value());
  Place(cache, *Use({Image(1024)}, {{0, 0, 0, 0}}));
  EXPECT_TRUE(cache.PlaceResident(*a).has_value());
  EXPECT_FALSE(cache.PlaceResident(*b).has_value()) << "it was the oldest";
}

TEST(Staged, APlanCountsAsAWholeOrNotAtAll) {
  Staged<std::vector<int>> list(std::vector<int>{1});
  list.Change().push_back(2);
  list.Change().push_back(3);
  EXPECT_THAT(*list, ElementsAre(1, 2, 3)) << "the plan sees itself";
  EXPECT_THAT(list.now(), ElementsAre(1));
  list.Drop();
  EXPECT_THAT(*list, ElementsAre(1));
  list.Change().push_back(4);
  list.Commit();
  list.Commit();
  EXPECT_THAT(*list, ElementsAre(1, 4));
  list.Change().clear();
  list.Drop();
  EXPECT_THAT(list.now(), ElementsAre(1, 4));
}

TEST(ConfigRing, NeverOverlapsALaunchThatMayRun) {
  Random random(3);
  ConfigRing ring(0xA000, 0x6000);
  struct Block {
    uint32_t begin, end;
    uint64_t busy;
  };
  std::vector<Block> blocks;
  uint64_t waited = 0;
  for (uint64_t launch = 1; launch < 5000; ++launch) {
    const uint32_t bytes =
        16 * (1 + static_cast<uint32_t>(random()) % (launch % 7 == 0 ? 1536 : 64));
    const ConfigRing::Block block = ring.Take(bytes, waited);
    waited = std::max(waited, block.wait_workers);
    ASSERT_GE(block.address, 0xA000u);
    ASSERT_LE(block.address + bytes, 0x10000u);
    ASSERT_LT(block.wait_workers, launch);
    for (const Block& other : blocks) {
      if (other.end <= block.address || block.address + bytes <= other.begin) continue;
      ASSERT_LE(other.busy, waited) << "launch " << launch;
    }
    std::erase_if(blocks, [&](const Block& other) { return other.busy <= waited; });
    blocks.push_back({block.address, block.address + bytes, launch});
    ring.Used(launch);
  }
}

TEST(GoTable, KeepsListsUntilItIsFull) {
  GoTable table;
  const std::vector<uint32_t> first = {1, 2, 3};
  const GoPlan plan = table.Plan(first);
  EXPECT_FALSE(plan.multicast);
  EXPECT_EQ(plan.count, 3);
  EXPECT_EQ(plan.new_table, first);
  EXPECT_TRUE(table.Plan(first).new_table.empty()) << "known";
  const std::vector<uint32_t> inner = {2, 3};
  EXPECT_EQ(table.Plan(inner).first, 1) << "part of a known list";
  for (uint32_t i = 0; i < 19; ++i) {
    const std::vector<uint32_t> other = {100 + i, 200 + i, 300 + i};
    const GoPlan next = table.Plan(other);
    EXPECT_EQ(next.first, 3 + 3 * i);
    EXPECT_LE(next.new_table.size(), size_t{abi::kMaxGoNocWords});
  }
  const std::vector<uint32_t> overflow = {7, 8, 9};
  EXPECT_EQ(table.Plan(overflow).first, 0) << "a full table starts anew";
  EXPECT_FALSE(table.Plan(first).new_table.empty());
  EXPECT_TRUE(table.Plan(std::vector<uint32_t>(kMaxUnicastGoTargets + 1)).multicast);
}

}  // namespace
}  // namespace ttfd
