// The text that names an embedded device.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <string>

#include "runtime/device/sim/sim_device.h"

namespace ttfd::sim_options_test {
namespace {

TEST(SimOptions, DefaultToAWholeP150) {
  const SimOptions options = ParseSimOptions("sim").value();
  EXPECT_EQ(options.board, sim::Board::kP150);
  EXPECT_EQ(options.harvested_bank, hw::kNoHarvestedBank);
  EXPECT_TRUE(options.harvested_columns.empty());
}

TEST(SimOptions, NameBoardAndHarvestingInAnyOrder) {
  SimOptions options = ParseSimOptions("sim:board=p100a").value();
  EXPECT_EQ(options.board, sim::Board::kP100a);
  EXPECT_EQ(options.harvested_bank, 3u);
  EXPECT_EQ(options.harvested_columns, (std::vector<uint32_t>{4, 13}));
  options = ParseSimOptions("sim:bank=7,columns=1+16,board=p100a").value();
  EXPECT_EQ(options.board, sim::Board::kP100a);
  EXPECT_EQ(options.harvested_bank, 7u);
  EXPECT_EQ(options.harvested_columns, (std::vector<uint32_t>{1, 16}));
  options = ParseSimOptions("sim:board=p100a,bank=none,columns=none").value();
  EXPECT_EQ(options.harvested_bank, hw::kNoHarvestedBank);
  EXPECT_TRUE(options.harvested_columns.empty());
}

TEST(SimOptions, NameHazardsAndTheirSeed) {
  EXPECT_FALSE(ParseSimOptions("sim:coordinates=kept")->writes_coordinates_back);
  EXPECT_TRUE(ParseSimOptions("sim:coordinates=written-back")->writes_coordinates_back);
  EXPECT_TRUE(ParseSimOptions("sim:board=p100a")->bounds);
  EXPECT_FALSE(ParseSimOptions("sim:bounds=off")->bounds);
  EXPECT_EQ(ParseSimOptions("sim").value().hazards.on, 0u);
  EXPECT_EQ(ParseSimOptions("sim").value().hazards.seed, 1u);
  EXPECT_EQ(ParseSimOptions("sim:hazards=off").value().hazards.on, 0u);
  // The board sets the defaults of the rest, wherever it stands.
  SimOptions options =
      ParseSimOptions("sim:hazards=on,seed=18446744073709551615,board=p100a").value();
  EXPECT_EQ(options.board, sim::Board::kP100a);
  EXPECT_EQ(options.hazards.on, sim::kAllHazards);
  EXPECT_EQ(options.hazards.seed, ~uint64_t{0});
  options = ParseSimOptions("sim:hazards=l0cache+noc,seed=7").value();
  EXPECT_EQ(options.hazards.on, sim::kHazardL0Cache | sim::kHazardNoc);
  EXPECT_EQ(options.hazards.seed, 7u);
  uint32_t all = 0;
  for (const char* name :
       {"l0cache", "stores", "noc", "streams", "icache", "localram", "speed", "compute", "host"}) {
    const uint32_t on = ParseSimOptions(std::string("sim:hazards=") + name).value().hazards.on;
    EXPECT_EQ(std::popcount(on), 1) << name;
    all |= on;
  }
  EXPECT_EQ(all, sim::kAllHazards);
}

TEST(SimOptions, MakeACluster) {
  EXPECT_EQ(ParseSimOptions("sim")->cluster.topology.chips, 1u);
  const ClusterPlan plan =
      ParseSimOptions("sim:cluster=2x4,links=1,link_latency=500,threads=2,remote=3+1")->cluster;
  EXPECT_EQ(plan.topology.chips, 8u);
  EXPECT_EQ(plan.topology.links.size(), 8u + 4) << "rows of four wrap, columns of two do not";
  EXPECT_EQ(plan.latency, 500u);
  EXPECT_EQ(plan.threads, 2u);
  EXPECT_EQ(plan.remote, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(ParseSimOptions("sim:cluster=2x4,wrap=none,links=1")->cluster.topology.links.size(),
            6u + 4);
  const std::string path = testing::TempDir() + "links";
  std::ofstream(path) << "0.3 1.4\n1.5 2.6\n";
  EXPECT_EQ(ParseSimOptions("sim:cluster=" + path)->cluster.topology.chips, 3u);
  EXPECT_NE(StatusMessage(ParseSimOptions("sim:wrap=x,cluster=" + path).status())
                .find("wrap and links are those of a grid"),
            std::string_view::npos);
  EXPECT_EQ(ParseSimOptions("sim:cluster=/no/such/file").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ParseSimOptions("sim:cluster=" + testing::TempDir()).status().code(),
            StatusCode::kNotFound);
  std::ofstream(path) << "# none\n";
  EXPECT_NE(StatusMessage(ParseSimOptions("sim:cluster=" + path).status()).find("has no link"),
            std::string_view::npos);
  EXPECT_EQ(OpenSimDevices(ParseSimOptions("sim:cluster=1x3,remote=1").value())->size(), 2u);
}

TEST(SimOptions, NameWhereADebuggerConnects) {
  EXPECT_EQ(ParseSimOptions("sim").value().gdb, "");
  const SimOptions options = ParseSimOptions("sim:gdb=/run/ttfd/gdb.sock,board=p100a").value();
  EXPECT_EQ(options.gdb, "/run/ttfd/gdb.sock");
  EXPECT_EQ(options.board, sim::Board::kP100a);
}

TEST(SimOptions, ThatMakeNoSenseAreRefusedWithTheReason) {
  struct Row {
    const char* text;
    const char* reason;
  };
  constexpr Row kRows[] = {
      {"", "does not name the embedded device"},
      {"kmd:0", "does not name the embedded device"},
      {"sim:colour=red",
       "is not board, bank, bounds, cluster, columns, coordinates, hazards, link_latency, links, "
       "remote, seed, threads, wrap, gdb, trace or trace_..."},
      {"sim:bounds=some", "bounds \"some\" are not on or off"},
      {"sim:coordinates=translated", "coordinates \"translated\" are not kept or written-back"},
      {"sim:board=n300", "is not p100a or p150"},
      {"sim:board=", "has no value"},
      {"sim:bank", "has no value"},
      {"sim:bank=8", "is not one of 0..7"},
      {"sim:bank=x", "is not a number"},
      {"sim:columns=8", "is not a Tensix column"},
      {"sim:columns=1+1", "is named twice"},
      {"sim:columns=1+2+3+4+5+6+7+10+11+12+13+14+15", "at most 12"},
      {"sim:columns=99999999999", "is not a number"},
      {"sim:hazards=l0cache+l1cache", "hazard \"l1cache\" is not on, off, l0cache"},
      {"sim:hazards=+noc", "hazard \"\" is not"},
      {"sim:hazards=", "has no value"},
      {"sim:gdb=", "has no value"},
      {"sim:hazards=on,seed=-1", "is not a number"},
      {"sim:hazards=on,seed=18446744073709551616", "is not a number"},
      {"sim:wrap=x", "need cluster="},
      {"sim:cluster=0x2", "0x2 chips: 1 to 64 are possible"},
      {"sim:cluster=2x2,links=5", "5 links between two neighbours"},
      {"sim:cluster=2x2,links=0", "links=0: at least 1"},
      {"sim:cluster=2x4,wrap=z", "wrap \"z\" is not none, x, y or both"},
      {"sim:cluster=2x4,wrap=y", "columns of 2 chips have nothing to wrap"},
      {"sim:cluster=1x2,threads=65", "65 threads: 1 to 64 are possible"},
      {"sim:cluster=1x2,link_latency=100001", "link_latency=100001: at most 100000 clocks"},
      {"sim:cluster=1x2,wrap=both", "wrap=both: 1x2 has no side of more than two chips"},
      {"sim:cluster=1x3,remote=1+", "\"\" is not a number"},
      {"sim:cluster=1x2,remote=2", "remote=2: the cluster has chips 0 to 1"},
      {"sim:cluster=1x3,remote=1+1", "remote=1 twice"},
      {"sim:cluster=1x2,remote=0+1", "a chip at least needs a PCIe port"},
      {"sim:cluster=1x2,board=p100a", "no Ethernet channel left"},
      {"sim:cluster=1x2,gdb=5000", "gdb and trace are those of a chip without neighbours"},
  };
  for (const Row& row : kRows) {
    const Status status = ParseSimOptions(row.text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << row.text;
    EXPECT_NE(StatusMessage(status).find(row.reason), std::string_view::npos) << status.ToString();
  }
}

}  // namespace
}  // namespace ttfd::sim_options_test
