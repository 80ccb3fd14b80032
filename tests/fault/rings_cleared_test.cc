// What passes through the rings in host memory is not left there: not after its use, not after a reset in the middle.
#include <gtest/gtest.h>
#include <string.h>

#include "tests/fault/injection_scenario.h"
#include "tests/support/faulty_device.h"
#include "tests/support/test_device.h"

namespace ttfd::rings_cleared_test {
namespace {

constexpr size_t kSampleBytes = 16;

// Samples of what the scenario writes and reads.
bool HoldsAnyOf(ByteSpan memory, uint32_t seed, size_t size) {
  const std::string bytes = Pattern(size, seed);
  for (size_t at = 0; at + kSampleBytes <= size; at += 512) {
    if (memmem(memory.data(), memory.size(), bytes.data() + at, kSampleBytes) != nullptr)
      return true;
  }
  return false;
}

class RingsCleared : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = OpenTestDevice("sim:board=p100a");
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    auto device = std::make_unique<FaultyDevice>(*std::move(opened), &point_, nullptr);
    device_ = device.get();
    scenario_ = std::make_unique<InjectionScenario>(std::move(device));
    ASSERT_TRUE(scenario_->Boot().ok());
    scenario_->OpenWitness();
  }
  void ExpectNothingLeft() {
    ASSERT_FALSE(device_->host_memory().empty());
    for (const MutableByteSpan memory : device_->host_memory()) {
      EXPECT_FALSE(HoldsAnyOf(memory, 3, 96 << 10)) << "a streamed write, or its read";
      EXPECT_FALSE(HoldsAnyOf(memory, 1, 4096)) << "an inline write";
      EXPECT_FALSE(HoldsAnyOf(memory, 11, 32 << 10)) << "what the witness wrote and reads";
    }
  }

  FaultPoint point_;
  FaultyDevice* device_ = nullptr;
  std::unique_ptr<InjectionScenario> scenario_;
};

TEST_F(RingsCleared, AfterUse) {
  EXPECT_TRUE(scenario_->Run());
  scenario_->Check();
  ExpectNothingLeft();
}

TEST_F(RingsCleared, AfterAResetAmidTheirUse) {
  point_.Arm(FaultAction::kNone, 0);
  ASSERT_TRUE(scenario_->Run());
  const uint64_t operations = point_.operations();
  for (uint64_t part = 1; part <= 4; ++part) {
    point_.Arm(FaultAction::kFail, operations * part / 5);
    scenario_->Run();
    scenario_->Check();
    ExpectNothingLeft();
  }
  EXPECT_GT(scenario_->resets(), 0u);
}

}  // namespace
}  // namespace ttfd::rings_cleared_test
