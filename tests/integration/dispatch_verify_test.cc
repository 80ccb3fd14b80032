// A card that has come up is not called ready before it has shown that it works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/abi/hart_status.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"
#include "runtime/card/firmware_card.h"
#include "runtime/hw/noc.h"
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
  ASSERT_TRUE(ReadWord(*window, address).ok());  // it has arrived
}

class DispatchVerify : public ::testing::Test {
 protected:
  void SetUp() override {
    TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("it is meddled with every 100 clocks");
    card_.reset();
    device_ = std::make_unique<MeddledDevice>(*OpenTestDevice("sim:board=p100a"));
    card_ = *FirmwareCard::Create(*device_, SteadyClock(), {});
  }

  // The prefetcher of the second hardware queue is the last that a boot waits for. What it says outlasts a reset.
  bool IsUp(Device& device, uint32_t boot = 1) const {
    const hw::Coordinate last = {device_->info().tensix_columns.back(), 4};
    return StatusWord(device, last, hw::kBrisc, offsetof(abi::HartStatus, state)) ==
               abi::kHartReady &&
           (StatusWord(device, last, hw::kBrisc, offsetof(abi::HartStatus, boot_nonce)) & 0xFF) ==
               boot;
  }

  // It is refused like any card that does not come up, and is ready once nobody meddles any more.
  std::string Refused() {
    const Status status = card_->Boot();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(StatusMessage(status)),
                HasSubstr("the card came up, but does not work"));
    EXPECT_FALSE(card_->Poll().ok()) << "it is lost";
    device_->meddle = nullptr;
    const Status again = card_->Boot();
    EXPECT_TRUE(again.ok()) << StatusMessage(again);
    EXPECT_TRUE(card_->Poll().ok());
    return std::string(StatusMessage(status));
  }

  std::unique_ptr<MeddledDevice> device_;
  std::unique_ptr<FirmwareCard> card_;
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
  EXPECT_THAT(Refused(), HasSubstr("worker 12 holds other bytes than CQ1 wrote there"));
}

TEST_F(DispatchVerify, HasEveryDramBankHoldWhatItIsSent) {
  const uint64_t behind = card_->description().dram_base + card_->description().dram_bank_bytes;
  for (const uint32_t bank : {0u, card_->description().dram_banks - 1}) {
    const uint32_t xy = device_->info().dram_port_xy[0][bank];
    const hw::Coordinate tile = {hw::NocX(xy), hw::NocY(xy)};
    device_->meddle = [tile, behind](Device& device) { Write(device, tile, behind, 0); };
    EXPECT_THAT(Refused(), HasSubstr(fmt::format("DRAM bank {} holds other bytes", bank)));
  }
}

TEST_F(DispatchVerify, LeavesAllAllocatableMemoryAsItWas) {
  const hw::Coordinate tile = {hw::NocX(device_->info().dram_port_xy[0][0]),
                               hw::NocY(device_->info().dram_port_xy[0][0])};
  const CardDescription card = card_->description();
  std::vector<std::byte> last(4096), l1(card.l1_bytes);
  for (std::byte& byte : last) byte = std::byte{0xA7};
  for (std::byte& byte : l1) byte = std::byte{0x7A};
  const auto dram = *device_->OpenWindow(UnicastTarget(tile));
  const auto worker = *device_->OpenWindow(UnicastTarget(kWorker));
  const uint64_t at = card.dram_base + card.dram_bank_bytes - last.size();
  ASSERT_TRUE(dram->Write(at, last).ok());
  ASSERT_TRUE(worker->Write(card.l1_base, l1).ok());
  // The writes have arrived when a read returns: a reset would discard them.
  ASSERT_TRUE(ReadWord(*dram, card.l1_base).ok());
  ASSERT_TRUE(ReadWord(*worker, card.l1_base).ok());
  ASSERT_TRUE(card_->Boot().ok());
  std::vector<std::byte> last_now(last.size()), l1_now(l1.size());
  ASSERT_TRUE(dram->Read(at, last_now).ok());
  ASSERT_TRUE(worker->Read(card.l1_base, l1_now).ok());
  EXPECT_TRUE(last_now == last);
  EXPECT_TRUE(l1_now == l1);
}

// A launch may have a kernel on any of them.
TEST_F(DispatchVerify, HasEveryHartOfAWorkerRunAKernelAfterAReset) {
  for (uint32_t hart = hw::kNcrisc; hart < hw::kHarts; ++hart) {
    SetUp();
    ASSERT_TRUE(card_->Boot().ok());
    device_->meddle = [this, hart](Device& device) {
      if (IsUp(device, 2)) Write(device, kWorker, hw::kSoftReset0, hw::SoftResetBit(hart));
    };
    EXPECT_THAT(Refused(), HasSubstr("1 workers are not done: (1,1)")) << hart;
  }
}

TEST_F(DispatchVerify, LaunchesThroughEveryHardwareQueue) {
  for (const uint32_t queue : {0u, 1u}) {
    SetUp();
    const hw::Coordinate dispatch = {device_->info().tensix_columns.back(),
                                     hw::kTensixFirstRow + 2 * queue + 1};
    device_->meddle = [this, dispatch](Device& device) {
      if (IsUp(device)) {
        Write(device, dispatch, hw::kSoftReset0,
              hw::kSoftResetAllHarts & ~hw::SoftResetBit(hw::kBrisc));
      }
    };
    Refused();
  }
}

TEST_F(DispatchVerify, HasEveryWorkerAnswerALaunch) {
  device_->meddle = [this](Device& device) {
    if (IsUp(device)) Write(device, kWorker, hw::kSoftReset0, hw::kSoftResetAllHarts);
  };
  EXPECT_THAT(Refused(),
              AllOf(HasSubstr("workers of CQ1 stopped"), HasSubstr("1 workers are not done")));
}

}  // namespace
}  // namespace ttfd
