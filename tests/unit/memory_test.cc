// The bank allocators against a plain map of bytes, and their refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/memory/bank_allocator.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

using testing::HasSubstr;

BankSpace Space(uint64_t bytes = 64 * 256) { return {"DRAM", 7, 0x1000, bytes}; }

TEST(BankAllocator, TakesTheSameRangeInEveryBank) {
  BankAllocator allocator(Space());
  const auto one = allocator.Allocate(1);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->address, 0x1000u);
  EXPECT_EQ(one->bank_bytes, 64u);
  const auto rounds = allocator.Allocate(3 * 64);
  ASSERT_TRUE(rounds.ok());
  EXPECT_EQ(rounds->address, 0x1040u);
  EXPECT_EQ(rounds->bank_bytes, 3 * 64u);
  EXPECT_EQ(allocator.Allocate(100)->bank_bytes, 128u);
  EXPECT_EQ(allocator.used_bytes(), (1 + 3 + 2) * 64 * 7u);
}

TEST(BankAllocator, RefusesWithWhatIsLeft) {
  BankAllocator allocator(Space());
  const auto message = [](const StatusOr<BankAllocation>& result, StatusCode code) {
    EXPECT_EQ(result.status().code(), code);
    return std::string(StatusMessage(result.status()));
  };
  EXPECT_THAT(message(allocator.Allocate(0), StatusCode::kInvalidArgument), HasSubstr("0 bytes"));
  const auto full = StatusCode::kResourceExhausted;
  EXPECT_THAT(message(allocator.Allocate(~uint64_t{0}), full),
              HasSubstr("the largest holds 16384"));
  EXPECT_THAT(message(allocator.Allocate(32768), full), HasSubstr("32768 bytes in a bank of DRAM"));
  ASSERT_TRUE(allocator.Allocate(64 * 256).ok()) << "all of it";
  EXPECT_THAT(message(allocator.Allocate(1), full), HasSubstr("the largest holds 0"));
}

TEST(BankAllocator, TellsMemoryNobodyHadFromMemoryThatWasFreed) {
  BankAllocator allocator(Space());
  const auto first = *allocator.Allocate(128);
  const auto second = *allocator.Allocate(64);
  EXPECT_TRUE(first.never_used && second.never_used);
  allocator.Free(first);
  const auto again = *allocator.Allocate(128);
  EXPECT_EQ(again.address, first.address);
  EXPECT_FALSE(again.never_used);
  EXPECT_TRUE(allocator.Allocate(64)->never_used);
}

TEST(BankAllocator, TakesTheSmallestRangeThatFits) {
  BankAllocator allocator(Space());
  const auto large = *allocator.Allocate(64 * 4);
  const auto wall = *allocator.Allocate(64);
  const auto small = *allocator.Allocate(64 * 2);
  const auto wall2 = *allocator.Allocate(64);
  static_cast<void>(wall);
  static_cast<void>(wall2);
  allocator.Free(large);
  allocator.Free(small);
  EXPECT_EQ(allocator.Allocate(64 * 2)->address, small.address);
}

TEST(BankAllocator, NeverHandsOutAByteTwiceAndMergesWhatIsFreed) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const BankSpace space = Space(64 * 64);
    BankAllocator allocator(space);
    std::vector<bool> used(space.bytes_per_bank / 64), touched(used.size());
    std::vector<BankAllocation> live;
    for (int step = 0; step < 400; ++step) {
      if (random() % 2 == 0 && !live.empty()) {
        const size_t victim = random() % live.size();
        for (uint64_t at = 0; at < live[victim].bank_bytes; at += 64) {
          used[(live[victim].address - space.base_address + at) / 64] = false;
        }
        allocator.Free(live[victim]);
        live.erase(live.begin() + static_cast<long>(victim));
        continue;
      }
      const uint64_t size = 1 + random() % (64 * 12);
      const auto allocation = allocator.Allocate(size);
      size_t longest = 0;
      for (size_t at = 0, run = 0; at < used.size(); ++at) {
        run = used[at] ? 0 : run + 1;
        longest = std::max(longest, run);
      }
      if (!allocation.ok()) {
        EXPECT_EQ(allocation.status().code(), StatusCode::kResourceExhausted);
        EXPECT_THAT(std::string(StatusMessage(allocation.status())),
                    HasSubstr(fmt::format("the largest holds {} bytes", longest * 64)));
        continue;
      }
      bool never_used = true;
      for (uint64_t at = 0; at < allocation->bank_bytes; at += 64) {
        const size_t unit = (allocation->address - space.base_address + at) / 64;
        ASSERT_LT(unit, used.size());
        ASSERT_FALSE(used[unit]) << "handed out twice";
        never_used = never_used && !touched[unit];
        used[unit] = touched[unit] = true;
      }
      if (allocation->never_used) {
        EXPECT_TRUE(never_used);
      }
      live.push_back(*allocation);
    }
    for (const BankAllocation& allocation : live) allocator.Free(allocation);
    EXPECT_EQ(allocator.free_bank_bytes(), space.bytes_per_bank);
    EXPECT_TRUE(allocator.Allocate(space.bytes_per_bank).ok()) << "one range again";
  }
}

}  // namespace
}  // namespace ttfd
