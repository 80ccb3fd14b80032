// A chip behind a link of its neighbour: what arrives there, and what happens when nothing answers any more.
//
// The chip has a port here as well, for the test to look into it: what the link does must not need it.
#include "runtime/fabric/remote_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "runtime/device/sim/sim_device.h"
#include "runtime/fabric/discovery.h"
#include "runtime/hw/ethernet.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/stream.h"
#include "runtime/hw/tensix.h"
#include "tests/support/random.h"

namespace ttfd::remote_device_test {
namespace {

// The front device, which can be stopped, or to say that it is a card.
class Front final : public Device {
 public:
  explicit Front(std::unique_ptr<Device> device, bool is_card = false)
      : device_(std::move(device)), info_(device_->info()) {
    info_.runs_by_itself = is_card;
  }
  const DeviceInfo& info() const override { return info_; }
  StatusOr<std::unique_ptr<Window>> OpenWindow(const WindowTarget& target) override {
    return device_->OpenWindow(target);
  }
  StatusOr<std::unique_ptr<HostMemory>> AllocateHostMemory(uint64_t bytes) override {
    return device_->AllocateHostMemory(bytes);
  }
  Status Reset() override { return device_->Reset(); }
  uint64_t resets() const override { return device_->resets(); }
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override {
    if (stopped) return AdvanceResult{0, true};
    if (calls_left == 0) return AdvanceResult{0, true};
    --calls_left;
    return device_->Advance(clocks);
  }
  void ReturnFault(const Status& fault) override { device_->ReturnFault(fault); }
  std::optional<DeviceFault> fault() const override { return device_->fault(); }
  bool stopped = false;
  uint64_t calls_left = ~uint64_t{0};  // of Advance, until it stops

 private:
  const std::unique_ptr<Device> device_;
  DeviceInfo info_;
};

class RemoteChip : public testing::Test {
 protected:
  void Open(const std::string& text) {
    const StatusOr<SimOptions> options = ParseSimOptions(text);
    ASSERT_TRUE(options.ok()) << options.status().ToString();
    auto devices = OpenSimDevices(*options);
    ASSERT_TRUE(devices.ok()) << devices.status().ToString();
    front_ = std::make_shared<Front>(std::move(devices->front()));
    port_ = std::move(devices->back());
    for (const LinkStatus& link : ReadLinks(*front_)) {
      if (link.state != LinkState::kUp || remote_ != nullptr) continue;
      auto remote = RemoteDevice::Open(front_, link, "0.8-1.8", SteadyClock());
      ASSERT_TRUE(remote.ok()) << remote.status().ToString() << FarFault();
      remote_ = std::move(*remote);
    }
    ASSERT_NE(remote_, nullptr);
  }
  // The fault of the far chip, for a message.
  std::string FarFault() const { return port_->fault() ? "; " + port_->fault()->text : ""; }
  static hw::Coordinate At(uint32_t xy) { return {hw::NocX(xy), hw::NocY(xy)}; }
  static std::unique_ptr<Window> WindowOf(Device& device, const WindowTarget& target) {
    return std::move(device.OpenWindow(target)).value();
  }
  static std::unique_ptr<Window> WindowOf(Device& device, uint32_t xy) {
    return WindowOf(device, UnicastTarget(At(xy)));
  }

  std::shared_ptr<Front> front_;
  std::unique_ptr<Device> port_;  // the far chip's own
  std::unique_ptr<RemoteDevice> remote_;
};

class RandomAccesses : public RemoteChip, public testing::WithParamInterface<const char*> {
 protected:
  static constexpr uint32_t kBytes = 3 * hw::kNocMaxPacketBytes;  // of each tile, from kBase
  static constexpr uint32_t kBase = 0x40000;
  static constexpr uint32_t kStream = 5;
  static constexpr uint32_t kWord = hw::kNiuAddress + hw::kNocTargetLow;

  // One access, on the chip and on the reference.
  void Step(Random& random) {
    const uint32_t xy = tiles_[random() % tiles_.size()];
    const bool large = random() % 8 == 0;
    const uint32_t bytes = 1 + random() % (large ? kBytes : 100);
    const uint32_t offset = random() % (large ? kBytes - bytes + 1 : 50);
    std::vector<std::byte> data(bytes);
    switch (random() % 5) {
      case 0:
        ASSERT_TRUE(WindowOf(*remote_, xy)->Read(kBase + offset, data).ok());
        ASSERT_TRUE(std::equal(data.begin(), data.end(), memory_[xy].begin() + offset));
        return;
      case 1:
        return StepRegister(random, xy);
      case 2:
        for (std::byte& byte : data) byte = static_cast<std::byte>(random());
        ASSERT_TRUE(WindowOf(*remote_, Rectangle())->Write(kBase + offset, data).ok());
        for (const uint32_t worker : workers_) {
          std::copy(data.begin(), data.end(), memory_[worker].begin() + offset);
        }
        return;
      default:
        for (std::byte& byte : data) byte = static_cast<std::byte>(random());
        ASSERT_TRUE(WindowOf(*remote_, xy)->Write(kBase + offset, data).ok());
        std::copy(data.begin(), data.end(), memory_[xy].begin() + offset);
    }
  }

  // Registers of a worker, or of all of them: adds to a stream, where a write that is carried out twice shows, or sets
  // a word, where one in the wrong order does.
  void StepRegister(Random& random, uint32_t xy) {
    const uint32_t value = random() % 100;
    const bool adds = random() % 2 == 0;
    const bool all = random() % 3 == 0;
    if (!all && std::find(workers_.begin(), workers_.end(), xy) == workers_.end()) return;
    const auto window = WindowOf(*remote_, all ? Rectangle() : UnicastTarget(At(xy)));
    const uint32_t update = hw::StreamRegister(kStream, hw::kStreamSpaceAvailableUpdate);
    ASSERT_TRUE(
        WriteWord(*window, adds ? update : kWord, adds ? value << hw::kStreamUpdateShift : value)
            .ok());
    for (const uint32_t worker : all ? workers_ : std::vector{xy}) {
      if (adds) {
        streams_[worker] += value;
      } else {
        words_[worker] = value;
      }
    }
  }

  static WindowTarget Rectangle() { return {{2, 3}, {3, 4}, true, WindowOrdering::kStrict}; }

  const std::vector<uint32_t> workers_ = {hw::NocXy(2, 3), hw::NocXy(3, 3), hw::NocXy(2, 4),
                                          hw::NocXy(3, 4)};
  std::vector<uint32_t> tiles_ = workers_;
  std::map<uint32_t, std::vector<std::byte>> memory_;
  std::map<uint32_t, uint32_t> streams_, words_;
};

TEST_P(RandomAccesses, ArriveOnceAndInTheirOrder) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    remote_.reset();
    ASSERT_NO_FATAL_FAILURE(Open(fmt::format("{},seed={}", GetParam(), seed)));
    Random random(seed);
    tiles_ = workers_;
    tiles_.push_back(remote_->info().dram_port_xy[0][1]);
    streams_.clear();
    words_.clear();
    for (const uint32_t xy : tiles_) {
      memory_[xy].assign(kBytes, std::byte{0});
      ASSERT_TRUE(WindowOf(*remote_, xy)->Write(kBase, memory_[xy]).ok());
    }
    for (int i = 0; i < 250; ++i) ASSERT_NO_FATAL_FAILURE(Step(random)) << "seed " << seed;
    for (const uint32_t xy : tiles_) {
      std::vector<std::byte> found(kBytes);
      ASSERT_TRUE(WindowOf(*remote_, xy)->Read(kBase, found).ok());
      EXPECT_EQ(found, memory_[xy]) << "seed " << seed;
      ASSERT_TRUE(WindowOf(*port_, xy)->Read(kBase, found).ok());
      EXPECT_EQ(found, memory_[xy]) << "seed " << seed;
    }
    for (const uint32_t xy : workers_) {
      const uint32_t space = hw::StreamRegister(kStream, hw::kStreamSpaceAvailable);
      EXPECT_EQ(ReadWord(*WindowOf(*remote_, xy), space).value(), streams_[xy]) << "seed " << seed;
      EXPECT_EQ(ReadWord(*WindowOf(*remote_, xy), kWord).value(), words_[xy]) << "seed " << seed;
    }
    EXPECT_EQ(FarFault(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomAccesses,
                         testing::Values("sim:cluster=1x2", "sim:cluster=1x2,link_latency=1",
                                         "sim:cluster=1x2,hazards=on",
                                         "sim:cluster=1x2,link_latency=1,hazards=on",
                                         "sim:cluster=1x2,hazards=noc,link_latency=5000",
                                         "sim:cluster=1x2,coordinates=written-back,hazards=on",
                                         "sim:cluster=1x2,threads=2,bank=1,columns=2"));

TEST_F(RemoteChip, IsDescribedByItsTelemetry) {
  ASSERT_NO_FATAL_FAILURE(Open("sim:cluster=1x2,bank=5,columns=1+16"));
  DeviceInfo expected = port_->info();
  expected.memory_survives_reset = remote_->info().memory_survives_reset;
  EXPECT_EQ(remote_->info(), expected);
  EXPECT_EQ(ReadLinks(*remote_), ReadLinks(*port_)) << FarFault();
}

TEST_F(RemoteChip, RefusesWhatNothingWouldAnswer) {
  ASSERT_NO_FATAL_FAILURE(Open("sim:cluster=1x2,bank=5,columns=1+16"));
  struct Case {
    hw::Coordinate at;
    uint64_t address;
    size_t bytes;
  };
  const hw::Coordinate bank = At(remote_->info().dram_port_xy[0][0]);
  const Case cases[] = {{{8, 1}, 0, 4},
                        {{16, 2}, 0, 4},  // harvested
                        {{1, 1}, 0, 4},
                        {hw::kPcieTranslated, 0, 4},
                        {{hw::kEthTranslatedX + 12, hw::kEthTranslatedY}, 0, 4},
                        {{1, 2}, hw::kL1Bytes - 4, 8},
                        {{1, 2}, hw::kSoftReset0, 8},
                        {{1, 2}, uint64_t{1} << 32, 4},
                        {bank, hw::kDramBankBytes, 4},
                        {{hw::kEthTranslatedX, hw::kEthTranslatedY}, hw::kEthLinkFirmware - 4, 8},
                        {hw::kArc, 2, 4}};
  const uint64_t before = remote_->link().counts().register_writes;
  for (const Case& wrong : cases) {
    std::vector<std::byte> data(wrong.bytes);
    const auto window = WindowOf(*remote_, UnicastTarget(wrong.at));
    EXPECT_EQ(window->Read(wrong.address, data).code(), StatusCode::kInvalidArgument)
        << wrong.at.x << "," << wrong.at.y << " " << wrong.address;
    EXPECT_EQ(window->Write(wrong.address, data).code(), StatusCode::kInvalidArgument)
        << wrong.at.x << "," << wrong.at.y << " " << wrong.address;
  }
  const WindowTarget nowhere = {{8, 2}, {9, 11}, true, WindowOrdering::kStrict};
  EXPECT_EQ(remote_->OpenWindow(nowhere).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(remote_->link().counts().register_writes, before);
}

TEST_F(RemoteChip, IsUnavailableOnceNothingAnswersUntilAReset) {
  ASSERT_NO_FATAL_FAILURE(Open("sim:cluster=1x2,hazards=noc"));
  const auto worker = WindowOf(*remote_, hw::NocXy(2, 3));
  const uint32_t value = 77;
  ASSERT_TRUE(WriteWord(*worker, 0x1000, value).ok());
  ASSERT_EQ(ReadWord(*worker, 0x1000).value(), value);
  front_->stopped = true;
  const Status lost = ReadWord(*worker, 0x1000).status();
  EXPECT_EQ(lost.code(), StatusCode::kUnavailable);
  EXPECT_NE(lost.message().find("0.8-1.8"), std::string::npos) << lost.ToString();
  front_->stopped = false;
  EXPECT_EQ(ReadWord(*worker, 0x1000).status(), lost);
  EXPECT_EQ(WriteWord(*worker, 0x1000, 5), lost);
  EXPECT_EQ(remote_->CheckPresence(), lost);
  ASSERT_TRUE(port_->Reset().ok());  // the registers that the link has set up are empty
  const Status reset = remote_->Reset();
  ASSERT_TRUE(reset.ok()) << reset.ToString() << FarFault();
  EXPECT_EQ(ReadWord(*worker, 0x1000).value(), value);
  EXPECT_TRUE(remote_->CheckPresence().ok());
}

TEST_F(RemoteChip, WorksAgainAfterAResetWhereverItsLinkStopped) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    remote_.reset();
    ASSERT_NO_FATAL_FAILURE(
        Open(fmt::format("sim:cluster=1x2,link_latency=1,hazards=on,seed={}", seed)));
    const auto worker = WindowOf(*remote_, hw::NocXy(2, 3));
    std::vector<std::byte> data(hw::kNocMaxPacketBytes);
    front_->calls_left = 40 + seed;
    while (worker->Write(0x1000, data).ok() && worker->Read(0x1000, data).ok()) continue;
    front_->calls_left = ~uint64_t{0};
    const Status reset = remote_->Reset();
    ASSERT_TRUE(reset.ok()) << "seed " << seed << " " << reset.ToString() << FarFault();
    ASSERT_TRUE(WriteWord(*worker, 0x1000, seed).ok());
    EXPECT_EQ(ReadWord(*worker, 0x1000).value(), seed);
    EXPECT_EQ(FarFault(), "") << "seed " << seed;
  }
}

TEST_F(RemoteChip, LeavesAFaultOfItsNeighbourToOthers) {
  ASSERT_NO_FATAL_FAILURE(Open("sim:cluster=1x2"));
  ASSERT_TRUE(WriteWord(*WindowOf(*front_, hw::NocXy(1, 2)), 0, 0).ok());  // no instruction
  ASSERT_TRUE(WriteWord(*WindowOf(*front_, hw::NocXy(1, 2)), hw::kSoftReset0,
                        hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc)
                  .ok());
  const auto worker = WindowOf(*remote_, hw::NocXy(2, 3));
  EXPECT_TRUE(WriteWord(*worker, 0x1000, 5).ok());
  EXPECT_EQ(ReadWord(*worker, 0x1000).value(), 5u);
  EXPECT_EQ(front_->Advance(1).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(front_->Advance(1).ok());
  EXPECT_EQ(ReadWord(*worker, 0x1000).value(), 5u);
}

TEST_F(RemoteChip, SurvivesAResetOfItsNeighbourUnlessWritesWereOutstanding) {
  ASSERT_NO_FATAL_FAILURE(Open("sim:cluster=1x2"));
  const auto worker = WindowOf(*remote_, hw::NocXy(2, 3));
  ASSERT_TRUE(WriteWord(*worker, 0x1000, 77).ok());
  EXPECT_EQ(ReadWord(*worker, 0x1000).value(), 77u);
  ASSERT_TRUE(front_->Reset().ok());
  EXPECT_EQ(ReadWord(*worker, 0x1000).value(), 77u);
  ASSERT_TRUE(WriteWord(*worker, 0x1000, 78).ok());
  ASSERT_TRUE(front_->Reset().ok());
  EXPECT_EQ(ReadWord(*worker, 0x1000).status().code(), StatusCode::kUnavailable);
  ASSERT_TRUE(remote_->Reset().ok());
  EXPECT_TRUE(ReadWord(*worker, 0x1000).ok());
  EXPECT_EQ(FarFault(), "");
}

TEST_F(RemoteChip, AResetHoldsItsHartsAndLeavesTheNeighbours) {
  ASSERT_NO_FATAL_FAILURE(Open("sim:cluster=1x2"));
  const uint32_t released = hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc;
  const uint32_t loop = 0x0000006F;  // j .
  for (Device* const device : {static_cast<Device*>(front_.get()), port_.get()}) {
    for (const uint32_t xy : {hw::NocXy(1, 2), hw::NocXy(16, 11)}) {
      ASSERT_TRUE(WriteWord(*WindowOf(*device, xy), 0, loop).ok());
      ASSERT_TRUE(WriteWord(*WindowOf(*device, xy), hw::kSoftReset0, released).ok());
    }
  }
  for (int resets = 0; resets < 3; ++resets) {
    const Status reset = remote_->Reset();
    ASSERT_TRUE(reset.ok()) << resets << " " << reset.ToString() << FarFault();
  }
  for (const uint32_t xy : {hw::NocXy(1, 2), hw::NocXy(16, 11)}) {
    EXPECT_EQ(ReadWord(*WindowOf(*port_, xy), hw::kSoftReset0).value(), hw::kSoftResetAllHarts);
    EXPECT_EQ(ReadWord(*WindowOf(*front_, xy), hw::kSoftReset0).value(), released);
  }
}

// Opens the chips of a cluster that have ports.
std::vector<std::shared_ptr<Device>> OpenPorts(const std::string& text, bool are_cards) {
  std::vector<std::shared_ptr<Device>> devices;
  auto opened = OpenSimDevices(ParseSimOptions(text).value());
  for (auto& device : *opened) {
    devices.push_back(std::make_shared<Front>(std::move(device), are_cards));
  }
  return devices;
}

TEST(FindRemoteChips, OpensTheNeighboursOfPortsAndNamesTheRest) {
  const struct {
    const char* text;
    std::vector<uint32_t> behind;  // of the chips that are found
    size_t left_out;
  } cases[] = {{"sim", {}, 0},
               {"sim:cluster=1x2", {}, 0},
               {"sim:cluster=1x2,remote=0", {0}, 0},
               {"sim:cluster=1x4,remote=1+3,wrap=none", {0, 1}, 0},
               {"sim:cluster=1x4,remote=1+2+3,wrap=none", {0}, 1},
               {"sim:cluster=2x2,remote=1+2+3", {0, 0}, 1}};
  for (const auto& wanted : cases) {
    const auto devices = OpenPorts(wanted.text, false);
    const RemoteChips found = FindRemoteChips(devices, {}, SteadyClock());
    std::vector<uint32_t> behind;
    for (const RemoteChips::Chip& chip : found.chips) behind.push_back(chip.behind);
    EXPECT_EQ(behind, wanted.behind) << wanted.text;
    ASSERT_EQ(found.left_out.size(), wanted.left_out) << wanted.text;
    for (const std::string& why : found.left_out) {
      EXPECT_NE(why.find("none of its neighbours has a PCIe port"), std::string::npos) << why;
    }
  }
}

TEST(FindRemoteChips, LeavesChipsOfOtherHostsAlone) {
  const auto devices = OpenPorts("sim:cluster=1x3,remote=1+2,wrap=x", true);
  const RemoteChips none = FindRemoteChips(devices, {}, SteadyClock());
  EXPECT_TRUE(none.chips.empty());
  for (uint32_t channel = 0; channel < 4; ++channel) {
    for (const uint32_t queue : {0u, 1u}) {
      const auto tile = devices.front()->OpenWindow(
          UnicastTarget({hw::kEthTranslatedX + channel, hw::kEthTranslatedY}));
      const uint32_t accepted =
          hw::kEthTransmit + queue * hw::kEthTransmitStride + hw::kEthTransmitAccepted;
      EXPECT_EQ(ReadWord(**tile, accepted).value(), 0u) << "nothing was sent to them";
    }
  }
  EXPECT_EQ(none.left_out.size(), 2u);
  const auto name = ParseChipId("0x40000000003:0x3");
  ASSERT_TRUE(name.ok());
  const RemoteChips one = FindRemoteChips(devices, std::span(&*name, 1), SteadyClock());
  ASSERT_EQ(one.chips.size(), 1u) << testing::PrintToString(one.left_out);
  EXPECT_EQ(one.chips[0].device->info().id.asic, 3u);
  EXPECT_EQ(one.left_out.size(), 1u);
}

TEST(FindRemoteChips, NamesAreTwoHexadecimalNumbers) {
  EXPECT_EQ(ToString(ParseChipId("4000000003:a").value()), "0x4000000003:0xa");
  for (const char* const wrong : {"", ":", "1", "1:", ":1", "1:2:3", "x:y", "1 2", "0:1", "1:0"}) {
    EXPECT_EQ(ParseChipId(wrong).status().code(), StatusCode::kInvalidArgument) << wrong;
  }
}

}  // namespace
}  // namespace ttfd::remote_device_test
