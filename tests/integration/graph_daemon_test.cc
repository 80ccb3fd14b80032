// Task graphs through libttfd_graph and the real daemon: where tasks run, what they see, what is refused.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/client_fixture.h"
#include "tests/support/test_device_text.h"
#include "ttfd/graph/graph.h"

namespace ttfd::graph::graph_daemon_test {
namespace {

using client::Buffer;
using client::Kernel;
using ::testing::Each;
using ::testing::ElementsAre;
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

  const GraphOptions two_classes_ = {
      .scheduler = {5, 5},
      .classes = {{"MATRIX", {{0, 0, 3, 0}}}, {"VECTOR", {{0, 1, 9, 2}}}},
      .scratch = {},
      .timeout = {}};
  static constexpr uint32_t kReports = 1000;
  Kernel kernel_;
  Buffer reports_;
  std::vector<uint32_t> words_ = std::vector<uint32_t>(kReports * kWords);
};

TEST_F(TaskGraphs, RunTasksOnWorkersOfTheirClass) {
  Graph graph(*session_, two_classes_);
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
  Graph graph(
      *session_,
      {.scheduler = {0, 0}, .classes = {{"ONE", {{1, 0, 1, 0}}}}, .scratch = {}, .timeout = {}});
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
// Two tasks a worker at least, so that one finds nothing of what another has left; tasks without a configuration, and
// some that only join, between them.
TEST_F(TaskGraphs, GiveTasksCircularBuffersAndCommonArgumentsOfTheirOwn) {
  constexpr uint32_t kTasks = 300;
  Result<Kernel> kernel = session_->LoadKernelFile(ttfd::testing::KernelPath("task_configured"));
  ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
  Graph graph(*session_, {.scheduler = {0, 0},
                          .classes = {},
                          .scratch = {{.index = 0, .pages = 1, .page_bytes = 64}},
                          .timeout = {}});
  FunctionOptions configured;
  configured.configured = true;
  const Function own = graph.AddFunction("own", *kernel, configured);
  const Function join = graph.AddFunction("join", Kernel(), configured);
  const Function plain = graph.AddFunction("plain", kernel_);
  graph.Add(plain, {reports_, 999});
  Run(&graph);  // without configurations: the next run has another program
  std::vector<Task> before;
  for (uint32_t i = 0; i < kTasks; ++i) {
    const uint32_t index = i % 12;
    const Configuration configuration = graph.AddConfiguration(
        {.circular_buffers = {{index, 1 + i % 5, 64 + i % 3 * 16, client::DataFormat::kNone}},
         .common = {{client::Processor::kBrisc, {reports_, i, 1000 + i, index}}}});
    before.push_back(graph.AddConfigured(own, configuration));
    if (i % 3 == 0) graph.Add(plain, {reports_, kTasks + i});
  }
  const Task joined = graph.AddConfigured(join, graph.AddConfiguration({}), {.after = before});
  graph.Add(plain, {reports_, 2 * kTasks, 77}, {.after = {joined}});
  for (int run = 0; run < 2; ++run) {
    Run(&graph);
    for (uint32_t i = 0; i < kTasks; ++i) {
      EXPECT_THAT(ReportOf(i).first(5), ElementsAre(1000 + i, 1 + i % 5, 64 + i % 3 * 16, 0, 0))
          << i;
    }
    EXPECT_NE(ReportOf(kTasks)[0] | ReportOf(kTasks + 3)[0], 0u);
    EXPECT_EQ(ReportOf(2 * kTasks)[2], 77u);
  }
}

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

// Nothing of a cancelled run is left: the next one is whole.
TEST_F(TaskGraphs, AreCancelledWhileTheyRun) {
  Graph graph(
      *session_,
      {.scheduler = {0, 0}, .classes = {{"ONE", {{1, 0, 1, 0}}}}, .scratch = {}, .timeout = {}});
  const Function function = graph.AddFunction("report", kernel_);
  // A run takes some 20 ms on the model, and several seconds on the official simulator with a tenth of the tasks.
  const uint32_t tasks = ttfd::TestSimulator().starts_with("ttsim") ? 5000 : 50'000;
  for (uint32_t task = 0; task < tasks; ++task) graph.Add(function, {reports_, task % kReports});
  client::Queue queue = session_->queue();
  const client::Queue transfers = *session_->OpenQueue({.kind = client::QueueKind::kTransfer});
  ASSERT_TRUE(graph.Cancel(transfers).ok()) << "of no run";
  ASSERT_TRUE(graph.Load(queue).ok());
  const Result<client::Position> first = graph.Enqueue(queue), second = graph.Enqueue(queue);
  ASSERT_TRUE(first.ok() && second.ok() && queue.Flush().ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_TRUE(graph.Cancel(transfers).ok());
  ASSERT_TRUE(queue.Wait(*second).ok());
  const Result<RunReport> report = graph.ReadReport(queue);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->cancelled);
  EXPECT_EQ(report->blocks, 0u) << "of the run that had not begun when it was cancelled";
  std::atomic<bool> ended = false;
  std::thread canceller([&] {
    while (!ended) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      EXPECT_TRUE(graph.Cancel(transfers).ok());
    }
  });
  const Status status = graph.Run(queue);
  ended = true;
  canceller.join();
  EXPECT_EQ(status.code(), client::Code::kCancelled);
  EXPECT_THAT(status.ToString(), HasSubstr("the graph was cancelled after "));
  Graph small(*session_);
  small.Add(small.AddFunction("report", kernel_), {reports_, 7});
  ASSERT_NO_FATAL_FAILURE(Run(&small));
  EXPECT_EQ(ReportOf(7)[1], 7u);
  EXPECT_EQ(graph.Run(queue).ToString(), "OK");
}

// Tiles may count clocks from epochs of their own. How far two of them may be off, under weak-memory modes as well, in
// which an exchange of clocks may take longer one way than the other.
constexpr uint64_t kClockError = 250;

TEST_F(TaskGraphs, HaveTimelines) {
  Graph graph(*session_, two_classes_);
  const Function matrix = graph.AddFunction("matrix", kernel_);
  const Function vector = graph.AddFunction("vector", kernel_, {.on = "VECTOR", .host = {}});
  for (uint32_t task = 0; task < kReports; ++task) {
    graph.Add(task % 3 == 0 ? matrix : vector, {reports_, task});
    if (task >= 40) graph.AddEdge({task - 40}, {task});
  }
  const Result<Timeline> timeline = graph.RunWithTimeline(session_->queue());
  ASSERT_TRUE(timeline.ok()) << timeline.status().ToString();
  ASSERT_TRUE(session_->queue().Read(reports_, 0, std::as_writable_bytes(std::span(words_))).ok());
  ASSERT_EQ(timeline->tasks.size(), kReports);
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Timeline::Task>> by_worker;
  for (uint32_t task = 0; task < kReports; ++task) {
    const Timeline::Task& one = timeline->tasks[task];
    EXPECT_EQ(timeline->functions[one.function], task % 3 == 0 ? "matrix" : "vector");
    const client::Core& core = timeline->classes[one.in_class].workers[one.worker];
    EXPECT_EQ(ReportOf(task)[0], core.x | core.y << 8) << "tile of task " << task;
    EXPECT_LT(one.begin, one.end);
    by_worker[{one.in_class, one.worker}].push_back(one);
  }
  for (auto& [worker, tasks] : by_worker) {
    std::sort(tasks.begin(), tasks.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    for (size_t i = 1; i < tasks.size(); ++i) EXPECT_LE(tasks[i - 1].end, tasks[i].begin);
  }
  EXPECT_EQ(timeline->edges.size(), kReports - 40);
  for (const auto& [before, after] : timeline->edges) {
    EXPECT_EQ(before + 40, after);
    EXPECT_LE(timeline->tasks[before].end, timeline->tasks[after].begin + kClockError);
  }
}

// The log takes the place of the records of the graph as it was, the first buffer of the card.
TEST_F(TaskGraphs, HaveTimelinesAtAddressZero) {
  reports_ = Buffer();
  const Result<Kernel> empty = session_->LoadKernelFile(ttfd::testing::KernelPath("empty"));
  ASSERT_TRUE(empty.ok()) << empty.status().ToString();
  Graph graph(*session_);
  const Function function = graph.AddFunction("empty", *empty);
  for (uint32_t tasks = 1; tasks <= 4; ++tasks) {
    graph.Add(function, {});
    const Result<Timeline> timeline = graph.RunWithTimeline(session_->queue());
    ASSERT_TRUE(timeline.ok()) << timeline.status().ToString();
    EXPECT_EQ(timeline->tasks.size(), tasks);
  }
}

TEST_F(TaskGraphs, RunOnOtherBuffersAndInRecordings) {
  Graph graph(*session_);
  const Function function = graph.AddFunction("report", kernel_);
  for (uint32_t task = 0; task < 100; ++task) graph.Add(function, {reports_, task, 7 + task});
  client::Queue queue = session_->queue();
  Result<Buffer> other = session_->AllocateDram(kReports * kPageBytes, {.page_bytes = kPageBytes});
  ASSERT_TRUE(other.ok());
  const Result<client::LaunchRequest> launch = graph.Launch(queue);
  ASSERT_TRUE(launch.ok()) << launch.status().ToString();
  const Result<client::Trace> trace = queue.RecordTrace(std::span(&*launch, 1));
  ASSERT_TRUE(trace.ok()) << trace.status().ToString();
  ASSERT_TRUE(graph.Rebind(reports_, *other).ok());
  EXPECT_EQ(graph.Rebind(reports_, *other).code(), client::Code::kInvalidArgument);
  ASSERT_NO_FATAL_FAILURE(Run(&graph));
  EXPECT_THAT(words_, Each(0u)) << "of the buffer that the tasks named at first";
  ASSERT_TRUE(queue.Read(*other, 0, std::as_writable_bytes(std::span(words_))).ok());
  EXPECT_EQ(ReportOf(99)[2], 106u);
  for (int replay = 0; replay < 3; ++replay) {
    ASSERT_TRUE(queue.Fill(reports_, 0, reports_.size_bytes(), 0).ok());
    ASSERT_TRUE(queue.Replay(client::ReplayRequest(*trace)).ok());
    ASSERT_TRUE(queue.Read(reports_, 0, std::as_writable_bytes(std::span(words_))).ok());
    for (uint32_t task = 0; task < 100; ++task) EXPECT_EQ(ReportOf(task)[2], 7 + task);
  }
}

// Two clients, each with half of the workers: runs of one do not wait for that of the other.
TEST_F(TaskGraphs, OfTwoClientsRunAtOnce) {
  client::Session other = Connect("other");
  const auto half = [](client::Session& session, uint32_t first_row) {
    return Graph(session, {.scheduler = {0, first_row},
                           .classes = {{"WORKERS", {{0, first_row + 1, 9, first_row + 3}}}},
                           .scratch = {},
                           .timeout = {}});
  };
  const auto queue_of = [](client::Session& session, uint32_t first_row) {
    return *session.OpenQueue({.workers = {{0, first_row, 9, first_row + 3}}});
  };
  Graph endless = half(*session_, 0);
  const Function slow = endless.AddFunction("report", kernel_);
  for (uint32_t task = 0; task < 500'000; ++task) endless.Add(slow, {reports_, task % kReports});
  client::Queue queue = queue_of(*session_, 0);
  ASSERT_TRUE(endless.Load(queue).ok());

  Result<Kernel> kernel = other.LoadKernelFile(ttfd::testing::KernelPath("task_report"));
  Result<Buffer> reports = other.AllocateDram(kReports * kPageBytes, {.page_bytes = kPageBytes});
  ASSERT_TRUE(kernel.ok() && reports.ok());
  Graph small = half(other, 5);
  const Function function = small.AddFunction("report", *kernel);
  for (uint32_t task = 0; task < kReports; ++task) small.Add(function, {*reports, task});
  client::Queue other_queue = queue_of(other, 5);
  ASSERT_TRUE(small.Load(other_queue).ok());

  const Result<client::Position> running = endless.Enqueue(queue);
  ASSERT_TRUE(running.ok() && queue.Flush().ok());
  for (int run = 0; run < 5; ++run) {
    const Status status = small.Run(other_queue);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  EXPECT_EQ(queue.Wait(*running, std::chrono::milliseconds(0)).code(),
            client::Code::kDeadlineExceeded)
      << "the other graph still runs";
  ASSERT_TRUE(endless.Cancel(*session_->OpenQueue({.kind = client::QueueKind::kTransfer})).ok());
  ASSERT_TRUE(queue.Wait(*running).ok());
  EXPECT_TRUE(endless.ReadReport(queue)->cancelled);
}

}  // namespace
}  // namespace ttfd::graph::graph_daemon_test
