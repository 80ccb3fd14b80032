// Timelines of task graphs: their summary and their file.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "tests/support/temporary_folder.h"
#include "ttfd/graph/timeline.h"

namespace ttfd::graph::graph_timeline_test {
namespace {

using ::testing::HasSubstr;

// At 500 MHz, two nanoseconds a clock. Task 2 waits for both others.
Timeline ThreeTasks() {
  return {.clock_hz = 500'000'000,
          .classes = {{"VECTOR", {{1, 0}, {2, 0}}}, {"cube", {{1, 3}}}},
          .functions = {"add \"x\"", "mul"},
          .tasks = {{0, 100, 0, 0, 0}, {50, 200, 0, 0, 1}, {250, 1000, 1, 1, 0}},
          .edges = {{0, 2}, {1, 2}}};
}

// The file of ThreeTasks, which is the only one that is made.
std::string Written() {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/trace.json";
  EXPECT_TRUE(ThreeTasks().WriteTrace(path).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Timelines, AreSummarized) {
  const TimelineSummary summary = ThreeTasks().Summarize();
  EXPECT_EQ(summary.tasks, 3u);
  EXPECT_EQ(summary.clocks, 1000u);
  EXPECT_DOUBLE_EQ(summary.clocks_per_task, 1000.0 / 3);
  EXPECT_DOUBLE_EQ(summary.tasks_per_second, 1.5e6);
  ASSERT_EQ(summary.classes.size(), 2u);
  EXPECT_EQ(summary.classes[0].name, "VECTOR");
  EXPECT_EQ(summary.classes[0].workers, 2u);
  EXPECT_EQ(summary.classes[0].tasks, 2u);
  EXPECT_DOUBLE_EQ(summary.classes[0].utilization, 0.125);
  EXPECT_DOUBLE_EQ(summary.classes[1].utilization, 0.75);
}

// Times are microseconds. An arrow begins inside the slice of the task before and ends at the begin of the next one's.
TEST(Timelines, AreWrittenAsTraceEvents) {
  const std::string text = Written();
  for (const char* const line : {
           R"~("M","name":"process_name","pid":1,"args":{"name":"Vector Workers (2)"}})~",
           R"~("M","name":"thread_name","pid":1,"tid":2,"args":{"name":"Vector-1 (2,0)"}})~",
           R"~("M","name":"thread_name","pid":2,"tid":3,"args":{"name":"Cube-0 (1,3)"}})~",
           R"~("X","cat":"task","name":"add \"x\"","pid":1,"tid":2,"ts":0.100,"dur":0.300,)~",
           R"~("s","cat":"edge","name":"edge","id":2,"pid":1,"tid":2,"ts":0.399})~",
           R"~("f","bp":"e","cat":"edge","name":"edge","id":2,"pid":2,"tid":3,"ts":0.500})~",
       }) {
    EXPECT_THAT(text, HasSubstr(std::string("\n{\"ph\":") + line));
  }
}

TEST(Timelines, HaveCountersOfEachClass) {
  std::istringstream text(Written());
  std::string counters;
  for (std::string line; std::getline(text, line);) {
    if (line.find(R"("ph":"C")") != std::string::npos) counters += line + "\n";
  }
  // Task 1 is ready from the begin of the run, task 2 from the end of task 1.
  EXPECT_EQ(counters, R"({"ph":"C","name":"ready","pid":1,"ts":0.000,"args":{"tasks":0}},
{"ph":"C","name":"idle","pid":1,"ts":0.000,"args":{"workers":2}},
{"ph":"C","name":"ready","pid":1,"ts":0.000,"args":{"tasks":1}},
{"ph":"C","name":"idle","pid":1,"ts":0.000,"args":{"workers":1}},
{"ph":"C","name":"ready","pid":1,"ts":0.100,"args":{"tasks":0}},
{"ph":"C","name":"idle","pid":1,"ts":0.100,"args":{"workers":0}},
{"ph":"C","name":"idle","pid":1,"ts":0.200,"args":{"workers":1}},
{"ph":"C","name":"idle","pid":1,"ts":0.400,"args":{"workers":2}},
{"ph":"C","name":"ready","pid":2,"ts":0.000,"args":{"tasks":0}},
{"ph":"C","name":"idle","pid":2,"ts":0.000,"args":{"workers":1}},
{"ph":"C","name":"ready","pid":2,"ts":0.400,"args":{"tasks":1}},
{"ph":"C","name":"ready","pid":2,"ts":0.500,"args":{"tasks":0}},
{"ph":"C","name":"idle","pid":2,"ts":0.500,"args":{"workers":0}},
{"ph":"C","name":"idle","pid":2,"ts":2.000,"args":{"workers":1}}
)");
}

TEST(Timelines, SayWhatCannotBeWritten) {
  const client::Status status = ThreeTasks().WriteTrace("/nowhere/trace.json");
  EXPECT_EQ(status.code(), client::Code::kInternal);
  EXPECT_THAT(status.ToString(), HasSubstr("cannot write /nowhere/trace.json: No such file"));
  const TemporaryFolder folder;  // a folder of that name
  EXPECT_FALSE(ThreeTasks().WriteTrace(folder.path()).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "." + std::to_string(getpid()) + ".part"));
}

}  // namespace
}  // namespace ttfd::graph::graph_timeline_test
