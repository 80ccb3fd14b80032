// Packets that take time: what does not depend on luck.
#include <map>
#include <vector>

#include "runtime/hw/pcie.h"
#include "runtime/hw/stream.h"
#include "runtime/sim/inspector.h"
#include "tests/support/hazard_lab.h"

namespace ttfd::sim_transit_test {
namespace {

constexpr hw::Coordinate kA = {1, 2};
constexpr hw::Coordinate kB = {3, 5};
constexpr uint32_t kSource = 0x8000;
constexpr uint32_t kData = 0x9000;

SimChip Hostile(uint32_t seed, const char* hazards = "noc") {
  return SimChip(("sim:hazards=" + std::string(hazards) + ",seed=" + std::to_string(seed)).c_str());
}

// One of everything, on both NoCs, waiting for what it must.
Rv32Asm OneOfEach() {
  Rv32Asm a;
  for (uint32_t niu = 0; niu < 2; ++niu) {
    const auto send = [&](NocFields fields, uint32_t id) {
      fields.niu = niu;
      fields.tag = id << 10;
      EmitSend(a, fields);
    };
    const auto rectangle = [&] {
      return niu == 0 ? NocMulticast(kA, kSource, {3, 5}, {4, 6}, kData + 0x1000, 32)
                      : NocMulticast(kA, kSource, {4, 6}, {3, 5}, kData + 0x1000, 32);
    };
    send(NocWrite(kA, kSource, kB, kData, 4000), 1);
    send(NocInline(kA, kB, hw::StreamRegister(3, hw::kStreamBufferStart), 9), 2);
    send(NocIncrement(kA, kB, kData + 0x2000, 5, kSource + 0x100), 3);
    send(NocRead(kA, kB, kData, kSource + 0x1000, 8000), 4);
    send(rectangle(), 5);
    NocFields posted = NocWrite(kA, kSource, kB, kData + 0x3000, 100);
    posted.control &= ~hw::kNocResponse;
    send(posted, 6);
  }
  EmitEnd(a);
  return a;
}

TEST(NocTransit, EveryCounterIsRightWhenEverythingIsAtRest) {
  for (uint32_t seed = 0; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    SimChip chip = seed == 0 ? SimChip() : Hostile(seed);
    const Rv32Asm a = OneOfEach();
    ASSERT_TRUE(RunAll(chip, {{kA, &a}}).ok());
    for (uint32_t niu = 0; niu < 2; ++niu) {
      const auto counter = [&](uint32_t index) {
        return chip.ReadWord(kA,
                             hw::kNiuAddress + niu * hw::kNiuStride + hw::kNocStatus + 4 * index);
      };
      EXPECT_EQ(counter(hw::kNocNonpostedWritesSent), 3u);  // write, inline, multicast
      EXPECT_EQ(counter(hw::kNocPostedWritesSent), 1u);
      EXPECT_EQ(counter(hw::kNocWriteAcks), 1u + 1 + 4);
      EXPECT_EQ(counter(hw::kNocReadResponses), 1u);
      EXPECT_EQ(counter(hw::kNocAtomicResponses), 1u);
      for (uint32_t id = 0; id < 16; ++id) {
        // One up for a multicast, one down for each of four answers.
        EXPECT_EQ(counter(hw::kNocRequestsOutstanding + id), id == 5 ? 0x100u - 3 : 0u) << id;
        EXPECT_EQ(counter(hw::kNocWritesOutgoing + id), 0u) << id;
      }
    }
  }
}

TEST(NocTransit, EqualSeedsGiveEqualRunsOthersDoNot) {
  const auto clock = [](uint32_t seed) {
    SimChip chip = Hostile(seed);
    const Rv32Asm a = OneOfEach();
    EXPECT_TRUE(RunAll(chip, {{kA, &a}}).ok());
    return chip.chip().clock();
  };
  EXPECT_EQ(clock(1), clock(1));
  EXPECT_NE(clock(1), clock(2));
}

TEST(NocTransit, NothingIsAtRestWhileAPacketIsOnItsWay) {
  SimChip chip = Hostile(3);
  Rv32Asm a;
  EmitStore(a, kSource, 1);
  EmitNoc(a, NocWrite(kA, kSource, kB, kData, 4));
  EmitEnd(a);
  chip.Load(kA, 0, a);
  chip.Start(kA);
  bool seen = false;
  for (uint32_t i = 0; i < 100'000; ++i) {
    const StatusOr<AdvanceResult> result = chip.device().Advance(1);
    ASSERT_TRUE(result.ok());
    if (result->quiescent) break;
    seen |= chip.chip().runnable_harts() == 0;  // only the packet is left
  }
  EXPECT_TRUE(seen);
  EXPECT_EQ(chip.ReadWord(kB, kData), 1u);
}

TEST(NocTransit, HoldingTheHartInResetDoesNotUndoItsCommands) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SimChip chip = Hostile(seed);
    Rv32Asm a;
    EmitStore(a, kSource, 1);
    EmitSend(a, NocWrite(kA, kSource, kB, kData, 4));
    EmitStore(a, hw::kSoftReset0, hw::kSoftResetAllHarts);
    EmitEnd(a);
    ASSERT_TRUE(RunAll(chip, {{kA, &a}}).ok());
    EXPECT_EQ(chip.ReadWord(kB, kData), 1u) << "seed " << seed;
  }
}

TEST(NocTransit, AResetOfTheChipForgetsWhatIsOnItsWay) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SimChip chip = Hostile(seed);
    Rv32Asm a;
    EmitStore(a, kSource, 1);
    for (uint32_t i = 0; i < 4; ++i) {
      NocFields write = NocWrite(kA, kSource, kB, kData + 16 * i, 4);
      write.buffer = i;
      EmitNoc(a, write);
    }
    EmitEnd(a);
    chip.Load(kA, 0, a);
    chip.Start(kA);
    ASSERT_TRUE(chip.device().Advance(60).ok());  // the first is issued, not all
    chip.Reset();
    const StatusOr<AdvanceResult> result = chip.device().Advance(100'000);
    ASSERT_TRUE(result.ok());
    EXPECT_TRUE(result->quiescent);
    EXPECT_EQ(result->clocks, 0u);
    EXPECT_EQ(chip.ReadWord(kA, hw::kNiuAddress + hw::kNocCommand), 0u);
    EXPECT_EQ(chip.ReadWord(kA, hw::kNiuAddress + hw::kNocStatus + 4 * hw::kNocNonpostedWritesSent),
              0u);
  }
}

TEST(NocTransit, WhatTheFarEndRefusesIsTheIssuersFault) {
  for (const char* hazards : {"off", "noc"}) {
    SimChip chip = Hostile(1, hazards);
    Rv32Asm a;
    EmitNoc(a, NocInline(kA, kB, hw::kSoftReset0, 1));  // a bit that is none of the harts'
    const Rv32Asm::Label after = a.Here();
    for (uint32_t i = 0; i < 20; ++i) a.Addi(kT0, kT0, 1);
    EmitEnd(a);
    EXPECT_FALSE(RunAll(chip, {{kA, &a}}).ok());
    ASSERT_TRUE(chip.chip().fault().has_value()) << hazards;
    const sim::Fault& fault = *chip.chip().fault();
    EXPECT_EQ(fault.kind, sim::FaultKind::kUnsupportedValue);
    EXPECT_EQ(fault.translated, kA);
    EXPECT_EQ(fault.hart, hw::kBrisc);
    EXPECT_EQ(fault.pc, after - 4) << hazards;  // of the store to CMD_CTRL
    EXPECT_EQ(fault.address, hw::kSoftReset0);
  }
}

TEST(NocTransit, HostMemoryThatIsNotThereIsRefusedAtOnce) {
  SimChip chip = Hostile(1);
  Rv32Asm a;
  EmitNoc(a, NocWrite(kA, kSource, hw::kPcieTranslated, uint64_t{1} << 40, 64));
  const Rv32Asm::Label after = a.Here();
  EmitEnd(a);
  EXPECT_FALSE(RunAll(chip, {{kA, &a}}).ok());
  ASSERT_TRUE(chip.chip().fault().has_value());
  EXPECT_EQ(chip.chip().fault()->kind, sim::FaultKind::kHostMemory);
  EXPECT_EQ(chip.chip().fault()->pc, after - 4);
}

// Keeps what it is shown.
class Witness : public sim::Inspector {
 public:
  void OnNoc(const sim::NocView& view) override { views.push_back(view); }
  std::vector<sim::NocView> views;
};

TEST(NocTransit, InspectorsSeeEveryCommandIssuedDeliveredAndCounted) {
  for (const char* hazards : {"off", "noc"}) {
    SCOPED_TRACE(hazards);
    SimChip chip = Hostile(2, hazards);
    Witness witness;
    chip.chip().Attach(&witness);
    const Rv32Asm a = OneOfEach();
    ASSERT_TRUE(RunAll(chip, {{kA, &a}}).ok());
    chip.chip().Detach(&witness);
    // Each command of OneOfEach() is told apart by kind, NoC and whether it wants an answer.
    std::map<std::string, std::vector<uint64_t>> clocks;
    for (const sim::NocView& view : witness.views) {
      const bool posted = (view.control & hw::kNocResponse) == 0;
      std::vector<uint64_t>& of =
          clocks[view.kind + std::to_string(view.niu) + (posted ? "p" : "")];
      EXPECT_EQ(static_cast<size_t>(view.event), of.size()) << view.kind;
      EXPECT_TRUE(of.empty() || of.back() <= view.clock) << view.kind;
      of.push_back(view.clock);
      EXPECT_EQ(view.source, kA);
      EXPECT_EQ(view.remote_start, view.niu == 1 && std::string(view.kind) == "multicast"
                                       ? hw::Coordinate({4, 6})
                                       : kB);
    }
    EXPECT_EQ(clocks.size(), 12u);
    for (const auto& [name, of] : clocks) EXPECT_EQ(of.size(), 3u) << name;
  }
}

}  // namespace
}  // namespace ttfd::sim_transit_test
