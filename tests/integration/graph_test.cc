// Task graphs through libttfd_graph and the real daemon: values equal those of the host, each task runs once.
#include "ttfd/graph/graph.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/support/client_fixture.h"
#include "tests/support/random_graph.h"

namespace ttfd::graph::graph_test {
namespace {

using client::Buffer;
using client::Kernel;

class TaskGraphs : public ttfd::testing::ClientFixture {
 protected:
  void SetUp() override {
    ClientFixture::SetUp();
    Result<Kernel> mix = session_->LoadKernelFile(ttfd::testing::KernelPath("task_mix"));
    ASSERT_TRUE(mix.ok()) << mix.status().ToString();
    mix_ = std::move(*mix);
  }

  Kernel mix_;
};

TEST_F(TaskGraphs, HaveTheValuesOfTheHost) {
  std::mt19937 random(1);
  for (const uint32_t tasks : {1u, 100u, 10'000u, 20'000u}) {
    SCOPED_TRACE(tasks);
    ttfd::testing::RandomGraph graph(*session_, mix_, tasks, &random);
    ASSERT_NO_FATAL_FAILURE(graph.RunAndCheck());
    ASSERT_NO_FATAL_FAILURE(graph.RunAndCheck());
  }
}

}  // namespace
}  // namespace ttfd::graph::graph_test
