// What outlasts a launch: kernel cache, config ring, go table. Nothing is overwritten while it may
// be in use, nothing is written that is there already.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/abi/kernel_image.h"
#include "runtime/base/bytes.h"
#include "runtime/base/staged.h"
#include "runtime/card/kernel_cache.h"
#include "runtime/card/program_registry.h"
#include "runtime/command/config_ring.h"
#include "runtime/command/go_table.h"
#include "tests/support/random.h"

namespace ttfd::dispatch_state_test {
namespace {

using testing::ElementsAre;

constexpr GridSize kGrid = {12, 10};

// An image with code of its own.
std::shared_ptr<KernelImage> Image(size_t bytes) {
  static uint32_t images = 0;
  auto image = std::make_shared<KernelImage>();
  image->bytes.resize(bytes);
  StoreAt(image->bytes.data(), ++images);
  return image;
}

// What another user gets who loads the same file.
std::shared_ptr<KernelImage> LoadedAgain(const KernelImage& image, std::string name) {
  auto again = std::make_shared<KernelImage>(image);
  again->name = std::move(name);
  return again;
}

// A trace is opaque here: only its lifetime counts.
std::shared_ptr<const Trace> SomeTrace() { return {std::make_shared<int>(), nullptr}; }

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
  std::shared_ptr<const Trace> trace = SomeTrace();
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

class EqualImages : public testing::Test {
 protected:
  const std::shared_ptr<KernelImage> mine_ = LoadedAgain(*Image(1024), "mine");
  const std::shared_ptr<KernelImage> yours_ = LoadedAgain(*mine_, "yours");
  const std::shared_ptr<const Program> my_program_ = Use({mine_}, {{0, 0, 0, 0}});
  const std::shared_ptr<const Program> your_program_ = Use({yours_}, {{0, 0, 1, 0}});
  KernelCache cache_{0x10000, 4096};

  std::string NameAt(uint32_t address, const Program* program) const {
    const KernelCache::Resident resident = cache_.At(address, program);
    return resident.image == nullptr ? "" : resident.image->name;
  }
};

TEST_F(EqualImages, ShareAPlacement) {
  const auto mine = Place(cache_, *my_program_);
  const auto yours = Place(cache_, *your_program_);
  EXPECT_EQ(yours.images[0].address, mine.images[0].address);
  EXPECT_EQ(yours.images[0].missing, (std::vector<CoreRange>{{1, 0, 1, 0}}))
      << "where it is not yet";
  EXPECT_EQ(cache_.Images().size(), 1u);
  EXPECT_TRUE(cache_.PlaceResident(*my_program_).has_value());
  EXPECT_TRUE(cache_.PlaceResident(*your_program_).has_value());
}

TEST_F(EqualImages, ArePinnedOnce_UntilNoTraceIsLeft) {
  std::shared_ptr<const Trace> my_trace = SomeTrace();
  std::shared_ptr<const Trace> your_trace = SomeTrace();
  Place(cache_, *my_program_);
  cache_.Pin(*my_program_, my_trace);
  const uint32_t address = Place(cache_, *your_program_).images[0].address;
  cache_.Pin(*your_program_, your_trace);
  EXPECT_EQ(cache_.pinned_bytes(), 1024u);
  my_trace.reset();
  EXPECT_EQ(cache_.pinned_bytes(), 1024u) << "the other trace lives";
  Place(cache_, *Use({Image(3072)}, {{0, 0, 0, 0}}));
  Place(cache_, *Use({Image(3072)}, {{0, 0, 0, 0}}));
  EXPECT_THAT(cache_.AddressesOf(*my_program_), ElementsAre(address));
  your_trace.reset();
  EXPECT_EQ(cache_.pinned_bytes(), 0u);
}

TEST_F(EqualImages, AreInUseUntilBothLaunchesEnded) {
  Place(cache_, *my_program_);
  cache_.Used(*my_program_, 0, 1, 11);
  Place(cache_, *your_program_);
  cache_.Used(*your_program_, 0, 2, 22);
  const WorkerCounts wait = Place(cache_, *Use({Image(4096)}, {{0, 0, 0, 0}})).wait;
  EXPECT_EQ(wait.queue[0][1], 11u);
  EXPECT_EQ(wait.queue[0][2], 22u);
}

TEST_F(EqualImages, HaveTheNamesOfTheirOwnProgram) {
  const auto other = Use({Image(512)}, {{5, 5, 5, 5}});
  const uint32_t address = Place(cache_, *my_program_).images[0].address + 8;
  Place(cache_, *your_program_);
  EXPECT_EQ(NameAt(address, my_program_.get()), "mine");
  EXPECT_EQ(NameAt(address, your_program_.get()), "yours");
  EXPECT_EQ(NameAt(address, other.get()), "") << "a program without it";
  EXPECT_EQ(NameAt(address, nullptr), "");
  EXPECT_EQ(cache_.At(address, nullptr).bytes, 1024u) << "but an image is there";
  Place(cache_, *Use({Image(4096)}, {{0, 0, 0, 0}}));
  EXPECT_EQ(NameAt(address, my_program_.get()), "mine") << "also when it was evicted lately";
  EXPECT_EQ(NameAt(address, your_program_.get()), "yours");
}

TEST_F(EqualImages, OfAnotherHartOrWithAnotherByteAreOthers) {
  const auto changed = LoadedAgain(*mine_, "mine");
  changed->bytes.back() ^= std::byte{1};
  const auto other_hart = LoadedAgain(*mine_, "mine");
  other_hart->hart = hw::kNcrisc;
  const auto longer = LoadedAgain(*mine_, "mine");
  longer->bytes.resize(1040);
  KernelCache cache(0x10000, 8192);
  Place(cache, *my_program_);
  for (const auto& image : {changed, other_hart, longer}) {
    EXPECT_FALSE(Place(cache, *Use({image}, {{0, 0, 0, 0}})).images[0].missing.empty());
  }
  EXPECT_EQ(cache.Images().size(), 4u);
}

TEST_F(EqualImages, InOneProgram_AreWrittenToTheTilesOfEach) {
  ProgramSpec spec;
  spec.kernels.push_back({mine_, hw::kBrisc, {{0, 0, 0, 0}}});
  spec.kernels.push_back({yours_, hw::kBrisc, {{1, 0, 1, 0}}});
  const auto program = *BuildProgram(1, spec, kGrid);
  const auto placed = Place(cache_, *program);
  ASSERT_EQ(placed.images.size(), 2u);
  EXPECT_EQ(placed.images[0].address, placed.images[1].address);
  EXPECT_EQ(placed.images[0].missing, (std::vector<CoreRange>{{0, 0, 0, 0}}));
  EXPECT_EQ(placed.images[1].missing, (std::vector<CoreRange>{{1, 0, 1, 0}}));
  EXPECT_TRUE(cache_.PlaceResident(*program).has_value());
}

std::shared_ptr<const Program> NumberedProgram(uint32_t id) {
  auto program = std::make_shared<Program>();
  program->id = id;
  return program;
}

TEST(ProgramRegistry, FindsProgramsThatExist) {
  ProgramRegistry registry;
  auto program = NumberedProgram(7);
  registry.Add(program);
  EXPECT_EQ(registry.Find(7), program);
  EXPECT_EQ(registry.Find(8), nullptr);
  const auto later = NumberedProgram(7);
  registry.Add(later);
  EXPECT_EQ(registry.Find(7), later);
  registry.Add(program);
  program.reset();
  EXPECT_EQ(registry.Find(7), nullptr) << "gone";
}

TEST(ProgramRegistry, DropsProgramsThatAreGone) {
  ProgramRegistry registry;
  const auto held = NumberedProgram(1);
  registry.Add(held);
  for (uint32_t id = 2; id < 1000; ++id) {
    registry.Add(NumberedProgram(id));
    ASSERT_LE(registry.entries(), ProgramRegistry::kMinEntries);
  }
  EXPECT_EQ(registry.Find(1), held);
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
}  // namespace ttfd::dispatch_state_test
