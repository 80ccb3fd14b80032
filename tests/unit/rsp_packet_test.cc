// Frames of GDB's protocol: what arrives is what was sent, in whatever pieces; what is damaged is noticed.
#include "runtime/debug/rsp_packet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ttfd::debug::rsp_packet_test {
namespace {

using Kind = PacketReader::Kind;

std::vector<PacketReader::Item> Take(PacketReader& reader, std::string_view bytes) {
  std::vector<PacketReader::Item> items;
  reader.Put(bytes, [&items](PacketReader::Item item) { items.push_back(std::move(item)); });
  return items;
}

TEST(RspPacket, HasTheChecksumOfTheManual) {
  EXPECT_EQ(FramePacket("OK"), "$OK#9a");
  EXPECT_EQ(FramePacket(""), "$#00");
  EXPECT_EQ(FramePacket("m0,4"), "$m0,4#fd");
}

TEST(RspPacket, EveryByteComesThrough) {
  std::string data;
  for (int i = 0; i < 256; ++i) data += static_cast<char>(i);
  PacketReader reader;
  const auto items = Take(reader, FramePacket(data));
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].kind, Kind::kPacket);
  EXPECT_EQ(items[0].data, data);
  // Nothing in a frame but its ends looks like one.
  const std::string frame = FramePacket(data);
  EXPECT_EQ(frame.find('$', 1), std::string::npos);
  EXPECT_EQ(frame.find('#'), frame.size() - 3);
}

TEST(RspPacket, PiecesMakeTheSamePackets) {
  const std::string stream = "+$g#67\x03+$qC#b4-";
  PacketReader whole;
  const auto at_once = Take(whole, stream);
  PacketReader slow;
  std::vector<PacketReader::Item> in_pieces;
  for (const char byte : stream) {
    for (auto& item : Take(slow, {&byte, 1})) in_pieces.push_back(std::move(item));
  }
  const auto kinds = [](const std::vector<PacketReader::Item>& items) {
    std::vector<Kind> result;
    for (const auto& item : items) result.push_back(item.kind);
    return result;
  };
  EXPECT_THAT(kinds(at_once),
              testing::ElementsAre(Kind::kPacket, Kind::kInterrupt, Kind::kPacket, Kind::kNack));
  EXPECT_EQ(kinds(in_pieces), kinds(at_once));
  EXPECT_EQ(in_pieces[2].data, "qC");
}

TEST(RspPacket, DamageIsNoticedAndTheNextPacketUnderstood) {
  PacketReader reader;
  for (const char* const bad : {"$g#68", "$g#zz", "$g#6z", "$h#67"}) {
    const auto items = Take(reader, bad);
    ASSERT_EQ(items.size(), 1u) << bad;
    EXPECT_EQ(items[0].kind, Kind::kDamaged) << bad;
  }
  // A start in the middle: the packet before it was cut off.
  const auto items = Take(reader, "$m0,4$g#67");
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].data, "g");
}

TEST(RspPacket, LengthHasALimit) {
  PacketReader reader;
  auto items = Take(reader, FramePacket(std::string(kMaxPacketBytes, 'x')));
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].data.size(), kMaxPacketBytes);
  items = Take(reader, "$" + std::string(kMaxPacketBytes + 1, 'x'));
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].kind, Kind::kTooLong);
}

TEST(RspPacket, HexadecimalIsReadStrictly) {
  std::string_view text = "1Ff,rest";
  EXPECT_EQ(TakeHex(&text), 0x1FFu);
  EXPECT_EQ(text, ",rest");
  EXPECT_FALSE(TakeHex(&text).has_value());
  EXPECT_EQ(BytesFromHex("00ff41"), std::string("\0\xff"
                                                "A",
                                                3));
  EXPECT_FALSE(BytesFromHex("0").has_value());
  EXPECT_FALSE(BytesFromHex("0g").has_value());
  EXPECT_EQ(WordToHex(0x12345678), "78563412");
}

}  // namespace
}  // namespace ttfd::debug::rsp_packet_test
