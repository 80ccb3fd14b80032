// Which device "auto" is.
#include "daemon/open_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttfd {
namespace {

// A host with these names in /dev/tenstorrent and, perhaps, a card on its PCI bus behind another device.
class Nodes final : public kmd::Files {
 public:
  Nodes(std::vector<std::string> names, bool card) : names_(std::move(names)), card_(card) {}
  std::optional<std::string> ReadText(const std::string& path) override {
    if (path.ends_with("/vendor")) return "0x1e52";
    return path.ends_with("03:00.0/device") && card_ ? "0xb140" : "0x401e";
  }
  std::vector<std::string> List(const std::string& folder) override {
    if (folder == "/dev/tenstorrent") return names_;
    return {"0000:02:00.0", "0000:03:00.0"};
  }

 private:
  const std::vector<std::string> names_;
  const bool card_;
};

TEST(OpenDevice, AutoIsACardWhereThereIsANode) {
  const struct {
    std::string text;
    std::vector<std::string> nodes;
    bool card;
    std::string chosen;
    std::string reason;  // a part of it
  } table[] = {
      {"auto", {}, false, "sim:board=p150", "this host has no card"},
      {"auto", {"by-id"}, false, "sim:board=p150", "this host has no card"},
      {"auto", {"0", "by-id"}, true, "kmd:/dev/tenstorrent/0", "the card of this host"},
      {"auto", {"10", "2", "by-id"}, true, "kmd:/dev/tenstorrent/2", "the first of 2 cards"},
      {"sim:board=p100a", {"0"}, true, "sim:board=p100a", ""},
      {"auto", {}, true, "kmd:0000:03:00.0", "a card without a node"},
      {"kmd:0000:04:00.0", {}, true, "kmd:0000:04:00.0", ""},
  };
  for (const auto& row : table) {
    Nodes nodes(row.nodes, row.card);
    const DeviceChoice choice = ChooseDevice(row.text, nodes);
    EXPECT_EQ(choice.text, row.chosen);
    EXPECT_THAT(choice.reason, testing::HasSubstr(row.reason));
    EXPECT_EQ(choice.reason.empty(), row.reason.empty());
    EXPECT_TRUE(CheckDeviceText(choice.text).ok());
  }
  EXPECT_TRUE(CheckDeviceText("auto").ok());
}

}  // namespace
}  // namespace ttfd
