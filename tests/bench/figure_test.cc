// Benchmark figures are summed up and written as scripts expect them.
#include "tests/bench/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/firmware_costs.h"
#include "tests/support/temporary_folder.h"

namespace ttfd::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(BenchFigure, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(Summarize({5, 1, 3}).median, 3);
  EXPECT_EQ(Summarize({4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(Summarize({4, 1, 3, 2}).min, 1);
  EXPECT_EQ(Summarize({4, 1, 3, 2}).max, 4);
  EXPECT_EQ(Summarize({}).median, 0);
}

TEST(BenchFigure, JsonIsOneObjectOfMedianMinMaxUnit) {
  EXPECT_EQ(Json({{"device.event_us", "us", {1.5, 2, 9}}, {"rpc.upload_mb_s", "MB/s", {1000}}}),
            "{\n"
            "  \"device.event_us\": {\"median\": 2, \"min\": 1.5, \"max\": 9, \"unit\": \"us\"},\n"
            "  \"rpc.upload_mb_s\": {\"median\": 1000, \"min\": 1000, \"max\": 1000, \"unit\": "
            "\"MB/s\"}\n"
            "}\n");
  EXPECT_EQ(Json({}), "{\n}\n");
}

TEST(BenchFigure, TableSaysWhetherAFloorIsKept) {
  EXPECT_THAT(Table({{"sim.hart1_alu.mips", "million/s", {500}}}), HasSubstr(">= 400.0     ok"));
  EXPECT_THAT(Table({{"sim.hart1_alu.mips", "million/s", {300}}}), HasSubstr("short"));
  EXPECT_THAT(Table({{"device.event_us", "us", {14}}}), HasSubstr("<= 15.00     ok"));
  EXPECT_THAT(Table({{"device.event_us", "us", {16}}}), HasSubstr("short"));
  EXPECT_THAT(Table({{"rpc.upload_mb_s", "MB/s", {1}}}), Not(HasSubstr("short")));
}

TEST(BenchCosts, AreShownBesideThoseOfTheLastRun) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/costs.txt";
  const std::vector<CostRow> before = {{"event_bare", {170, 151, 0, 0}}};
  ASSERT_TRUE(WriteCosts(path, before).ok());
  const std::vector<CostRow> now = {{"event_bare", {160, 151, 0, 0}}, {"new", {1, 2, 3, 4}}};
  const std::string table = CostTable(now, ReadCosts(path));
  EXPECT_THAT(table, HasSubstr("160     -10"));
  EXPECT_THAT(table, HasSubstr("151       ="));
  EXPECT_THAT(table, HasSubstr("new                           1 "));
  EXPECT_TRUE(ReadCosts("/nonexistent").empty());
  const std::vector<Figure> figures = CostFigures(now);
  EXPECT_EQ(figures[0].name, "fw.event_bare.max_instr");
  EXPECT_EQ(figures[0].samples, std::vector<double>{160});
  EXPECT_EQ(figures[1].samples, std::vector<double>{311});
}

TEST(BenchFigure, EveryFloorBelongsToAReportedFigure) {
  int floors = 0;
  for (const std::string& name : AllNames()) floors += FloorOf(name).has_value() ? 1 : 0;
  EXPECT_GE(floors, 5);
}

}  // namespace
}  // namespace ttfd::bench
