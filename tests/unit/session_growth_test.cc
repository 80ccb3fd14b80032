// What sessions leave behind in the daemon when they are gone: nothing, however many there were.
#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>
#include <memory>

#include "tests/support/core_fixture.h"

namespace ttfd::session_growth_test {
namespace {

constexpr int kSessions = 400;
// Of a leak the least that is seen: the smallest thing the heap gives, once a session.
constexpr uint64_t kMostGrowth = 16 * kSessions;

uint64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

class SessionGrowth : public CoreTest {
 protected:
  void SetUp() override {
    if (HeapBytes() == 0) GTEST_SKIP() << "a sanitizer's heap does not tell how much is in use";
    Start();
    card->keep_log = false;
  }

  // The heap's growth over `kSessions`, after as many that may have filled pools and caches.
  uint64_t GrowthOver(const std::function<void()>& session) {
    uint64_t before = 0;
    for (int i = 0; i < 2 * kSessions; ++i) {
      if (i == kSessions) before = HeapBytes();
      session();
      RunAll();
      card->routes.clear();
      card->patches.clear();
    }
    const uint64_t after = HeapBytes();
    return after > before ? after - before : 0;
  }
};

TEST_F(SessionGrowth, OneThatWorkedOnAllItsQueuesLeavesNothing) {
  const uint64_t growth = GrowthOver([this] {
    const std::unique_ptr<TestClient> client = Connect();
    client->OpenQueue(ComputeQueue(1));
    client->OpenQueue(TransferQueue(2));
    client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2),
                 InlineWrite(1, 0, Pattern(4096)), Launch(3));
    client->SendOn(1, {{0, 5}}, Launch(3), Read(1, 0, 4096));
    client->SendOn(2, {{1, 2}}, InlineWrite(1, 0, Pattern(4096)), Read(1, 0, 4096));
    client->Run();
    EXPECT_EQ(client->Data(2, 2), Pattern(4096));
  });
  EXPECT_LT(growth, kMostGrowth);
}

TEST_F(SessionGrowth, OneThatIsAbandonedWithWorkLeftLeavesNothing) {
  const uint64_t growth = GrowthOver([this] {
    const std::unique_ptr<TestClient> client = Connect();
    client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2), Launch(3),
                 StreamedWrite(1, 0, 4096), Launch(3), Read(1, 0, 4096), Free({1, 2, 3}));
    core->RunOnce();
  });
  EXPECT_LT(growth, kMostGrowth);
}

TEST_F(SessionGrowth, OneWhoseCommandsFailLeavesNothing) {
  const uint64_t growth = GrowthOver([this] {
    const std::unique_ptr<TestClient> client = Connect();
    client->Send(Allocate(1, 4096), Read(1, 4096, 64), InlineWrite(1, 0, Pattern(64)),
                 InlineKernel(2), OneKernelProgram(3, 2), Launch(3));
    client->Run();
    EXPECT_EQ(client->errors.size(), 2u);
  });
  EXPECT_LT(growth, kMostGrowth);
}

TEST_F(SessionGrowth, OneThatDidNothingLeavesNothing) {
  EXPECT_LT(GrowthOver([this] { Connect(); }), kMostGrowth);
}

}  // namespace
}  // namespace ttfd::session_growth_test
