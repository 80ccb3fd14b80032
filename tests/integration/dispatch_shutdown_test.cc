// A shutdown ends within its limit whatever the card is at, and the next boot finds the card as it needs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/booted_card.h"
#include "tests/support/bump_counters.h"

namespace ttfd {
namespace {

constexpr CoreRange kTile = {3, 2, 3, 2};
constexpr Duration kLimit = std::chrono::milliseconds(50);

uint32_t Counted(BootedCard& card, const BumpCounters& counters) {
  const auto bytes = card.Read(counters.region(), 0, counters.region().size_bytes);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  uint32_t sum = 0;
  for (size_t at = 0; bytes.ok() && at < bytes->size(); at += BumpCounters::kPage) {
    uint32_t word = 0;
    std::memcpy(&word, &(*bytes)[at], sizeof word);
    sum += word;
  }
  return sum;
}

TEST(DispatchShutdown, DoesNotWaitForALaunchBeyondItsLimit) {
  BootedCard card;
  BumpCounters counters(card);
  const auto program = counters.ProgramOn(kTile);
  const std::vector<std::byte> zero(counters.region().size_bytes);
  ASSERT_TRUE(card.Write(counters.region(), 0, zero).ok());
  ASSERT_TRUE(card.Finish().ok());
  ASSERT_TRUE(card.Submit(counters.Launch(program, kTile, 1, /*clocks=*/0xFFFF'FFFF)).ok());
  const Status down = card->Shutdown({.total = kLimit});
  EXPECT_TRUE(down.ok()) << down.ToString();
  const Status booted = card->Boot();
  ASSERT_TRUE(booted.ok()) << booted.ToString();
  EXPECT_EQ(Counted(card, counters), 0u) << "it was cut off";
  ASSERT_TRUE(card.Submit(counters.Launch(program, kTile, 1)).ok());
  ASSERT_TRUE(card.Finish().ok());
  EXPECT_EQ(Counted(card, counters), 1u);
}

TEST(DispatchShutdown, DoesNotWaitForAFullRingThatGoesOn) {
  CardOptions options;
  options.issue_ring_bytes = 64 << 10;
  BootedCard card("sim:board=p100a", options);
  BumpCounters counters(card);
  const auto program = counters.ProgramOn(kTile);
  const std::vector<std::byte> zero(counters.region().size_bytes);
  ASSERT_TRUE(card.Write(counters.region(), 0, zero).ok());
  ASSERT_TRUE(card.Finish().ok());
  const LaunchCommand launch = counters.Launch(program, kTile, 1, /*clocks=*/50'000'000);
  uint32_t submitted = 0;
  while (true) {
    const auto taken = card->TrySubmit(launch);
    ASSERT_TRUE(taken.ok()) << taken.status().ToString();
    if (!taken->has_value()) break;
    ++submitted;
  }
  ASSERT_GT(submitted, 20u);
  const Status down = card->Shutdown({.total = kLimit});
  EXPECT_TRUE(down.ok()) << down.ToString();
  ASSERT_TRUE(card->Boot().ok());
  EXPECT_LT(Counted(card, counters), submitted);
}

TEST(DispatchShutdown, ABootThatNobodyWaitsForEndsAndTheNextOneWorks) {
  BootedCard card;
  int asked = 0;
  const Status cut = card->Boot(ResetStrength::kHarts, [&] {
    if (++asked < 3) return OkStatus();
    return Error(StatusCode::kCancelled, "cut short");
  });
  EXPECT_EQ(cut.code(), StatusCode::kCancelled) << cut.ToString();
  EXPECT_THAT(std::string(StatusMessage(cut)), ::testing::HasSubstr("boot, waiting for "));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(card->Poll(), cut) << "it is lost";
  const Status down = card->Shutdown({.total = kLimit});
  EXPECT_TRUE(down.ok()) << "that is no error of the card: " << down.ToString();
  const Status booted = card->Boot();
  EXPECT_TRUE(booted.ok()) << booted.ToString();
}

}  // namespace
}  // namespace ttfd
