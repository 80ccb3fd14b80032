// The path from reset to ready: what is released, what stays held, and how a boot that fails says
// where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firmware/images.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"
#include "runtime/boot/boot.h"
#include "runtime/dispatch/card_dispatcher.h"
#include "runtime/hw/tensix.h"
#include "tests/support/test_device.h"

namespace ttfd {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Firmware whose bytes a test may change.
struct OwnFirmware {
  OwnFirmware(std::span<const FirmwareImage> images = FirmwareImages()) {
    for (const FirmwareImage& image : images)
      bytes.emplace_back(image.bytes.begin(), image.bytes.end());
  }
  std::vector<std::byte>& worker(uint32_t hart) { return bytes[hart]; }
  std::vector<std::byte>& prefetch() { return bytes[5]; }
  std::vector<std::byte>& dispatch() { return bytes[6]; }
  std::vector<std::byte>& dispatch_s() { return bytes[7]; }
  FirmwareSet set() const {
    FirmwareSet set;
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) set.worker[hart] = bytes[hart];
    set.prefetch = bytes[5];
    set.dispatch = bytes[6];
    set.dispatch_s = bytes[7];
    return set;
  }
  std::vector<std::vector<std::byte>> bytes;
};

class DispatchBoot : public testing::Test {
 protected:
  void SetUp() override { device_ = *OpenTestDevice("sim:board=p100a"); }

  Status Boot(const OwnFirmware& firmware, DispatcherOptions options = DispatcherOptions()) {
    auto created = CardDispatcher::Create(*device_, SteadyClock(), options, firmware.set());
    RETURN_IF_ERROR(created.status());
    dispatcher_ = *std::move(created);
    return dispatcher_->Boot();
  }
  uint32_t Word(hw::Coordinate tile, uint64_t address) {
    auto window = *device_->OpenWindow(UnicastTarget(tile));
    return *ReadWord(*window, address);
  }
  // The image does nothing but `words`, from its first instruction on; the stamp stays.
  static void Replace(std::vector<std::byte>& image, std::initializer_list<uint32_t> words) {
    StoreAt(image.data(), uint32_t{0x00C0006F});  // jal x0, +12: over the stamp
    size_t at = 12;
    for (const uint32_t word : words) {
      StoreAt(image.data() + at, word);
      at += 4;
    }
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<CardDispatcher> dispatcher_;
};

constexpr uint32_t kJumpToSelf = 0x0000006F;
constexpr uint32_t kFence = 0x0FF0000F;
constexpr uint32_t kJumpBack4 = 0xFFDFF06F;

TEST_F(DispatchBoot, ReleasesWhatRunsAndHoldsTheRest) {
  ASSERT_TRUE(Boot(OwnFirmware()).ok());
  const auto held = [this](hw::Coordinate tile) { return Word(tile, hw::kSoftReset0); };
  const std::vector<uint32_t>& columns = device_->info().tensix_columns;
  const uint32_t pool = columns.back();
  EXPECT_EQ(held({1, 2}), 0u) << "a worker runs all five harts";
  EXPECT_EQ(held({columns[columns.size() - 2], 11}), 0u);
  EXPECT_EQ(held({pool, 2}), hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc) << "prefetch: BRISC";
  EXPECT_EQ(held({pool, 3}), hw::kSoftResetAllHarts & ~(hw::kSoftResetBrisc | hw::kSoftResetNcrisc))
      << "dispatch: BRISC and NCRISC";
  EXPECT_EQ(held({pool, 4}), held({pool, 2})) << "the second hardware queue likewise";
  EXPECT_EQ(held({pool, 5}), held({pool, 3}));
  for (uint32_t y = 6; y <= 11; ++y) {
    EXPECT_EQ(held({pool, y}), hw::kSoftResetAllHarts) << "the rest of the pool is idle";
  }
  const uint32_t jump = hw::JumpToFirmware(abi::kFirmwareAddress[hw::kBrisc]);
  for (const hw::Coordinate tile : {hw::Coordinate{1, 2}, {7, 7}, {pool, 2}, {pool, 3}}) {
    EXPECT_EQ(Word(tile, 0), jump) << "every tile that starts BRISC has its jump";
  }
}

TEST_F(DispatchBoot, WorksWithFirmwareBuiltForSize) {
  ASSERT_TRUE(Boot(OwnFirmware(FirmwareImagesSmall())).ok());
  ASSERT_TRUE(dispatcher_->Event().ok());
  while (!dispatcher_->idle()) ASSERT_TRUE(dispatcher_->Poll().ok());
  EXPECT_TRUE(dispatcher_->Shutdown().ok());
}

TEST_F(DispatchBoot, RefusesImagesOfAnotherVersionBeforeTouchingTheCard) {
  OwnFirmware firmware;
  StoreAt(firmware.dispatch_s().data() + 8, abi::kProtocolVersion + 1);
  const Status status = Boot(firmware);
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(StatusMessage(status)),
      AllOf(HasSubstr("firmware image dispatch_s"),
            HasSubstr(fmt::format("protocol version {:#010x}", abi::kProtocolVersion + 1))));
  firmware = OwnFirmware();
  firmware.worker(2).resize(4);
  EXPECT_THAT(std::string(StatusMessage(Boot(firmware))),
              HasSubstr("firmware image worker TRISC0: has no version stamp"));
}

TEST_F(DispatchBoot, IsRefusedByFirmwareThatSpeaksAnotherVersion) {
  const DispatcherOptions options;
  RingSizes sizes;
  sizes.issue_ring_bytes = options.issue_ring_bytes;
  sizes.completion_ring_pages = options.completion_ring_pages;
  sizes.fetch_queue_entries = options.fetch_queue_entries;
  sizes.command_ring_bytes = options.command_ring_bytes;
  sizes.scratch_bytes = options.scratch_bytes;
  sizes.ringbuffer_bytes = options.ringbuffer_bytes;
  sizes.dispatch_ring_pages = options.dispatch_ring_pages;
  sizes.dispatch_s_ring_pages = options.dispatch_s_ring_pages;
  const auto memory = *device_->AllocateHostMemory(HostQueueBytes(sizes));
  BootPlan plan = *PlanBoot(device_->info(), sizes, 0, memory->noc_address());
  plan.block.protocol_version ^= 0x10000;
  BootOptions boot;
  boot.nonce = 5;
  boot.timeout = std::chrono::seconds(10);
  const Status status =
      BootCard(*device_, SteadyClock(), std::span(&plan, 1), OwnFirmware().set(), boot);
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(StatusMessage(status)),
              AllOf(HasSubstr("worker (0,0) at tile (1,2) BRISC refuses to start"),
                    HasSubstr(fmt::format("{:#010x}", abi::kProtocolVersion)),
                    HasSubstr(fmt::format("{:#010x}", plan.block.protocol_version))));
}

TEST_F(DispatchBoot, NamesTheHartThatNeverSpeaks) {
  OwnFirmware firmware;
  Replace(firmware.worker(hw::kTrisc1), {kFence, kJumpBack4});
  const Status status = Boot(firmware);
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(StatusMessage(status)),
              AllOf(HasSubstr("worker (0,0) at tile (1,2) TRISC1 is not ready"),
                    HasSubstr("state down, waypoint none")));
  if (device_->info().tells_rest) {
    EXPECT_THAT(std::string(StatusMessage(status)),
                AllOf(HasSubstr("and nothing moves any more"), HasSubstr("pc 0x78")));
  }
  EXPECT_EQ(dispatcher_->Event(), status) << "and the card stays lost";
  ASSERT_TRUE(Boot(OwnFirmware()).ok()) << "until a boot with whole firmware";
}

TEST_F(DispatchBoot, GivesUpOnAHartThatRunsForEver) {
  OwnFirmware firmware;
  Replace(firmware.prefetch(), {kJumpToSelf});
  DispatcherOptions options;
  // For the tiles before it too, on the slowest device.
  const std::chrono::milliseconds patience(device_->info().tells_rest ? 100 : 5000);
  options.boot_timeout = patience;
  const Status status = Boot(firmware, options);
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(StatusMessage(status)),
              HasSubstr(fmt::format("prefetch at tile ({},2) BRISC is not ready after {} ms",
                                    device_->info().tensix_columns.back(), patience.count())));
}

TEST_F(DispatchBoot, PassesOnWhatTheDeviceSaysWhenFirmwareFaults) {
  OwnFirmware firmware;
  Replace(firmware.dispatch(), {0x00000000});
  const Status status = Boot(firmware);
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status.ToString();
  EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr("waiting for dispatch"));
}

TEST_F(DispatchBoot, RefusesRingsThatCannotWork) {
  const auto refusal = [this](const DispatcherOptions& options) {
    const Status status = Boot(OwnFirmware(), options);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return std::string(StatusMessage(status));
  };
  DispatcherOptions options;
  options.issue_ring_bytes = 1000;
  EXPECT_THAT(refusal(options), HasSubstr("issue_ring_bytes is 1000"));
  options = {};
  options.dispatch_ring_pages = 3;
  EXPECT_THAT(refusal(options), HasSubstr("dispatch_ring_pages is 3"));
  options = {};
  options.command_ring_bytes = 1 << 20;
  options.scratch_bytes = 1 << 19;
  EXPECT_THAT(refusal(options), HasSubstr("the rings of the prefetch tile need"));
  options = {};
  options.completion_ring_pages = 1;
  EXPECT_THAT(refusal(options), HasSubstr("completion_ring_pages is 1"));
}

}  // namespace
}  // namespace ttfd
