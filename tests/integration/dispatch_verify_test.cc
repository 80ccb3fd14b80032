// A card that has come up is not called ready before it has shown that it works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/abi/hart_status.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"
#include "runtime/dispatch/dispatcher.h"
#include "runtime/hw/tensix.h"
#include "tests/support/meddled_device.h"
#include "tests/support/test_device.h"

namespace ttfd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr hw::Coordinate kWorker = {2, 3};  // (1,1) of the grid

uint32_t StatusWord(Device& device, hw::Coordinate tile, uint32_t hart, size_t offset) {
  const auto window = *device.OpenWindow(UnicastTarget(tile));
  const uint64_t at = abi::kHartStatusAddress + hart * abi::kHartStatusBytes + offset;
  return *ReadWord(*window, at);
}

void Write(Device& device, hw::Coordinate tile, uint64_t address, uint32_t value) {
  const auto window = *device.OpenWindow(UnicastTarget(tile));
  ASSERT_TRUE(WriteWord(*window, address, value).ok());
}

class DispatchVerify : public ::testing::Test {
 protected:
  void SetUp() override {
    TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("it is meddled with every 100 clocks");
    device_ = std::make_unique<MeddledDevice>(*OpenTestDevice("sim:board=p100a"));
    dispatcher_ = *Dispatcher::Create(*device_, SteadyClock(), {});
  }

  // The prefetcher of the second hardware queue is the last that a boot waits for.
  bool IsUp(Device& device) const {
    const hw::Coordinate last = {device_->info().tensix_columns.back(), 4};
    return StatusWord(device, last, hw::kBrisc, offsetof(abi::HartStatus, state)) ==
           abi::kHartReady;
  }

  // It is refused like any card that does not come up, and is ready once nobody meddles any more.
  std::string Refused() {
    const Status status = dispatcher_->Boot();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(StatusMessage(status)),
                HasSubstr("the card came up, but does not work"));
    EXPECT_FALSE(dispatcher_->Poll().ok()) << "it is lost";
    device_->meddle = nullptr;
    const Status again = dispatcher_->Boot();
    EXPECT_TRUE(again.ok()) << StatusMessage(again);
    EXPECT_TRUE(dispatcher_->Poll().ok());
    return std::string(StatusMessage(status));
  }

  std::unique_ptr<MeddledDevice> device_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

TEST_F(DispatchVerify, ReadsBackTheVersionOfEveryHart) {
  device_->meddle = [this](Device& device) {
    if (!IsUp(device)) return;
    Write(device, kWorker,
          abi::kHartStatusAddress + hw::kTrisc1 * abi::kHartStatusBytes +
              offsetof(abi::HartStatus, protocol_version),
          0x77);
  };
  EXPECT_THAT(Refused(), HasSubstr("tile (2,3) TRISC1 is ready, of protocol version 0x00000077"));
}

TEST_F(DispatchVerify, ReadsBackWhichBootEveryHartIsOf) {
  device_->meddle = [this](Device& device) {
    if (!IsUp(device)) return;
    Write(device, kWorker, abi::kHartStatusAddress + offsetof(abi::HartStatus, boot_nonce), 0x1234);
  };
  EXPECT_THAT(Refused(), AllOf(HasSubstr("tile (2,3) BRISC"), HasSubstr("and boot 0x1234")));
}

TEST_F(DispatchVerify, HasEveryWorkerHoldWhatItIsSent) {
  device_->meddle = [](Device& device) { Write(device, kWorker, abi::kCircularBufferAddress, 0); };
  EXPECT_THAT(Refused(), HasSubstr("holds other bytes than CQ0 wrote there"));
}

TEST_F(DispatchVerify, HasEveryWorkerAnswerALaunch) {
  device_->meddle = [this](Device& device) {
    if (IsUp(device)) Write(device, kWorker, hw::kSoftReset0, hw::kSoftResetAllHarts);
  };
  EXPECT_THAT(Refused(),
              AllOf(HasSubstr("workers of CQ0 stopped"), HasSubstr("1 workers are not done")));
}

}  // namespace
}  // namespace ttfd
