// Words of the link firmware as values.
#include "runtime/device/link_status.h"

#include <gtest/gtest.h>

#include <map>

#include "runtime/hw/ethernet.h"
#include "runtime/hw/noc.h"

namespace ttfd::link_status_test {
namespace {

using Words = std::map<uint64_t, uint32_t>;

class FakeTile final : public Window {
 public:
  explicit FakeTile(const Words& words) : words_(words) {}
  Status Read(uint64_t address, MutableByteSpan to) override {
    const auto found = words_.find(address);
    if (found == words_.end()) return Error(StatusCode::kUnavailable, "no answer");
    StoreAt(to.data(), found->second);
    return OkStatus();
  }
  Status Write(uint64_t, ByteSpan) override { return InvalidArgument("read only"); }

 private:
  const Words& words_;
};

// A chip of Ethernet tiles that are words.
class FakeChip final : public Device {
 public:
  void Add(uint32_t channel, Words words) {
    const auto rank = static_cast<uint32_t>(info_.ethernet_channels.size());
    info_.ethernet_channels.push_back(channel);
    tiles_[hw::NocXy(hw::kEthTranslatedX + rank, hw::kEthTranslatedY)] = std::move(words);
  }
  const DeviceInfo& info() const override { return info_; }
  StatusOr<std::unique_ptr<Window>> OpenWindow(const WindowTarget& target) override {
    return std::make_unique<FakeTile>(tiles_.at(hw::NocXy(target.end.x, target.end.y)));
  }
  StatusOr<std::unique_ptr<HostMemory>> AllocateHostMemory(uint64_t) override {
    return InvalidArgument("none");
  }
  Status Reset() override { return OkStatus(); }
  StatusOr<AdvanceResult> Advance(uint64_t) override { return AdvanceResult{}; }

 private:
  DeviceInfo info_;
  std::map<uint32_t, Words> tiles_;
};

Words Port(uint32_t port) {
  return {{hw::kEthPortStatus, port}, {hw::kEthRetrains, 3}, {hw::kEthFirmwareVersion, 0x01060A}};
}

TEST(LinkStatus, HasTheStateOfEachEnabledChannel) {
  FakeChip chip;
  Words up = Port(hw::kEthPortUp);
  up.merge(Words{{hw::kEthRemoteInfo + hw::kEthInfoPlace, 7u << 24 | 9u << 16 | 1u << 8},
                 {hw::kEthRemoteInfo + hw::kEthInfoBoardHigh, 0x450},
                 {hw::kEthRemoteInfo + hw::kEthInfoBoardLow, 0x12345678},
                 {hw::kEthRemoteInfo + hw::kEthInfoAsicHigh, 2},
                 {hw::kEthRemoteInfo + hw::kEthInfoAsicLow, 3}});
  chip.Add(1, up);
  chip.Add(4, Port(hw::kEthPortDown));
  chip.Add(5, Port(hw::kEthPortUnused));
  chip.Add(6, Port(hw::kEthPortUnknown));
  chip.Add(7, Port(77));
  chip.Add(13, {});  // does not answer
  const LinkPeer peer = {.board = 0x45012345678,
                         .asic = 0x200000003,
                         .channel = 9,
                         .logical_channel = 7,
                         .location = 1};
  const std::vector<LinkStatus> expected = {
      {1, LinkState::kUp, peer, 3, "1.6.10"},    {4, LinkState::kDown, {}, 3, "1.6.10"},
      {5, LinkState::kUnused, {}, 3, "1.6.10"},  {6, LinkState::kUnknown, {}, 3, "1.6.10"},
      {7, LinkState::kUnknown, {}, 3, "1.6.10"}, {13, LinkState::kUnknown, {}, 0, ""}};
  EXPECT_EQ(ReadLinks(chip), expected);
}

}  // namespace
}  // namespace ttfd::link_status_test
