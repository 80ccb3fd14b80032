// Mistakes, order and records of a graph before it reaches a card. A simple form of the kernels of firmware/graph runs
// the records here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

#include "client/graph/src/description.h"
#include "client/graph/src/order.h"
#include "client/graph/src/packing.h"
#include "client/graph/src/placement.h"

namespace ttfd::graph::graph_packing_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kGridX = 13, kGridY = 10;

Placement PlacementOf(const GraphOptions& options = {}) { return {options, kGridX, kGridY}; }

class Described {
 public:
  explicit Described(uint32_t tasks = 0) {
    function_ = graph_.AddFunction("f", 7, {});
    for (uint32_t i = 0; i < tasks; ++i) graph_.Add(function_, {}, {});
  }
  Description& operator*() { return graph_; }
  Description* operator->() { return &graph_; }
  Function function() const { return function_; }

 private:
  Placement placement_ = PlacementOf();
  Description graph_{placement_};
  Function function_;
};

// The first mistake of a graph with function 0 and two tasks, which `call` makes; later ones do not replace it.
template <typename Call>
std::string MistakeOf(const Call& call) {
  Described graph(2);
  call(*graph, graph.function());
  std::string first = graph->status().ToString();
  graph->AddEdge({7}, {8});
  EXPECT_EQ(graph->status().ToString(), first);
  return first;
}
using D = Description;

TEST(GraphDescription, KeepsTheFirstMistake) {
  EXPECT_THAT(MistakeOf([](D& g, Function) { g.Add({3}, {}, {}); }),
              HasSubstr("INVALID_ARGUMENT: task 2: function 3; the graph has 1"));
  EXPECT_THAT(MistakeOf([](D& g, Function f) { g.Add(f, std::vector<Argument>(17, 1), {}); }),
              HasSubstr("task 2 'f' has 17 arguments; at most 16 are allowed"));
  EXPECT_THAT(
      MistakeOf([](D& g, Function f) { g.Add(f, {}, {.after = {}, .on = "CUBE"}); }),
      HasSubstr("task 2 'f': class 'CUBE' has no workers; the graph has ALL (129 workers)"));
  const client::Kernel none;
  EXPECT_THAT(MistakeOf([](D& g, Function) { g.AddFunction("g", 0, {}); }),
              HasSubstr("function 'g' has an empty kernel"));
  EXPECT_THAT(MistakeOf([&](D& g, Function) {
                FunctionOptions options;
                options.ncrisc = &none;
                g.AddFunction("g", 1, options);
              }),
              HasSubstr("function 'g' has an empty kernel"));
  EXPECT_THAT(MistakeOf([](D& g, Function) { g.AddFunction("g", 1, {.on = "CUBE", .host = {}}); }),
              HasSubstr("function 'g': class 'CUBE' has no workers"));
  EXPECT_THAT(MistakeOf([](D& g, Function) { g.AddEdge({1}, {2}); }),
              HasSubstr("an edge from task 1 'f' to task 2; the graph has 2 tasks"));
  EXPECT_THAT(
      MistakeOf([](D& g, Function) {
        for (int i = 0; i < 64; ++i) g.AddFunction("g", 1, {});
      }),
      HasSubstr("with function 'g' the graph's functions have 65 kernels; at most 64 are allowed"));
}

TEST(GraphDescription, RefusesConfigurationsThatDoNotFit) {
  EXPECT_THAT(MistakeOf([](D& g, Function f) { g.AddConfigured(f, {}, {}); }),
              HasSubstr("configuration 0; the graph has 0"));
  EXPECT_THAT(MistakeOf([](D& g, Function f) { g.AddConfigured(f, g.AddConfiguration({}), {}); }),
              HasSubstr("task 2 'f' has a configuration; its function was added with configured = "
                        "false"));
  EXPECT_THAT(MistakeOf([](D& g, Function) {
                FunctionOptions options;
                options.configured = true;
                g.Add(g.AddFunction("g", 1, options), {}, {});
              }),
              HasSubstr("task 2 'g' has arguments; its function was added with configured = true"));
  const std::pair<std::vector<ScratchOptions>, std::string> circular_buffers[] = {
      {{{28, 1, 16}}, "a circular buffer of index 28; those of functions have indices up to 27"},
      {{{3, 1, 16}, {3, 1, 16}}, "a circular buffer of index 3 is there twice"},
      {{{0, 0, 16}},
       "a circular buffer of index 0 has 0 pages of 16 bytes; it must have at least one"},
      {{{0, 1, 24}}, "1 pages of 24 bytes; it must have at least one, of a multiple of 16"},
      {{{0, 1u << 31, 1u << 31}}, "makes 4611686018427387904 bytes of them; a tile has at most"},
      {{{0, 1, 1u << 20}, {1, 1, 1u << 20}}, "index 1 makes 2097152 bytes of them"}};
  for (const auto& one : circular_buffers) {
    EXPECT_THAT(MistakeOf([&one](D& g, Function) {
                  g.AddConfiguration({.circular_buffers = one.first, .common = {}});
                }),
                HasSubstr(one.second));
  }
  EXPECT_THAT(MistakeOf([](D& g, Function) {
                g.AddConfiguration(
                    {.circular_buffers = {},
                     .common = {{client::Processor::kBrisc, std::vector<Argument>(1017, 1)}}});
              }),
              HasSubstr("a configuration of 4100 bytes; at most 4096 are allowed"));
}

TEST(GraphPlacement, PutsEachClassIntoWordsOfItsOwn) {
  const Placement placement =
      PlacementOf({.scheduler = {12, 9},
                   .classes = {{"A", {{0, 0, 12, 1}}}, {"B", {{0, 2, 0, 2}}}},
                   .scratch = {},
                   .timeout = {}});
  ASSERT_TRUE(placement.status().ok());
  EXPECT_THAT(placement.lists(), ElementsAre(0, 0, 1));
  EXPECT_EQ(placement.tiles()[13], layout::PackTile(0, 1));
  EXPECT_EQ(placement.tiles()[26], layout::kNoTile);
  EXPECT_EQ(placement.tiles()[32], layout::PackTile(0, 2));
  EXPECT_EQ(placement.numbers()[26], 32);
  EXPECT_EQ(placement.numbers()[27], Placement::kNoWorker);
  EXPECT_EQ(placement.Names(), "A (26 workers), B (1 workers)");
  EXPECT_EQ(PlacementOf().words(), 9u);
}

TEST(GraphPlacement, RefusesWhatTheGridDoesNotHave) {
  const auto refusal = [](client::Core scheduler, std::vector<ClassOptions> classes) {
    return PlacementOf({.scheduler = scheduler,
                        .classes = std::move(classes),
                        .scratch = {},
                        .timeout = {}})
        .status()
        .ToString();
  };
  EXPECT_THAT(refusal({13, 0}, {}), HasSubstr("tile (13,0); the worker grid has 13 by 10"));
  EXPECT_THAT(refusal({0, 0}, {{"", {{1, 0, 1, 0}}}}), HasSubstr("a class without a name"));
  EXPECT_THAT(refusal({0, 0}, {{"A", {}}}), HasSubstr("class 'A' has no workers"));
  EXPECT_THAT(refusal({0, 0}, {{"A", {{1, 0, 1, 0}}}, {"A", {{2, 0, 2, 0}}}}),
              HasSubstr("class 'A' is given twice"));
  EXPECT_THAT(refusal({0, 0}, {{"A", {{0, 0, 1, 0}}}}),
              HasSubstr("worker (0,0) is the scheduler's tile or of another range"));
  EXPECT_THAT(refusal({0, 0}, {{"A", {{1, 0, 13, 0}}}}),
              HasSubstr("cores (1,0)-(13,0) are no rectangle inside the worker grid (0,0)-(12,9)"));
  std::vector<ClassOptions> many;
  for (uint32_t i = 0; i < 15; ++i)
    many.push_back({"C" + std::to_string(i), {{i % 10, 1 + i / 10, i % 10, 1 + i / 10}}});
  EXPECT_THAT(refusal({0, 0}, many),
              HasSubstr("class 'C14': the classes take more than 14 groups of 16 workers"));
}

TEST(GraphOrder, NamesTheTasksOfACycle) {
  Described graph(20);
  for (const auto& [before, after] :
       std::vector<std::pair<uint32_t, uint32_t>>{{0, 3}, {3, 5}, {5, 4}, {4, 3}, {4, 6}, {6, 7}}) {
    graph->AddEdge({before}, {after});
  }
  EXPECT_THAT(OrderByLevel(*graph, SuccessorsOf(*graph)).status().ToString(),
              HasSubstr("tasks wait for each other: 3 'f' -> 5 'f' -> 4 'f' -> 3 'f'"));
  Described ring(20);
  for (uint32_t i = 0; i < 20; ++i) ring->AddEdge({i}, {(i + 1) % 20});
  EXPECT_THAT(OrderByLevel(*ring, SuccessorsOf(*ring)).status().ToString(),
              HasSubstr("(12 more) -> "));
}

TEST(GraphOrder, IsByLevelAndCountsAnEdgeOnce) {
  Described graph(5);
  for (const auto& [before, after] :
       std::vector<std::pair<uint32_t, uint32_t>>{{4, 0}, {4, 0}, {0, 1}, {3, 1}, {4, 1}}) {
    graph->AddEdge({before}, {after});
  }
  const Successors successors = SuccessorsOf(*graph);
  EXPECT_THAT(successors.begin, ElementsAre(0, 1, 1, 1, 2, 4));
  EXPECT_THAT(*OrderByLevel(*graph, successors), ElementsAre(2, 3, 4, 0, 1));
}

// A run of a packed graph as by scheduler, streamer and `workers` workers, tasks ending in random order. Ends() returns
// the tasks in that order; a record with more predecessors than it has, or an end that never comes, is a failure.
class PackedRun {
 public:
  PackedRun(const PackedGraph& packed, uint32_t workers, std::mt19937* random)
      : packed_(packed),
        ring_(packed.window * layout::kBlockRecords),
        workers_(workers),
        random_(*random) {}

  std::vector<uint32_t> Ends() {
    while (released_ != packed_.blocks) {
      while (loaded_ < packed_.blocks + packed_.reach && loaded_ < released_ + packed_.window)
        LoadBlock();
      while (allowed_ < packed_.blocks && allowed_ + packed_.reach < loaded_) AllowBlock();
      while (!ready_.empty() && running_.size() < workers_) {
        running_.push_back(ready_.back());
        ready_.pop_back();
      }
      if (running_.empty()) {
        ADD_FAILURE() << "nothing runs, " << released_ << " of " << packed_.blocks
                      << " blocks are released";
        break;
      }
      std::swap(running_[random_() % running_.size()], running_.back());
      const uint32_t place = running_.back();
      running_.pop_back();
      End(place);
    }
    return std::move(ends_);
  }

 private:
  layout::Record& At(uint32_t place) { return ring_[place % ring_.size()]; }

  void LoadBlock() {
    if (loaded_ < packed_.blocks) {
      std::memcpy(&At(loaded_ * layout::kBlockRecords),
                  packed_.bytes.data() + uint64_t{loaded_} * layout::kBlockBytes,
                  layout::kBlockBytes);
    }
    ++loaded_;
  }
  void AllowBlock() {
    for (uint32_t i = 0; i < layout::kBlockRecords; ++i) {
      Arrive(allowed_ * layout::kBlockRecords + i);
    }
    ++allowed_;
  }
  void Arrive(uint32_t place) {
    layout::Record& record = At(place);
    ASSERT_NE(record.left, 0) << "more predecessors than it has";
    if (--record.left == 0) ready_.push_back(place % static_cast<uint32_t>(ring_.size()));
  }
  void End(uint32_t place) {
    const layout::Record& record = ring_[place];
    if (record.list == layout::kJoin) {
      EXPECT_EQ(record.call.function, 0);
    } else {
      ends_.push_back(record.task);
    }
    for (uint32_t i = 0; i < record.successors; ++i) {
      Arrive(record.successor[i] * layout::kSuccessorUnit / uint32_t{sizeof(layout::Record)});
    }
    const uint32_t block = place / layout::kBlockRecords;
    --ring_[block * layout::kBlockRecords].block_left;
    while (released_ != allowed_ && At(released_ * layout::kBlockRecords).block_left == 0)
      ++released_;
  }

  const PackedGraph& packed_;
  std::vector<layout::Record> ring_;
  const uint32_t workers_;
  std::mt19937& random_;
  uint32_t loaded_ = 0, allowed_ = 0, released_ = 0;
  std::vector<uint32_t> ready_, running_, ends_;
};

// Graphs of every size against windows of every size: those that fit, those that do not, and long lists of successors.
TEST(GraphPacking, RunsEachTaskOnceAfterThoseBeforeIt) {
  std::mt19937 random(1);
  const auto below = [&random](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const uint32_t tasks = 1 + below(round % 4 == 0 ? 5000 : 300);
    Described graph(tasks);
    std::set<std::pair<uint32_t, uint32_t>> edges;
    const uint32_t near = 1 + below(tasks), hub = below(tasks);
    for (uint32_t task = 1; task < tasks; ++task) {
      for (uint32_t count = below(4); count != 0; --count) {
        edges.emplace(task - 1 - below(std::min(task, near)), task);
      }
      if (round % 3 == 0 && task > hub && below(2) == 0) edges.emplace(hub, task);
    }
    for (const auto& [before, after] : edges) graph->AddEdge({before}, {after});
    const Successors successors = SuccessorsOf(*graph);
    const auto order = OrderByLevel(*graph, successors);
    ASSERT_TRUE(order.ok());
    const auto packed = Pack(*graph, successors, *order, 2 + below(20));
    ASSERT_TRUE(packed.ok()) << packed.status().ToString();
    const std::vector<uint32_t> ends = PackedRun(*packed, 1 + below(40), &random).Ends();
    ASSERT_EQ(ends.size(), tasks);
    std::vector<uint32_t> at(tasks, tasks);
    for (uint32_t i = 0; i < tasks; ++i) at[ends[i]] = i;
    for (const auto& [before, after] : edges) {
      ASSERT_LT(at[before], at[after]) << before << " -> " << after;
    }
  }
}

TEST(GraphPacking, PutsManyArgumentsIntoExtensions) {
  Described graph;
  for (uint32_t count = 0; count <= layout::kArguments; ++count) {
    std::vector<Argument> arguments;
    for (uint32_t i = 0; i < count; ++i) arguments.emplace_back(100 * count + i);
    if (count > 3) arguments[3] = Argument::OfBuffer(1000 + count);
    graph->Add(graph.function(), arguments, {});
  }
  const Successors successors = SuccessorsOf(*graph);
  const auto packed = Pack(*graph, successors, *OrderByLevel(*graph, successors), 4);
  ASSERT_TRUE(packed.ok());
  ASSERT_EQ(packed->bytes.size(), 2 * layout::kBlockBytes);
  const auto* const records = reinterpret_cast<const layout::Record*>(packed->bytes.data());
  const auto* const extensions =
      reinterpret_cast<const layout::Extension*>(packed->bytes.data() + layout::kBlockBytes);
  for (uint32_t count = 0; count <= layout::kArguments; ++count) {
    const layout::Record& record = records[count];
    EXPECT_EQ(record.task, count);
    EXPECT_EQ(record.call.arguments, count);
    EXPECT_EQ(record.call.buffers, count > 3 ? 8 : 0);
    const bool many = count > layout::kInlineArguments;
    const uint32_t* const words =
        many ? extensions[record.arguments[0]].arguments : record.arguments;
    for (uint32_t i = 0; i < (many ? layout::kArguments : layout::kInlineArguments); ++i) {
      const uint32_t word = i == 3 ? count - 4 : 100 * count + i;
      EXPECT_EQ(words[i], i < count ? word : 0) << count << " " << i;
    }
  }
}

}  // namespace
}  // namespace ttfd::graph::graph_packing_test
