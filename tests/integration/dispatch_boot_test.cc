// The path from reset to ready: what is released, what stays held, and how a boot that fails says
// where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firmware/images.h"
#include "runtime/abi/host_queue.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"
#include "runtime/boot/boot.h"
#include "runtime/card/firmware_card.h"
#include "runtime/hw/tensix.h"
#include "tests/support/late_device.h"
#include "tests/support/test_device.h"
#include "tests/support/test_kernels.h"
#include "tests/support/ticking_clock.h"

namespace ttfd {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Firmware whose bytes a test may change.
struct OwnFirmware {
  explicit OwnFirmware(std::span<const FirmwareImage> images = FirmwareImages()) {
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

  Status Boot(const OwnFirmware& firmware, CardOptions options = CardOptions(),
              Clock& clock = SteadyClock()) {
    auto created = FirmwareCard::Create(*device_, clock, options, firmware.set());
    RETURN_IF_ERROR(created.status());
    card_ = *std::move(created);
    return card_->Boot();
  }
  // The device is open; its host accesses take time from here on.
  LateDevice& MakeLate() {
    auto late = std::make_unique<LateDevice>(std::move(device_));
    LateDevice& result = *late;
    device_ = std::move(late);
    return result;
  }
  // A kernel on every worker reads a page of its own from DRAM, adds 5 and writes it back.
  void ExpectEveryWorkerReadsDram() {
    constexpr uint32_t kPage = 64;
    const GridSize grid = card_->description().grid;
    ProgramSpec spec;
    spec.kernels.push_back(
        {TestKernel("bump_brisc"), hw::kBrisc, {{0, 0, grid.x - 1, grid.y - 1}}});
    KernelArguments arguments;
    arguments.common = {0x40000, kPage, 5, 0};
    arguments.words_per_core = 1;
    const uint32_t workers = grid.x * grid.y;
    for (uint32_t worker = 0; worker < workers; ++worker) arguments.per_core.push_back(worker);
    const Region pages{MemoryKind::kDram, -1, 0x40000, kPage, uint64_t{workers} * kPage};
    ASSERT_TRUE(card_->TrySubmit(FillCommand{pages, 0, pages.size_bytes, 7}).ok());
    ASSERT_TRUE(card_->TrySubmit(LaunchCommand{TestProgram(spec, grid), {arguments}}).ok());
    std::vector<std::byte> bytes(pages.size_bytes);
    const auto sink = [&bytes](uint64_t at, ByteSpan data) {
      std::memcpy(bytes.data() + at, data.data(), data.size());
    };
    ASSERT_TRUE(card_->TrySubmit(ReadCommand{pages, 0, bytes.size(), sink}).ok());
    ASSERT_TRUE(card_->RequestEvent({0, card_->submitted(0)}).ok());
    while (!card_->idle()) {
      const Status polled = card_->Poll();
      ASSERT_TRUE(polled.ok()) << polled.ToString();
    }
    for (uint32_t worker = 0; worker < workers; ++worker) {
      ASSERT_EQ(LoadAt<uint32_t>(bytes.data() + worker * kPage), 12u) << "worker " << worker;
    }
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
  TickingClock ticking_{std::chrono::milliseconds(1)};
  std::unique_ptr<FirmwareCard> card_;
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

// A multicast is not ordered against a write to one tile: it may come to the tile after what was written later.
TEST_F(DispatchBoot, OwnCoordinate_SurvivesLateMulticasts) {
  ASSERT_TRUE(Boot(OwnFirmware()).ok());  // leaves its words, and its nonce, in L1
  LateDevice& late = MakeLate();
  if (!device_->info().memory_survives_reset) GTEST_SKIP() << "a reset empties its memory";
  for (const uint64_t by : {1u, 7u}) {
    late.late = by;
    late.holds = [](const WindowTarget& target) { return target.multicast; };
    const Status booted = Boot(OwnFirmware());
    ASSERT_TRUE(booted.ok()) << booted.ToString();
    ExpectEveryWorkerReadsDram();
  }
}

TEST_F(DispatchBoot, OwnCoordinate_ArrivesBeforeTheRelease) {
  LateDevice& late = MakeLate();
  late.late = 300;
  const uint32_t pool = device_->info().tensix_columns.back();
  late.holds = [pool](const WindowTarget& target) {
    return !target.multicast && target.start.x != pool;
  };
  const Status booted = Boot(OwnFirmware());
  ASSERT_TRUE(booted.ok()) << booted.ToString();
  ExpectEveryWorkerReadsDram();
}

TEST_F(DispatchBoot, WritesThatNeverArrive_AreNamed) {
  LateDevice& late = MakeLate();
  late.late = ~uint64_t{0} / 2;
  late.holds = [](const WindowTarget& target) { return target.multicast; };
  CardOptions options;
  options.boot_timeout = std::chrono::milliseconds(50);
  const Status status = Boot(OwnFirmware(), options);
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(StatusMessage(status)),
              AllOf(HasSubstr("worker (0,0) at tile (1,2) does not hold what the host wrote after"),
                    HasSubstr("was written")));
}

// A dispatcher that still runs when the reset comes publishes once more.
TEST_F(DispatchBoot, ACompletionPublishedBeforeTheReset_IsDiscarded) {
  LateDevice& late = MakeLate();
  const OwnFirmware firmware;
  ASSERT_TRUE(Boot(firmware).ok());
  late.before_reset = [&late] {
    for (const MutableByteSpan memory : late.host_memory) {
      StoreAt(memory.data() + abi::kCompletionPointerOffset, abi::CompletionPointer{3, 1, 1, 0});
    }
  };
  const Status booted = card_->Boot();
  ASSERT_TRUE(booted.ok()) << booted.ToString();
  ExpectEveryWorkerReadsDram();
}

TEST_F(DispatchBoot, WorksWithFirmwareBuiltForSize) {
  ASSERT_TRUE(Boot(OwnFirmware(FirmwareImagesSmall())).ok());
  ASSERT_TRUE(card_->RequestEvent({0, card_->submitted(0)}).ok());
  while (!card_->idle()) ASSERT_TRUE(card_->Poll().ok());
  EXPECT_TRUE(card_->Shutdown().ok());
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
  const CardOptions options;
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
  ASSERT_TRUE(device_->Reset().ok());
  BootOptions boot;
  boot.nonce = 5;
  boot.timeout = std::chrono::seconds(10);
  const Status status =
      BootCard(*device_, SteadyClock(), std::span(&plan, 1), OwnFirmware().set(), boot, NoTick);
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
  if (device_->info().reports_quiescence) {
    EXPECT_THAT(std::string(StatusMessage(status)),
                AllOf(HasSubstr("and nothing moves any more"), HasSubstr("pc 0x78")));
  }
  EXPECT_EQ(card_->RequestEvent({0, 0}).status(), status) << "and the card stays lost";
  ASSERT_TRUE(Boot(OwnFirmware()).ok()) << "until a boot with whole firmware";
}

TEST_F(DispatchBoot, GivesUpOnAHartThatRunsForEver) {
  OwnFirmware firmware;
  Replace(firmware.prefetch(), {kJumpToSelf});
  CardOptions options;
  // For the tiles before it too: a hundred looks, where the device's own time passes from look to look; on others, what
  // the slowest takes.
  const bool counted = device_->info().reports_quiescence;
  const std::chrono::milliseconds patience(counted ? 100 : 5000);
  options.boot_timeout = patience;
  const Status status =
      Boot(firmware, options, counted ? static_cast<Clock&>(ticking_) : SteadyClock());
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
  const auto refusal = [this](const CardOptions& options) {
    const Status status = Boot(OwnFirmware(), options);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return std::string(StatusMessage(status));
  };
  CardOptions options;
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
