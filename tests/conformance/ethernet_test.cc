// Ethernet tiles as the host and the NoC reach them. Their harts do not run.
#include "runtime/hw/ethernet.h"

#include "runtime/device/link_status.h"
#include "runtime/hw/noc.h"
#include "tests/conformance/device_fixture.h"

namespace ttfd::ethernet_test {
namespace {

class EthTile : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && device().info().ethernet_channels.empty()) {
      GTEST_SKIP() << "the board has no Ethernet channels";
    }
  }

  static constexpr uint32_t kBuffer = 0x20000;
  static constexpr hw::Coordinate kLink = {hw::kEthTranslatedX, hw::kEthTranslatedY};
};

TEST_P(EthTile, EachEnabledChannelHasMemoryOfItsOwn) {
  const auto& channels = device().info().ethernet_channels;
  const auto at = [](size_t i) {
    return hw::Coordinate{hw::kEthTranslatedX + static_cast<uint32_t>(i), hw::kEthTranslatedY};
  };
  for (size_t i = 0; i < channels.size(); ++i) {
    for (const uint32_t address : {kBuffer, hw::kEthLinkFirmware - 4}) {
      WriteWord(at(i), address, channels[i] + address);
    }
  }
  for (size_t i = 0; i < channels.size(); ++i) {
    for (const uint32_t address : {kBuffer, hw::kEthLinkFirmware - 4}) {
      EXPECT_EQ(ReadWord(at(i), address), channels[i] + address);
    }
  }
}

TEST_P(EthTile, TheNocReadsWritesAndIncrementsItsMemory) {
  const std::vector<uint32_t> data = Pattern(4096, 3);
  Write(kLink, kBuffer, std::as_bytes(std::span(data)));
  WriteWord(kLink, 0x5000, 40);
  Rv32Asm a;
  EmitNoc(a, NocRead(kTile, kLink, kBuffer, kBuffer, 16384));
  EmitNoc(a, NocWrite(kTile, kBuffer + 16, kLink, kBuffer + 0x8000, 4096));
  EmitNoc(a, NocIncrement(kTile, kLink, 0x5000, 2, kResults));
  Run(a);
  EXPECT_EQ(ReadWords(kTile, kBuffer, 4096), data);
  EXPECT_EQ(ReadWords(kLink, kBuffer + 0x8000, 1024),
            std::vector(data.begin() + 4, data.begin() + 4 + 1024));
  EXPECT_EQ(ReadWord(kLink, 0x5000), 42u);
  EXPECT_EQ(ReadWord(kTile, kResults), 40u);
}

TEST_P(EthTile, TheNocSetsUpItsCommandBuffers) {
  constexpr uint32_t kTarget =
      hw::kNiuAddress + 3 * hw::kNiuCommandBufferStride + hw::kNocTargetLow;
  Rv32Asm a;
  EmitNoc(a, NocInline(kTile, kLink, kTarget, 0x1230));
  EmitNoc(a, NocRead(kTile, kLink, kTarget, kResults + kTarget % 16, 4));
  Run(a);
  EXPECT_EQ(ReadWord(kLink, kTarget), 0x1230u);
  EXPECT_EQ(ReadWord(kTile, kResults + kTarget % 16), 0x1230u);
}

TEST_P(EthTile, WithoutANeighbourNoLinkIsUp) {
  if (!GetParam().alone) GTEST_SKIP() << "the chip has a neighbour";
  std::vector<uint32_t> channels;
  for (const LinkStatus& link : ReadLinks(device())) {
    channels.push_back(link.channel);
    EXPECT_TRUE(link.state == LinkState::kUnused || link.state == LinkState::kDown);
    EXPECT_FALSE(link.peer.has_value());
    EXPECT_FALSE(link.firmware.empty());
  }
  EXPECT_EQ(channels, device().info().ethernet_channels);
}

TTFD_FOR_EVERY_BACKEND(EthTile);

}  // namespace
}  // namespace ttfd::ethernet_test
