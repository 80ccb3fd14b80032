// Cards of one daemon whose kernels wait for each other over a link: a wait is no hang while the other card may end it,
// and cards that wait for each other hang at once, however long their launches may take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firmware/kernel_elfs.h"
#include "runtime/abi/l1_map.h"
#include "runtime/card/firmware_card.h"
#include "runtime/device/sim/sim_device.h"
#include "runtime/fabric/link_end.h"
#include "tests/support/core_fixture.h"

namespace ttfd::link_domain_test {
namespace {

using ::testing::HasSubstr;

constexpr std::array<uint32_t, 2> kBoth = {0, 1};
constexpr uint32_t kSegments =
    40;  // more than the link buffers: the sender waits for the receiver, too
constexpr uint32_t kBytes = 4096;
constexpr uint32_t kPlaces = 4;

class LinkDomain : public ::testing::Test {
 protected:
  // A cluster of two chips in a daemon, with a link between their workers (0,0), and a session with queue and program
  // `d` on device d.
  void SetUp() override {
    const StatusOr<SimOptions> options = ParseSimOptions("sim:cluster=1x2,links=1");
    ASSERT_TRUE(options.ok());
    auto devices = OpenSimDevices(*options);
    ASSERT_TRUE(devices.ok()) << devices.status().ToString();
    devices_ = *std::move(devices);
    std::vector<ServedCard> cards;
    for (const auto& device : devices_) {
      auto card = FirmwareCard::Create(*device, SteadyClock(), {});
      ASSERT_TRUE(card.ok()) << card.status().ToString();
      cards.emplace_back().card = *std::move(card);
    }
    DaemonOptions daemon;
    daemon.limits.inline_bytes = 128 << 10;  // the kernel with its symbols
    core_ = *Daemon::Create(std::move(cards), SteadyClock(), daemon);
    ASSERT_TRUE(core_->Boot().ok());
    const sim::ChipLink link = options->cluster.topology.links.front();
    ASSERT_EQ(ConnectLink(Place(link.a), Place(link.b), SteadyClock()), OkStatus());
    client_ = std::make_unique<TestClient>(*core_);
    HelloRequest hello;
    hello.min_revision = hello.max_revision = 1;
    hello.client_name = "test";
    hello.device = 0;
    ASSERT_TRUE(client_->Open(hello).ok());
    client_->OpenQueue({1, 1, 0, {}});
    const ByteSpan elf = KernelElf("link_stream_ncrisc");
    client_->Send(InlineKernel(kKernel, {reinterpret_cast<const char*>(elf.data()), elf.size()}));
    for (const uint32_t device : kBoth) {
      CreateProgramRequest program = OneKernelProgram(kProgram + device, kKernel);
      program.kernels.front().hart = hw::kNcrisc;
      AllocateRequest space =
          Allocate(kSpace + device, kSpaceBytes);  // from abi::kBufferAddress on
      space.place = BufferPlace::kL1Interleaved;
      space.cores = {{0, 0, 0, 0}};
      client_->SendOn(device, {}, program, space);
    }
    client_->Run();
    ASSERT_TRUE(client_->errors.empty()) << client_->errors.front().error.message;
  }

  // The kernel of a device takes segments from the link, or gives it some. Returns its value in the device's queue.
  // `end`: 1 is not connected.
  uint64_t LaunchOn(uint32_t device, bool sends, uint32_t end = 0) {
    LaunchRequest launch = Launch(kProgram + device);
    ArgumentsRequest& arguments = launch.arguments.emplace_back();
    arguments.common = {end,
                        kSegments,
                        kBytes,
                        abi::kBufferAddress + 0x1000,
                        kPlaces,
                        sends ? 1u : 0u,
                        abi::kBufferAddress};
    return client_->SendOn(device, {}, launch);
  }
  void RunSome() {
    for (int i = 0; i < 2000; ++i) core_->RunOnce();
    client_->Take();
  }
  uint32_t Resets(uint32_t device) {
    return core_->admin().GetStatus().devices[device].stats.resets;
  }

  static constexpr uint64_t kKernel = 1, kProgram = 2, kSpace = 4;
  static constexpr uint64_t kSpaceBytes = 0x1000 + kPlaces * abi::kLinkSlotBytes;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<Daemon> core_;
  std::unique_ptr<TestClient> client_;

 private:
  LinkPlace Place(sim::LinkEnd at) {
    const CardDescription card = core_->admin().ListDevices().devices[at.chip].card;
    return {devices_[at.chip].get(),
            at.channel,
            {card.worker_x.front(), card.worker_y.front()},
            0,
            sim::LinkEndText(at)};
  }
};

TEST_F(LinkDomain, AWaitForACardWhoseKernelsComeLaterIsNoHang) {
  core_->SetLinked(kBoth, true);
  const uint64_t takes = LaunchOn(0, false);
  RunSome();
  EXPECT_LT(client_->Progress(0), takes);
  EXPECT_EQ(Resets(0), 0u);
  const uint64_t gives = LaunchOn(1, true);
  client_->Run();
  EXPECT_EQ(client_->Progress(0), takes);
  EXPECT_EQ(client_->Progress(1), gives);
  EXPECT_TRUE(client_->errors.empty());
  EXPECT_EQ(Resets(0) + Resets(1), 0u);
}

TEST_F(LinkDomain, CardsThatWaitForEachOtherHangAtOnceAndBothAreNamed) {
  core_->SetLinked(kBoth, true);
  const std::array<uint64_t, 2> values = {LaunchOn(0, false), LaunchOn(1, false)};
  RunSome();
  for (const uint32_t device : kBoth) {
    EXPECT_EQ(Resets(device), 1u);
    const ErrorReply error = client_->ErrorOf(values[device], device);
    EXPECT_EQ(error.code, StatusCode::kAborted);
    EXPECT_EQ(error.reason, "HANG");
    EXPECT_THAT(core_->admin().GetStatus().devices[device].last_error,
                HasSubstr("nothing can move any more"));
  }
}

TEST_F(LinkDomain, AFaultEndsTheWaitOfAnotherCardWhichIsResetWithIt) {
  core_->SetLinked(kBoth, true);
  const std::array<uint64_t, 2> values = {LaunchOn(0, false), LaunchOn(1, true, /*end=*/1)};
  RunSome();
  EXPECT_EQ(client_->ErrorOf(values[0], 0).reason, "DEVICE_RESET");
  EXPECT_THAT(client_->ErrorOf(values[0], 0).message,
              HasSubstr("reset with one that its kernels have links to"));
  EXPECT_EQ(client_->ErrorOf(values[1], 1).reason, "DEVICE_FAULT");
  EXPECT_EQ(Resets(0), 1u);
  EXPECT_EQ(Resets(1), 1u);
}

TEST_F(LinkDomain, AnAdministratorsResetIsAlsoOfACardWhoseKernelsWait) {
  core_->SetLinked(kBoth, true);
  const uint64_t takes = LaunchOn(0, false);
  RunSome();
  std::optional<Status> reset;
  ASSERT_TRUE(
      core_->admin().ResetDevice(1, [&reset](const Status& status) { reset = status; }).ok());
  RunSome();
  EXPECT_EQ(reset, OkStatus());
  EXPECT_EQ(client_->ErrorOf(takes, 0).reason, "DEVICE_RESET");
  EXPECT_EQ(Resets(0), 1u);
  EXPECT_EQ(Resets(1), 1u);
  // A card without kernels stays as it is.
  ASSERT_TRUE(core_->admin().ResetDevice(1, [](const Status&) {}).ok());
  RunSome();
  EXPECT_EQ(Resets(0), 1u);
  EXPECT_EQ(Resets(1), 2u);
}

TEST_F(LinkDomain, AFaultIsFoundNextToALinkedCardThatIsIdle) {
  core_->SetLinked(kBoth, true);
  const uint64_t gives = LaunchOn(1, true, /*end=*/1);
  for (int i = 0; i < 1000 && Resets(1) == 0; ++i) RunSome();  // long before its kernel timeout
  EXPECT_EQ(client_->ErrorOf(gives, 1).reason, "DEVICE_FAULT");
  EXPECT_EQ(Resets(0), 0u);
}

// A card that is not linked waits for no other, whatever those do.
TEST_F(LinkDomain, ACardThatIsNotLinkedHangsAtOnceNextToOneAtWork) {
  const uint64_t takes = LaunchOn(0, false);
  RunSome();
  EXPECT_EQ(client_->ErrorOf(takes, 0).reason, "HANG");
  EXPECT_EQ(Resets(0), 1u);
  EXPECT_EQ(Resets(1), 0u);
}

}  // namespace
}  // namespace ttfd::link_domain_test
