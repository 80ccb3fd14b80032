// Random task graphs through libttfd_graph and the real daemon: their values are the host's. TTFD_SEEDS in the
// environment: how many seeds, in place of five.
#include <cstdlib>
#include <tuple>

#include "tests/support/client_fixture.h"
#include "tests/support/random_graph.h"
#include "tests/support/test_device_text.h"

namespace ttfd::testing::graph_random_test {
namespace {

uint32_t Seeds() {
  const char* const text = std::getenv("TTFD_SEEDS");
  return text == nullptr ? 5 : static_cast<uint32_t>(std::atoi(text));
}

class RandomGraphs : public ClientFixture, public ::testing::WithParamInterface<uint32_t> {
 protected:
  void SetUp() override {
    ClientFixture::SetUp();
    client::Result<client::Kernel> mix = session_->LoadKernelFile(KernelPath("task_mix"));
    ASSERT_TRUE(mix.ok()) << mix.status().ToString();
    mix_ = std::move(*mix);
  }
  void RunAndCheck(const RandomGraphOptions& options, uint32_t runs) {
    SCOPED_TRACE("seed " + std::to_string(options.seed));
    RandomGraph graph(*session_, mix_, options);
    ASSERT_TRUE(graph.status().ok()) << graph.status().ToString();
    for (uint32_t run = 0; run < runs; ++run) {
      const client::Result<uint32_t> wrong = graph.CountWrong();
      ASSERT_TRUE(wrong.ok()) << wrong.status().ToString();
      ASSERT_EQ(*wrong, 0u) << "of " << options.tasks << " values";
    }
  }

  client::Kernel mix_;
};

// Numbers of workers. The official simulator takes a second for ten thousand tasks.
TEST_P(RandomGraphs, HaveTheValuesOfTheHost) {
  const uint32_t tasks = TestEnvironment("TTFD_TEST_DEVICE").starts_with("ttsim") ? 1000 : 10'000;
  for (uint32_t seed = 1; seed <= Seeds(); ++seed) {
    RunAndCheck(
        {.tasks = tasks, .seed = seed, .graph = OnWorkers(session_->device().grid_x, GetParam())},
        2);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, RandomGraphs, ::testing::Values(16, 32, 64, 120),
                         ::testing::PrintToStringParamName());

using LargeGraphs = RandomGraphs;

// Numbers of tasks, a hundred times what the scheduler's tile has at once.
TEST_P(LargeGraphs, HaveTheValuesOfTheHost) {
  for (uint32_t seed = 1; seed <= Seeds(); ++seed) {
    RunAndCheck({.tasks = GetParam(), .seed = seed}, 1);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, LargeGraphs, ::testing::Values(1'000'000),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace ttfd::testing::graph_random_test
