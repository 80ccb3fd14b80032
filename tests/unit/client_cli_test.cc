// The pure parts of ttfdctl: notations, JSON, tables, exit codes, the bar.
#include <gtest/gtest.h>

#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/progress_bar.h"
#include "client/cli/text.h"

namespace ttfd::cli {
namespace {

TEST(CtlText, SizesAreBinaryAndChecked) {
  EXPECT_EQ(ParseSize("4096"), 4096u);
  EXPECT_EQ(ParseSize("0x1000"), 4096u);
  EXPECT_EQ(ParseSize("4K"), 4096u);
  EXPECT_EQ(ParseSize("2G"), uint64_t{2} << 30);
  for (const char* bad : {"", "K", "-1", "4 K", "12x", "99999999999G", "1.5M"}) {
    EXPECT_EQ(ParseSize(bad), std::nullopt) << bad;
  }
}

TEST(CtlText, WordsHold32Bits) {
  EXPECT_EQ(ParseWord("4294967295"), 0xFFFFFFFFu);
  EXPECT_EQ(ParseWord("-1"), 0xFFFFFFFFu);
  EXPECT_EQ(ParseWord("-2147483648"), 0x80000000u);
  EXPECT_EQ(ParseWord("0xff"), 255u);
  for (const char* bad : {"", "-", "4294967296", "-2147483649", "1K"}) {
    EXPECT_EQ(ParseWord(bad), std::nullopt) << bad;
  }
}

TEST(CtlText, CoresAreATileARectangleOrAll) {
  EXPECT_EQ(ParseCores("1,2", 13, 10), (client::CoreRange{1, 2, 1, 2}));
  EXPECT_EQ(ParseCores("0,0-3,4", 13, 10), (client::CoreRange{0, 0, 3, 4}));
  EXPECT_EQ(ParseCores("all", 13, 10), (client::CoreRange{0, 0, 12, 9}));
  for (const char* bad : {"", "1", "1,2,3", "1,2-", "1,2-3,4-5,6", "a,b"}) {
    EXPECT_EQ(ParseCores(bad, 13, 10), std::nullopt) << bad;
  }
}

TEST(CtlText, TuplesHaveAsManyNumbersAsAsked) {
  EXPECT_EQ(ParseTuple("1:2:4K", 3), (std::vector<uint64_t>{1, 2, 4096}));
  EXPECT_EQ(ParseTuple("1:2", 3), std::nullopt);
  EXPECT_EQ(ParseTuple("1:x:3", 3), std::nullopt);
}

TEST(CtlText, PeopleReadSizesAndDurations) {
  EXPECT_EQ(Bytes(512), "512 B");
  EXPECT_EQ(Bytes(1536), "1.5 KiB");
  EXPECT_EQ(Bytes(uint64_t{28} << 30), "28.0 GiB");
  EXPECT_EQ(Duration(1250), "1.250 s");
  EXPECT_EQ(Duration(125'000), "2 min 5 s");
  EXPECT_EQ(Duration(7'500'000), "2 h 5 min");
}

TEST(CtlText, ColumnsAreAligned) {
  EXPECT_EQ(Table({{"A", "LONG"}, {"value", "x"}}), "A      LONG\nvalue  x\n");
}

TEST(CtlJson, KeepsItsOrderAndIsUtf8WhateverAClientIsCalled) {
  const Json json = {{"name", "a\"b\\c\n\xff"},
                     {"list", JsonList(std::vector{1, 2}, [](int number) { return number; })},
                     {"none", JsonList(std::vector<int>(), [](int number) { return number; })},
                     {"a", true}};
  EXPECT_EQ(JsonText(json),
            "{\n  \"name\": \"a\\\"b\\\\c\\n\xEF\xBF\xBD\",\n  \"list\": [\n    1,\n    2\n  ],\n"
            "  \"none\": [],\n  \"a\": true\n}\n");
}

TEST(CtlExitCode, ScriptsCanTellTheKindsApart) {
  using client::Code;
  using client::Status;
  EXPECT_EQ(ExitCodeOf(Status()), 0);
  EXPECT_EQ(ExitCodeOf(Status(Code::kInternal, "fault")), 1);
  EXPECT_EQ(ExitCodeOf(Status(Code::kUnavailable, "gone")), 3);
  EXPECT_EQ(ExitCodeOf(Status(Code::kPermissionDenied, "no")), 4);
  EXPECT_EQ(ExitCodeOf(Status(Code::kInvalidArgument, "no")), 4);
  EXPECT_EQ(ExitCodeOf(Status(Code::kDeadlineExceeded, "late")), 5);
}

TEST(CtlProgressBar, SaysHowFarAndHowFast) {
  EXPECT_EQ(ProgressBar::Line("writing x", 512 << 10, 1 << 20, std::chrono::seconds(1)),
            "writing x [###############...............]  50% 512.0 KiB of 1.0 MiB, 512.0 KiB/s");
  EXPECT_EQ(ProgressBar::Line("x", 0, 0, std::chrono::seconds(0)),
            "x [##############################] 100% 0 B of 0 B, 0 B/s");
}

}  // namespace
}  // namespace ttfd::cli
