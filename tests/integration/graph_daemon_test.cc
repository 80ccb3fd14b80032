// Task graphs through libttfd_graph and the real daemon: where tasks run, what they see, what is refused.
#include <gmock/gmock.h>

#include "tests/support/client_fixture.h"
#include "ttfd/graph/graph.h"

namespace ttfd::graph::graph_daemon_test {
namespace {

using client::Buffer;
using client::Kernel;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr uint32_t kPageBytes = 64;
constexpr uint32_t kWords = kPageBytes / 4;

class TaskGraphs : public ttfd::testing::ClientFixture {
 protected:
  void SetUp() override {
    ClientFixture::SetUp();
    Result<Kernel> kernel = session_->LoadKernelFile(ttfd::testing::KernelPath("task_report"));
    ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
    kernel_ = std::move(*kernel);
    Result<Buffer> reports =
        session_->AllocateDram(kReports * kPageBytes, {.page_bytes = kPageBytes});
    ASSERT_TRUE(reports.ok()) << reports.status().ToString();
    reports_ = std::move(*reports);
  }
  void Run(Graph* graph) {
    ASSERT_TRUE(session_->queue().Fill(reports_, 0, reports_.size_bytes(), 0).ok());
    const Status status = graph->Run(session_->queue());
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_TRUE(
        session_->queue().Read(reports_, 0, std::as_writable_bytes(std::span(words_))).ok());
  }
  std::span<const uint32_t> ReportOf(uint32_t task) const {
    return std::span(words_).subspan(task * kWords, kWords);
  }

  static constexpr uint32_t kReports = 1000;
  Kernel kernel_;
  Buffer reports_;
  std::vector<uint32_t> words_ = std::vector<uint32_t>(kReports * kWords);
};

TEST_F(TaskGraphs, RunTasksOnWorkersOfTheirClass) {
  Graph graph(*session_, {.scheduler = {5, 5},
                          .classes = {{"MATRIX", {{0, 0, 3, 0}}}, {"VECTOR", {{0, 1, 9, 2}}}},
                          .scratch = {}});
  const Function matrix = graph.AddFunction("matrix", kernel_);
  const Function vector = graph.AddFunction("vector", kernel_, {.on = "VECTOR", .host = {}});
  const auto class_of = [](uint32_t task) {
    return task % 3;
  };  // 0 of the function, 1 vector, 2 of the task
  for (uint32_t task = 0; task < 300; ++task) {
    const bool other = class_of(task) == 2;
    graph.Add(class_of(task) == 1 ? vector : matrix, {reports_, task},
              {.after = {}, .on = other ? "VECTOR" : ""});
  }
  ASSERT_NO_FATAL_FAILURE(Run(&graph));
  for (uint32_t task = 0; task < 300; ++task) {
    const uint32_t y = ReportOf(task)[0] >> 8;
    EXPECT_TRUE(class_of(task) == 0 ? y == 0 : y == 1 || y == 2)
        << "task " << task << " ran in row " << y;
    EXPECT_EQ(ReportOf(task)[1], task);
  }
}

// Six arguments are in a task's record; further ones are not. One worker runs tasks of both kinds.
TEST_F(TaskGraphs, GiveTasksTheirArgumentsAndZeros) {
  Graph graph(*session_,
              {.scheduler = {0, 0}, .classes = {{"ONE", {{1, 0, 1, 0}}}}, .scratch = {}});
  const Function function = graph.AddFunction("report", kernel_);
  for (uint32_t task = 0; task < 100; ++task) {
    std::vector<Argument> arguments = {reports_, task};
    for (uint32_t i = 2; i < 2 + task % 15; ++i) arguments.emplace_back(1000 * task + i);
    graph.Add(function, arguments);
  }
  ASSERT_NO_FATAL_FAILURE(Run(&graph));
  for (uint32_t task = 0; task < 100; ++task) {
    for (uint32_t i = 2; i < kWords; ++i) {
      EXPECT_EQ(ReportOf(task)[i], i < 2 + task % 15 ? 1000 * task + i : 0) << task << " " << i;
    }
  }
}

// A graph that has changed runs as it is now, also with another function.
TEST_F(TaskGraphs, RunAsTheyWereChanged) {
  Graph graph(*session_);
  const Function function = graph.AddFunction("report", kernel_);
  Task last = graph.Add(function, {reports_, 0});
  for (uint32_t task = 1; task < 40; ++task) {
    ASSERT_NO_FATAL_FAILURE(Run(&graph));
    EXPECT_EQ(ReportOf(task - 1)[1], task - 1);
    EXPECT_THAT(ReportOf(task), Each(0u));
    last = graph.Add(task == 20 ? graph.AddFunction("more", kernel_) : function, {reports_, task},
                     {.after = {last}, .on = {}});
  }
}

TEST_F(TaskGraphs, AreRefusedAndRunOnceTheyAreRight) {
  Graph empty(*session_);
  EXPECT_THAT(empty.Run(session_->queue()).ToString(), HasSubstr("a graph without tasks"));
  Graph graph(*session_);
  const Function function = graph.AddFunction("report", kernel_);
  const Task a = graph.Add(function, {reports_, 0}), b = graph.Add(function, {reports_, 1});
  graph.AddEdge(a, b);
  ASSERT_NO_FATAL_FAILURE(Run(&graph));
  graph.AddEdge(b, a);
  EXPECT_THAT(
      graph.Run(session_->queue()).ToString(),
      HasSubstr(
          "INVALID_ARGUMENT: tasks wait for each other: 0 'report' -> 1 'report' -> 0 'report'"));
  // The queue is open: a blocking call reports its own error.
  EXPECT_TRUE(session_->queue().error().ok());
  Graph missing(*session_);
  {
    Result<Buffer> freed = session_->AllocateDram(kPageBytes);
    ASSERT_TRUE(freed.ok());
    missing.Add(missing.AddFunction("report", kernel_), {*freed, 0});
  }
  EXPECT_EQ(missing.Run(session_->queue()).code(), client::Code::kNotFound);
}

}  // namespace
}  // namespace ttfd::graph::graph_daemon_test
