// The pure parts of ttfdctl: notations, JSON, tables, exit codes, the bar.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "client/cli/drain_steps.h"
#include "client/cli/exit_code.h"
#include "client/cli/hart_rows.h"
#include "client/cli/json.h"
#include "client/cli/printing.h"
#include "client/cli/progress_bar.h"
#include "client/cli/table.h"
#include "client/cli/text.h"

namespace ttfd::cli::client_cli_test {
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

TEST(CtlPrintable, EscapesControlCharacters) {
  EXPECT_EQ(Printable("a\x1b[2J\nb\tc\r\x7f"), "a\\u001b[2J\\nb\\tc\\r\\u007f");
  EXPECT_EQ(Printable(std::string_view("\0", 1)), "\\u0000");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m"),
            "\\u009b31m");  // C1: CSI
  EXPECT_EQ(Printable("\xE2\x80\xAE"
                      "drow \xE2\x80\xA8"),
            "\\u202edrow \\u2028");  // right to left
  EXPECT_EQ(Printable("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(Printable("a\n\tb\x1b", Newlines::kKeep), "a\n\tb\\u001b");
}

TEST(CtlPrintable, ReplacesWhatIsNotUtf8) {
  for (const char* bad :
       {"\xff", "\xC2", "\xC0\x80", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    const std::string printable = Printable(bad);
    EXPECT_EQ(printable.find_first_not_of("\xEF\xBF\xBD"), std::string::npos) << printable;
  }
  EXPECT_EQ(Printable("a\xC2"
                      "b"),
            "a\xEF\xBF\xBD"
            "b");
}

TEST(CtlPrinting, EveryWayOutEscapes) {
  const std::string name = "evil\x1b[2J\nforged";
  ::testing::internal::CaptureStdout();
  PrintLine(name);
  PrintText(name + "\n");
  PrintTable({{"CLIENT"}, {name}});
  PrintJson({{"name", name + "\x7f"}});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "evil\\u001b[2J\\nforged\n"
            "evil\\u001b[2J\nforged\n"
            "CLIENT\nevil\\u001b[2J\\nforged\n"
            "{\n  \"name\": \"evil\\u001b[2J\\nforged\\u007f\"\n}\n");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Fail(client::Status(client::Code::kInternal, name)), kFailed);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "ttfdctl: INTERNAL: evil\\u001b[2J\n  forged\n");
}

TEST(CtlTable, AlignsColumnsByCharacters) {
  EXPECT_EQ(Table({{"A", "LONG"}, {"value", "x"}}), "A      LONG\nvalue  x\n");
  EXPECT_EQ(Table({{"A", "B"}, {"gr\xC3\xBC\xC3\x9F", "x"}, {"ab", "y"}}),
            "A     B\ngr\xC3\xBC\xC3\x9F  x\nab    y\n");
}

TEST(CtlTable, WrapsALongLastColumn) {
  EXPECT_EQ(
      Table({{"NAME", "DESCRIPTION"}, {"queues", "a sentence of several words, long enough"}}, 34),
      "NAME    DESCRIPTION\n"
      "queues  a sentence of several\n"
      "        words, long enough\n");
}

TEST(CtlTable, TruncatesTheWidestColumn) {
  EXPECT_EQ(Table({{"ID", "CLIENT", "USER"}, {"1", "a rather long name", "ann"}}, 22),
            "ID  CLIENT        USER\n"
            "1   a rather lo\xE2\x80\xA6  ann\n");
}

TEST(CtlTable, NamesColumnsItLeavesOut) {
  const std::vector<std::vector<std::string>> rows = {
      {"SESSION", "CLIENT", "CONNECTED", "SUBMITTED"},
      {"1", "a rather long name", "1.000 s", "12"}};
  EXPECT_EQ(Table(rows, 38),
            "SESSION  CLIENT              CONNECTED\n"
            "1        a rather long name  1.000 s\n"
            "(no room for SUBMITTED: use a wider\n"
            "terminal or --json)\n");
  EXPECT_EQ(Table(rows).find("no room"), std::string::npos);
}

TEST(CtlTable, NeverExceedsTheTerminal) {
  const std::vector<std::vector<std::string>> rows = {
      {"SESSION", "CLIENT", "CONNECTED", "DESCRIPTION"},
      {"12345678901", "a rather long name", "1.000 s",
       "words words antidisestablishmentarianism words"}};
  for (size_t columns = 8; columns < 100; ++columns) {
    std::istringstream lines(Table(rows, columns));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(ColumnsOf(line), columns) << line;
    }
  }
}

TEST(CtlHartRows, CountsIdenticalHartsOfOneKind) {
  const std::vector<client::HartState> harts = {{"prefetch (16,2) BRISC", "HQW", 2, "is idle"},
                                                {"CQ1 prefetch (16,4) BRISC", "HQW", 2, "is idle"},
                                                {"worker (0,0) BRISC", "KRUN", 2, "runs a kernel"},
                                                {"worker (1,0) BRISC", "KRUN", 3, "runs a kernel"},
                                                {"worker (2,0) BRISC", "KRUN", 2, "runs a kernel"},
                                                {"worker (3,0) BRISC", "KRUN", 2, "runs a kernel"}};
  const std::vector<std::vector<std::string>> rows = HartRows(harts);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[1], (std::vector<std::string>{"prefetch (16,2) BRISC", "HQW", "2", "is idle"}));
  EXPECT_EQ(rows[3][3], "runs a kernel (and 2 identical)");
  EXPECT_EQ(rows[4],
            (std::vector<std::string>{"worker (1,0) BRISC", "KRUN", "3", "runs a kernel"}));
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

client::Progress DrainStep(uint64_t left, size_t listed) {
  client::Progress step{client::ProgressStep::kWaiting, left, false, {}};
  for (uint64_t id = 1; id <= listed; ++id) {
    client::SessionInfo& session = step.sessions.emplace_back();
    session.session = id;
    session.client_name = "suite";
    session.user = "ann";
    session.pid = 77;
    session.state = client::SessionState::kActive;
    session.waits_for = client::SessionWait::kData;
    session.submitted = {{0, 5}, {1, 7}};
    session.completed = {{0, 5}, {1, 4}};
    session.dram_bytes = 4096;
    session.l1_bytes = 1536;
    session.handles = 2;
    session.lease = 9;
  }
  return step;
}

std::string PrintedBy(DrainSteps& steps, const client::Progress& step) {
  ::testing::internal::CaptureStdout();
  steps.Print(step);
  return ::testing::internal::GetCapturedStdout();
}

TEST(CtlDrainSteps, TextListsWhatHoldsItUp) {
  DrainSteps steps(/*json=*/false);
  EXPECT_EQ(
      PrintedBy(steps, DrainStep(1, 1)),
      "sessions left: 1\n"
      "SESSION  CLIENT  USER  PID  STATE   WAITS FOR            COMMANDS  DRAM     L1/WORKER  "
      "HANDLES  LEASE\n"
      "1        suite   ann   77   active  client to send data  3         4.0 KiB  1.5 KiB    "
      "2        9\n");
  client::Progress drained;
  drained.step = client::ProgressStep::kDrained;
  drained.done = true;
  EXPECT_EQ(PrintedBy(steps, drained), "drained\n");
}

TEST(CtlDrainSteps, TextListsManySessionsOnceAndAgainWhenTheyAreEnded) {
  DrainSteps steps(/*json=*/false);
  const auto lines = [&steps](const client::Progress& step) {
    const std::string text = PrintedBy(steps, step);
    return std::count(text.begin(), text.end(), '\n');
  };
  const std::string first = PrintedBy(steps, DrainStep(123, 100));
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 1 + 1 + 100 + 1);
  EXPECT_TRUE(first.ends_with("\nand 23 more\n")) << first;
  EXPECT_EQ(lines(DrainStep(122, 100)), 1);
  EXPECT_EQ(lines(DrainStep(11, 11)), 1);
  EXPECT_EQ(lines(DrainStep(10, 10)), 1 + 1 + 10);
  client::Progress ended = DrainStep(101, 100);
  ended.done = true;
  EXPECT_EQ(lines(ended), 1 + 1 + 100 + 1);
}

TEST(CtlDrainSteps, JsonIsAnObjectALineWithEverything) {
  DrainSteps steps(/*json=*/true);
  for (const uint64_t left : {123, 122}) {
    const std::string text = PrintedBy(steps, DrainStep(left, 100));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    const Json step = Json::parse(text);
    EXPECT_EQ(step["step"], "sessions left");
    EXPECT_EQ(step["left"], left);
    EXPECT_EQ(step["done"], false);
    ASSERT_EQ(step["sessions"].size(), 100u);
    EXPECT_EQ(step["sessions"][99]["session"], 100);
    EXPECT_EQ(step["sessions"][99]["waits_for"], "data");
    EXPECT_EQ(step["sessions"][99]["lease"], 9);
  }
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
  EXPECT_EQ(ProgressBar::Line("writing x", 512 << 10, 1 << 20, std::chrono::seconds(1), 100),
            "writing x [###############...............]  50% 512.0 KiB of 1.0 MiB, 512.0 KiB/s");
  EXPECT_EQ(ProgressBar::Line("x", 0, 0, std::chrono::seconds(0), 100),
            "x [##############################] 100% 0 B of 0 B, 0 B/s");
}

TEST(CtlProgressBar, IsShorterThanTheTerminal) {
  for (size_t columns = 2; columns < 100; ++columns) {
    const std::string line = ProgressBar::Line("writing a/long/path/of/a/picture.raw", 512 << 10,
                                               1 << 20, std::chrono::seconds(1), columns);
    EXPECT_LT(ColumnsOf(line), columns) << line;
  }
  EXPECT_EQ(ProgressBar::Line("writing x", 512 << 10, 1 << 20, std::chrono::seconds(1), 60),
            "writing x [####....]  50% 512.0 KiB of 1.0 MiB, 512.0 KiB/s");
}

}  // namespace
}  // namespace ttfd::cli::client_cli_test
