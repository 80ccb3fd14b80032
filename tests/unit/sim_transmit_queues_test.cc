// Transmit queues of an Ethernet tile: registers, commands, and what arrives at the peer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/hw/ethernet.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/ethernet_tile.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim::sim_transmit_queues_test {
namespace {

using testing::HasSubstr;

constexpr uint32_t kLatency = 700;

uint32_t Queue(uint32_t index, uint32_t offset) {
  return hw::kEthTransmit + index * hw::kEthTransmitStride + offset;
}

// Channel 2 of chip 0 is linked with channel 9 of chip 1.
class EthQueues : public testing::Test {
 protected:
  EthQueues()
      : cluster_(Cluster::Create({DefaultOptions(Board::kP150), {2, {{{0, 2}, {1, 9}}}}, kLatency})
                     .value()),
        near_(*cluster_->chip(0).FindEthernet(2)),
        far_(*cluster_->chip(1).FindEthernet(9)) {}

  static Refusal Write(EthernetTile& tile, uint32_t address, uint32_t value) {
    return tile.WriteRegister(Accessor::FromNoc(), address, value);
  }
  static uint32_t Read(EthernetTile& tile, uint32_t address) {
    uint32_t value = 0;
    EXPECT_FALSE(tile.ReadRegister(Accessor::FromNoc(), address, &value));
    return value;
  }
  Refusal WriteL1(uint32_t from, uint32_t to, uint32_t bytes, uint32_t queue = 0) {
    Write(near_, Queue(queue, hw::kEthTransmitStart), from);
    Write(near_, Queue(queue, hw::kEthTransmitSize), bytes);
    Write(near_, Queue(queue, hw::kEthTransmitDestination), to);
    return Write(near_, Queue(queue, hw::kEthTransmitCommand), hw::kEthWriteL1);
  }
  Refusal WriteFar(uint32_t address, uint32_t value, uint32_t queue = 0) {
    Write(near_, Queue(queue, hw::kEthTransmitDestination), address);
    Write(near_, Queue(queue, hw::kEthTransmitData), value);
    return Write(near_, Queue(queue, hw::kEthTransmitCommand), hw::kEthWriteRegister);
  }
  bool busy(uint32_t queue = 0) {
    return (Read(near_, Queue(queue, hw::kEthTransmitStatus)) & hw::kEthTransmitBusy) != 0;
  }
  // Lets chip 0's time pass.
  void Pass(uint64_t clocks) { cluster_->chip(0).Idle(clocks); }
  // Gives each register the next command needs and waits until the far chip has carried it out.
  void FarWrites(std::initializer_list<std::pair<uint32_t, uint32_t>> registers) {
    for (const auto& [address, value] : registers) {
      ASSERT_FALSE(WriteFar(address, value)) << std::hex << address;
      ASSERT_TRUE(cluster_->Advance(0, 2000).ok());
    }
  }
  static uint32_t Word(const NocTile& tile, uint32_t address) {
    return LoadAt<uint32_t>(tile.memory().l1() + address);
  }

  const std::unique_ptr<Cluster> cluster_;
  EthernetTile& near_;
  EthernetTile& far_;
};

TEST_F(EthQueues, WriteBytesToThePeer) {
  for (uint32_t i = 0; i < 64; ++i) StoreAt(near_.memory().l1() + 0x6000 + 4 * i, 0x100 + i);
  ASSERT_FALSE(WriteL1(0x6000, 0x39000, 256));
  StoreAt(near_.memory().l1() + 0x6000, 0u);  // what was taken is what the command found
  const Chip::Progress progress = cluster_->Advance(0, 10'000).value();
  EXPECT_TRUE(progress.quiescent);
  EXPECT_GE(progress.clocks, kLatency);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(Word(far_, 0x39000 + 4 * i), 0x100 + i);
  EXPECT_EQ(Word(far_, 0x39000 + 256), 0u);
  EXPECT_EQ(Read(near_, Queue(0, hw::kEthTransmitAccepted)), 1u);
  EXPECT_EQ(Read(near_, Queue(1, hw::kEthTransmitAccepted)), 0u);
}

TEST_F(EthQueues, WriteRegistersOfThePeerWhichFireItsCommands) {
  TensixTile& worker = cluster_->chip(1).tile(0);
  const auto niu = [](uint32_t offset) { return hw::kNiuAddress + hw::kNiuStride + offset; };
  StoreAt(worker.memory().l1() + 0xF00, 40u);
  FarWrites({{niu(hw::kNocTargetLow), 0xF00},
             {niu(hw::kNocTargetHigh), hw::NocXy(worker.translated().x, worker.translated().y)},
             {niu(hw::kNocReturnLow), 0x5F00},
             {niu(hw::kNocReturnHigh), hw::NocXy(far_.translated().x, far_.translated().y)},
             {niu(hw::kNocControl), hw::kNocAtomic | hw::kNocResponse},
             {niu(hw::kNocLength), hw::kNocAtomicIncrement},
             {niu(hw::kNocData), 2},
             {niu(hw::kNocCommand), 1}});
  EXPECT_EQ(Word(worker, 0xF00), 42u);
  EXPECT_EQ(Word(far_, 0x5F00), 40u);
}

TEST_F(EthQueues, TakeTheNextCommandWhenTheyHaveLatchedTheLast) {
  constexpr uint32_t kBytes = 34'816;
  constexpr uint32_t kWire = (kBytes + TransmitQueues::kPacketOverhead + 36) / 37;
  for (uint32_t i = 0; i < TransmitQueues::kDepth; ++i) {
    ASSERT_FALSE(busy());
    ASSERT_FALSE(WriteL1(0x6000, 0x39000, kBytes)) << i;
    EXPECT_TRUE(busy());
    EXPECT_THAT(WriteL1(0x6000, 0x39000, kBytes).reason, HasSubstr("queue is busy"));
    EXPECT_FALSE(busy(1)) << "the other queue is not";
    Pass(TransmitQueues::kLatch);
  }
  // The fifth is taken when the first has left, eight clocks after its command at the earliest.
  ASSERT_FALSE(WriteL1(0x6000, 0x39000, kBytes));
  Pass(kWire - 4 * TransmitQueues::kLatch);
  EXPECT_TRUE(busy());
  Pass(TransmitQueues::kLatch);
  EXPECT_FALSE(busy());
}

TEST_F(EthQueues, SendAsFastAsTheWireInTheOrderOfTheCommands) {
  TransmitQueues queues;
  queues.SetLatency(kLatency);
  const auto write = [&](uint32_t offset, uint32_t value) {
    EXPECT_FALSE(queues.Write(near_, Queue(0, offset), value));
  };
  write(hw::kEthTransmitSize, 304);
  write(hw::kEthTransmitStart, 0x6000);
  write(hw::kEthTransmitDestination, 0x39000);
  write(hw::kEthTransmitCommand, hw::kEthWriteL1);
  Pass(TransmitQueues::kLatch);
  write(hw::kEthTransmitDestination, hw::kSoftReset0);
  write(hw::kEthTransmitCommand, hw::kEthWriteRegister);
  const std::vector<LinkPacket> sent = queues.TakeSent();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].arrival, 8 + 10 + kLatency);      // 304 + 64 bytes at 37 a clock
  EXPECT_EQ(sent[1].arrival, 8 + 10 + 2 + kLatency);  // 64 bytes behind them
}

TEST_F(EthQueues, RefuseWhatTheyCannotSend) {
  const struct {
    const char* reason;
    uint32_t start, size, destination, command;
  } kRows[] = {
      {"multiples of 16", 0x6008, 64, 0x6000, hw::kEthWriteL1},
      {"multiples of 16", 0x6000, 60, 0x6000, hw::kEthWriteL1},
      {"multiples of 16", 0x6000, 64, 0x6004, hw::kEthWriteL1},
      {"its size is not 0", 0x6000, 0, 0x6000, hw::kEthWriteL1},
      {"near tile's", hw::kEthLinkFirmware - 16, 32, 0x6000, hw::kEthWriteL1},
      {"near tile's", 0xFFFFFFF0, 16, 0x6000, hw::kEthWriteL1},
      {"multiple of 4", 0, 0, hw::kSoftReset0 + 2, hw::kEthWriteRegister},
      {"commands are 2", 0x6000, 64, 0x6000, 1},
  };
  for (const auto& row : kRows) {
    Write(near_, Queue(0, hw::kEthTransmitStart), row.start);
    Write(near_, Queue(0, hw::kEthTransmitSize), row.size);
    Write(near_, Queue(0, hw::kEthTransmitDestination), row.destination);
    const Refusal refusal = Write(near_, Queue(0, hw::kEthTransmitCommand), row.command);
    EXPECT_EQ(refusal.kind, FaultKind::kLinkCommand);
    EXPECT_THAT(refusal.reason, HasSubstr(row.reason));
  }
  EXPECT_FALSE(near_.has_sent());
  EthernetTile& lonely = *cluster_->chip(0).FindEthernet(3);
  EXPECT_THAT(Write(lonely, Queue(0, hw::kEthTransmitCommand), hw::kEthWriteL1).reason,
              HasSubstr("link is not up"));
}

TEST_F(EthQueues, HaveTheRegistersOfQueues0And1) {
  EXPECT_EQ(Read(near_, Queue(1, hw::kEthTransmitControl)), 1u);
  EXPECT_EQ(Read(near_, hw::kEthReceive + hw::kEthReceiveControl), 2u);
  EXPECT_EQ(Read(near_, Queue(0, hw::kEthTransmitCommand)), 0u);
  EXPECT_FALSE(Write(near_, Queue(0, hw::kEthTransmitControl), 1));
  uint32_t value = 0;
  for (const uint32_t address :
       {Queue(2, hw::kEthTransmitStatus), Queue(0, 0x0C), hw::kEthReceive + 4}) {
    EXPECT_TRUE(near_.ReadRegister(Accessor::FromNoc(), address, &value)) << std::hex << address;
    EXPECT_TRUE(Write(near_, address, 0)) << std::hex << address;
  }
  EXPECT_TRUE(Write(near_, Queue(0, hw::kEthTransmitControl), 3));
  EXPECT_TRUE(Write(near_, Queue(0, hw::kEthTransmitAccepted), 0));
}

TEST_F(EthQueues, WhatThePeerMustNotBeWrittenIsAFaultOfItsChip) {
  const struct {
    const char* reason;
    uint32_t address;
    bool of_l1;
  } kRows[] = {
      {"not the link firmware's", hw::kEthLinkFirmware - 16, true},
      {"not the link firmware's", 0xFFFFFFE0, true},
      {"registers of the tile only", 0x6000, false},
      {"E1 stays in reset", hw::kSoftReset0, false},
      {"a read needs the response bit", hw::kNiuAddress + hw::kNocCommand, false},
  };
  for (const auto& row : kRows) {
    ASSERT_TRUE(cluster_->Reset(1).ok());
    const Refusal refusal = row.of_l1 ? WriteL1(0x6000, row.address, 32) : WriteFar(row.address, 1);
    ASSERT_FALSE(refusal);
    const StatusOr<Chip::Progress> near = cluster_->Advance(0, 2000);
    EXPECT_TRUE(near.ok()) << near.status().ToString();
    const Status far = cluster_->Advance(1, 2000).status();
    EXPECT_EQ(far.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(StatusMessage(far)), HasSubstr(row.reason));
    EXPECT_THAT(std::string(StatusMessage(far)), HasSubstr("channel 9, from its peer 0.2"));
    EXPECT_TRUE(cluster_->Advance(1, 2000).ok()) << "it is reported once";
  }
}

}  // namespace
}  // namespace ttfd::sim::sim_transmit_queues_test
