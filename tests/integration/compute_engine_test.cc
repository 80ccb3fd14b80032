// A worker's Tensix engine between launches: what a kernel leaves in it, and kernels that wait in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/compute_program.h"

namespace ttfd {
namespace {

using ::testing::HasSubstr;

constexpr CoreRange kWorker = {0, 0, 0, 0};

class ComputeEngine : public ::testing::Test {
 protected:
  Status Launch(const char* name, hw::Hart hart, const std::vector<uint32_t>& common) {
    ASSIGN_OR_RETURN(const auto image, LoadKernel(KernelElf(name), name));
    ProgramSpec spec;
    spec.kernels.push_back({image, hart, {kWorker}});
    ASSIGN_OR_RETURN(const auto program, BuildProgram(1, spec, card_->description().grid));
    KernelArguments arguments;
    arguments.common = common;
    return card_.Submit(LaunchCommand{program, {arguments}});
  }

  // Polls until a hart's report is one that is `wanted`.
  HartReport Await(bool (*wanted)(const HartReport&)) {
    const TimePoint deadline = SteadyClock().Now() + std::chrono::seconds(60);
    while (SteadyClock().Now() < deadline) {
      const bool lost = !card_->Poll().ok();
      for (const HartReport& hart : card_->probe().Harts()) {
        if (wanted(hart)) return hart;
      }
      if (lost) break;
    }
    ADD_FAILURE() << "no such report";
    return {};
  }

  BootedCard card_;
};

// One user's kernel leaves a bank of SrcA full, in which the next user's tiles would be missing.
TEST_F(ComputeEngine, BankLeftFull_ChangesNoOtherResult) {
  ASSERT_TRUE(Launch("leave_in_engine", hw::kTrisc0, {1}).ok());
  EXPECT_THAT(Await([](const HartReport& hart) { return hart.faulted; }).text,
              HasSubstr("SrcA: 1 bank filled and not freed"));
  ASSERT_TRUE(card_->Boot().ok());
  ComputeProgram add(card_, {.compute = "compute_pairs", .inputs = 2});
  std::vector<uint16_t> left, right, sums;
  for (uint32_t i = 0; i < 2 * Tile::kWords; ++i) {
    left.push_back(ToBfloat16(static_cast<float>(i % 50)));
    right.push_back(ToBfloat16(static_cast<float>(i % 70)));
    sums.push_back(ToBfloat16(static_cast<float>(i % 50 + i % 70)));
  }
  constexpr uint32_t kAdd = 0;
  EXPECT_TRUE(add.Run<uint16_t>({left, right}, {kAdd}) == sums);
}

TEST_F(ComputeEngine, KernelThatWaits_SaysForWhat) {
  ASSERT_TRUE(Launch("wait_in_engine", hw::kTrisc1, {}).ok());
  if (card_.chip == nullptr) {  // where the device cannot look inside, the waypoint has to do
    const HartReport waits = Await(
        [](const HartReport& hart) { return hart.hart == hw::kTrisc1 && hart.waypoint == "TSYN"; });
    EXPECT_THAT(waits.where, HasSubstr("worker (0,0) "));
    return;
  }
  const HartReport waits = Await([](const HartReport& hart) {
    return hart.hart == hw::kTrisc1 && hart.engine_wait.has_value();
  });
  EXPECT_THAT(waits.where, HasSubstr("worker (0,0) "));
  ASSERT_TRUE(waits.engine_wait.has_value());
  EXPECT_THAT(waits.engine_wait->instruction, HasSubstr("SEMWAIT "));
  EXPECT_EQ(waits.engine_wait->condition, "semaphore 7 is 0");
}

}  // namespace
}  // namespace ttfd
