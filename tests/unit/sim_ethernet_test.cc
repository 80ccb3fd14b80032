// Words and refusals of an Ethernet tile of the model.
#include <gtest/gtest.h>

#include "runtime/device/port_device.h"
#include "runtime/device/sim/sim_device.h"
#include "runtime/hw/arc.h"
#include "runtime/hw/ethernet.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/stream.h"
#include "runtime/hw/tensix.h"

namespace ttfd::sim_ethernet_test {
namespace {

class EthTileOfTheModel : public testing::Test {
 protected:
  void SetUp() override {
    SimOptions options = ParseSimOptions("sim").value();
    options.ethernet_channels = 0x2BF0;  // 4 to 9, 11, 13
    options.serial = 5;
    device_ = OpenSimDevice(options, &chip_).value();
    tile_ = device_->OpenWindow(UnicastTarget(At(7))).value();
  }
  static hw::Coordinate At(uint32_t index) {
    return {hw::kEthTranslatedX + index, hw::kEthTranslatedY};
  }

  sim::Chip* chip_ = nullptr;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Window> tile_;  // of channel 13
};

TEST_F(EthTileOfTheModel, PublishesWhatLinkFirmwareDoes) {
  const struct {
    uint32_t address;
    uint32_t value;
  } kWords[] = {
      {hw::kEthPostCode, 0xC0DEA000},
      {hw::kEthPortStatus, hw::kEthPortUnused},
      {hw::kEthTrainStatus, 0},
      {hw::kEthRetrains, 0},
      {hw::kEthRxLinkUp, 0},
      {hw::kEthHeartbeat, 0xABCD0000},
      {hw::kEthFirmwareVersion, 0x010700},
      {hw::kEthLocalInfo + hw::kEthInfoPlace, 7u << 24 | 13u << 16},
      {hw::kEthLocalInfo + hw::kEthInfoBoardHigh, hw::kCardP150a << 4},
      {hw::kEthLocalInfo + hw::kEthInfoBoardLow, 5},
      {hw::kEthLocalInfo + hw::kEthInfoAsicHigh, 0},
      {hw::kEthLocalInfo + hw::kEthInfoAsicLow, 5},
      {hw::kSoftReset0, hw::kEthSoftResetE1},
      {hw::kNiuAddress + hw::kNocIdLogical, hw::NocXy(27, 25)},
      {hw::kNiuAddress + hw::kNocNodeId, 10 | 1 << 6 | 17 << 12 | 12 << 19 | 1 << 28},
  };
  for (const auto& [address, value] : kWords) {
    EXPECT_EQ(ReadWord(*tile_, address).value(), value) << std::hex << address;
  }
  chip_->Idle(3 << 16);
  EXPECT_EQ(ReadWord(*tile_, hw::kEthHeartbeat).value(), 0xABCD0003);
}

TEST_F(EthTileOfTheModel, RefusesWhatItDoesNotModel) {
  const struct {
    const char* reason;
    uint32_t address;
    std::optional<uint32_t> written;
  } kRows[] = {
      {"448 KiB of L1", hw::kEthL1Bytes, {}},
      {"448 KiB of L1", hw::kL1Bytes - 4, 1},
      {"link firmware", hw::kEthRemoteInfo, {}},
      {"link firmware", hw::kEthLinkFirmware, {}},
      {"link firmware is not written", hw::kEthPortStatus, 1},
      {"E1 stays in reset", hw::kSoftReset0, 0},
      {"E1 stays in reset", hw::kSoftReset0, hw::kEthSoftResetE1 | hw::kEthSoftResetE0},
      {"issued by the tile's own harts", hw::kNiuAddress + hw::kNocCommand, 1},
      {"no register of an Ethernet tile", hw::kPcSnapshot, {}},
      {"no register of an Ethernet tile", hw::kStreamAddress, 1},
  };
  for (const auto& [reason, address, written] : kRows) {
    const Status status =
        written ? WriteWord(*tile_, address, *written) : ReadWord(*tile_, address).status();
    EXPECT_NE(StatusMessage(status).find(reason), std::string::npos)
        << std::hex << address << ": " << status.ToString();
  }
  EXPECT_TRUE(WriteWord(*tile_, hw::kSoftReset0, hw::kEthSoftResetE1).ok());
  std::array<std::byte, 8> across{};
  EXPECT_FALSE(tile_->Read(hw::kEthLinkFirmware - 4, across).ok());
}

TEST_F(EthTileOfTheModel, IsWhereTheEnabledChannelsEnd) {
  const std::unique_ptr<Window> next = device_->OpenWindow(UnicastTarget(At(8))).value();
  EXPECT_FALSE(ReadWord(*next, 0x1000).ok());
  EXPECT_EQ(device_->info().ethernet_channels, (std::vector<uint32_t>{4, 5, 6, 7, 8, 9, 11, 13}));
  EXPECT_TRUE(OpenSimDevice(ParseSimOptions("sim:board=p100a").value())
                  .value()
                  ->info()
                  .ethernet_channels.empty());
}

}  // namespace
}  // namespace ttfd::sim_ethernet_test
