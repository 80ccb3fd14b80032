// The vocabulary of runtime/base and the arithmetic of runtime/hw.
#include <gtest/gtest.h>

#include "runtime/base/bits.h"
#include "runtime/base/clock.h"
#include "runtime/base/first_line.h"
#include "runtime/base/status.h"
#include "runtime/base/utf8.h"
#include "runtime/hw/grid.h"
#include "runtime/hw/stream.h"
#include "runtime/hw/tensix.h"

namespace ttfd::base_test {
namespace {

TEST(Bits, AlignsUpAndKeepsAligned) {
  EXPECT_EQ(AlignUp(1u, 16u), 16u);
  EXPECT_EQ(AlignUp(16u, 16u), 16u);
  EXPECT_EQ(DivideRoundUp(17u, 16u), 2u);
}

TEST(StoppableClock, LeavesOutWhatPassedWhileItWasStopped) {
  using std::chrono::seconds;
  ManualClock real;
  StoppableClock clock(real);
  const TimePoint start = clock.Now();
  real.Advance(seconds(1));
  clock.Stop();
  real.Advance(seconds(10));
  clock.Stop();  // already
  real.Advance(seconds(10));
  EXPECT_EQ(clock.Now() - start, seconds(1));
  clock.Go();
  clock.Go();
  EXPECT_EQ(clock.Now() - start, seconds(1));
  real.Advance(seconds(2));
  EXPECT_EQ(clock.Now() - start, seconds(3));
}

TEST(Status, AnnotationKeepsCodeAndPayload) {
  Status status = InvalidArgument("offset {} is odd", 3);
  status.SetPayload("reason", absl::Cord("ODD"));
  const Status annotated = Annotate(status, "write");
  EXPECT_EQ(annotated.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(StatusMessage(annotated), "write: offset 3 is odd");
  EXPECT_EQ(annotated.GetPayload("reason"), absl::Cord("ODD"));
}

TEST(Grid, TranslatedDramShowsEveryBankOnce) {
  for (uint32_t harvested : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, hw::kNoHarvestedBank}) {
    uint32_t seen = 0;
    for (uint32_t column = 0; column < 2; ++column) {
      for (uint32_t group = 0; group < 4; ++group) {
        seen |= 1u << hw::DramTranslatedBank(harvested, column, group);
      }
    }
    EXPECT_EQ(seen, 0xFFu) << "harvested bank " << harvested;
    if (harvested != hw::kNoHarvestedBank) {
      EXPECT_EQ(hw::DramTranslatedBank(harvested, 1, 3), harvested);
    }
  }
}

TEST(Stream, ComparesModulo17Bits) {
  EXPECT_TRUE(hw::StreamCounterReached(5, 5));
  EXPECT_FALSE(hw::StreamCounterReached(4, 5));
  EXPECT_TRUE(hw::StreamCounterReached(2, hw::kStreamCounterMask));
}

TEST(Reset, JumpReachesAnyFirmwareAddressBelowOneMebibyte) {
  for (uint32_t target : {0x800u, 0x1000u, 0x2000u, 0x3840u, 0xFF800u}) {
    const uint32_t word = hw::JumpToFirmware(target);
    const uint32_t decoded = (word & 0xFF000) | ((word >> 9) & 0x800) | ((word >> 20) & 0x7FE);
    EXPECT_EQ(decoded, target);
    EXPECT_EQ(word & 0xFFF, 0x6Fu);
  }
}

TEST(Text, FindUnprintable_FindsControlsAndBrokenUtf8) {
  const std::pair<std::string, size_t> table[] = {
      {"", std::string::npos},
      {"vector_add<int>(float const*) \\x;", std::string::npos},
      {"caf\u00E9 \u20AC \U0001F600", std::string::npos},
      {"\u05D0 right to left", std::string::npos},
      {"a\nb", 1},
      {"ab\x1B[2J", 2},
      {std::string("a\0b", 3), 1},
      {"a\x7F", 1},
      {"a\u0080", 1},
      {"a\u009F", 1},
      {"a\u00A0", std::string::npos},
      {"\u00E9\u2028", 2},
      {"\u2029", 0},
      {"\u061C", 0},
      {"\u200F", 0},
      {"\u202A", 0},
      {"\u202E", 0},
      {"\u2066", 0},
      {"\u2069", 0},
      {"a\xFF", 1},
      {"\xC3", 0},              // cut
      {"\xE0\x80\xAF", 0},      // overlong
      {"\xED\xA0\x80", 0},      // surrogate
      {"\xF4\x90\x80\x80", 0},  // above U+10FFFF
  };
  for (const auto& [text, at] : table) EXPECT_EQ(FindUnprintable(text), at) << Printable(text);
}

TEST(FirstLine, LosesWordsBeforeItsMeaning) {
  EXPECT_EQ(KernelFirstLine("scale.elf", " hung"), "kernel 'scale' hung");
  EXPECT_EQ(KernelFirstLine("scale", " hung on (1,2)", 21), "'scale' hung on (1,2)");
  EXPECT_EQ(KernelFirstLine("scale_columns", " hung on (1,2)", 26), "'scale_c...' hung on (1,2)");
  EXPECT_EQ(KernelFirstLine("scale_columns", " hung on (1,2)", 20), "'scale...' hung o...");
  EXPECT_EQ(KernelFirstLine("a\nb", " hung"), "kernel 'a\\nb' hung");
  EXPECT_EQ(CutText("12\u00e4\u00e4\u00e4", 6), "12...") << "no half of a character";
}

}  // namespace
}  // namespace ttfd::base_test
