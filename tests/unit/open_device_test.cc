// Which device "auto" is.
#include "daemon/open_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttfd {
namespace {

// A host with these names in /dev/tenstorrent.
class Nodes final : public kmd::Files {
 public:
  explicit Nodes(std::vector<std::string> names) : names_(std::move(names)) {}
  std::optional<std::string> ReadText(const std::string& /*path*/) override { return std::nullopt; }
  std::vector<std::string> List(const std::string& folder) override {
    return folder == "/dev/tenstorrent" ? names_ : std::vector<std::string>();
  }

 private:
  const std::vector<std::string> names_;
};

TEST(OpenDevice, AutoIsACardWhereThereIsANode) {
  const struct {
    std::string text;
    std::vector<std::string> nodes;
    std::string chosen;
    std::string reason;  // a part of it
  } table[] = {
      {"auto", {}, "sim:board=p150", "no card is used"},
      {"auto", {"by-id"}, "sim:board=p150", "/dev/tenstorrent has no node"},
      {"auto", {"0", "by-id"}, "kmd:/dev/tenstorrent/0", "the card of this host"},
      {"auto", {"10", "2", "by-id"}, "kmd:/dev/tenstorrent/2", "the first of 2 cards"},
      {"sim:board=p100a", {"0"}, "sim:board=p100a", ""},
      {"kmd:0000:03:00.0", {}, "kmd:0000:03:00.0", ""},
  };
  for (const auto& row : table) {
    Nodes nodes(row.nodes);
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
