#include "tests/peer/sequence_generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/hw/arc.h"
#include "runtime/hw/stream.h"
#include "tests/peer/hart_program.h"
#include "tests/peer/refused_operations.h"

namespace ttfd {
namespace {

// Where a hart starts when nothing else is said, and a place of its own otherwise.
constexpr uint32_t kDefaultPc[hw::kHarts] = {0, hw::kNcriscDefaultPc, hw::kTriscDefaultPc[0],
                                             hw::kTriscDefaultPc[1], hw::kTriscDefaultPc[2]};
constexpr uint32_t kOtherPc = 0x14000;
constexpr uint32_t kClocks = 2000;  // more than any program needs

class Generator {
 public:
  explicit Generator(uint32_t seed) : choose_(seed), builder_(choose_) {
    static constexpr hw::Coordinate kTiles[] = {{1, 2},   {2, 3},  {7, 11}, {10, 2},
                                                {16, 11}, {12, 6}, {1, 11}, {16, 2}};
    while (stage_.size() < kStage) {
      const hw::Coordinate tile = choose_.Pick(kTiles);
      if (std::find(stage_.begin(), stage_.end(), tile) == stage_.end()) stage_.push_back(tile);
    }
  }

  Sequence Make() {
    Prepare();
    for (uint32_t round = choose_.Between(1, 4); round > 0; --round) {
      for (uint32_t i = choose_.Below(8); i > 0; --i) HostOperation();
      if (choose_.Percent(80)) RunPrograms();
    }
    LookAtEverything();
    if (choose_.Percent(70)) {
      AddRefusedOperation(choose_, stage_, &builder_);
      LookAtEverything();  // if neither refused it
    }
    return builder_.sequence();
  }

 private:
  // Something to read everywhere.
  void Prepare() {
    for (const hw::Coordinate tile : stage_) builder_.WritePattern(tile, 0x30000, 0xA0000);
    for (uint32_t i = 0; i < 3; ++i) {
      const Actor actor = {.number = choose_.Below(kActors)};
      builder_.WritePattern(RandomBank(choose_), actor.in_banks(), Actor::kBytes);
      builder_.Add(fmt::format("hp {:x} {:x} {:x}", actor.in_host(), Actor::kBytes, choose_.Any()));
    }
  }

  void HostOperation() {
    const hw::Coordinate tile = choose_.Pick(stage_);
    const uint32_t size = choose_.Percent(50) ? choose_.Between(1, 70) : choose_.Between(1, 5000);
    const uint32_t l1 = 0x22000 + choose_.Below(0xA0000);
    switch (choose_.Below(11)) {
      case 0:
        return builder_.WritePattern(tile, l1, size);
      case 1:
        return builder_.Read(tile, l1, size);
      case 2: {
        const hw::Coordinate bank = RandomBank(choose_);
        return builder_.WritePattern(bank, HostBankAddress(), size);
      }
      case 3: {
        const hw::Coordinate bank = RandomBank(choose_);
        return builder_.Read(bank, HostBankAddress(), size);
      }
      case 4: {
        const auto [start, end] = RandomRectangle(choose_);
        const uint64_t at = builder_.PointMulticast(start, end, l1);
        return builder_.Add(fmt::format("wp {:x} {:x} {:x}", at, size, choose_.Any()));
      }
      case 5:
        return builder_.WritePattern(hw::kPcieTranslated, HostAddress(), size);
      case 6:
        return builder_.Read(hw::kPcieTranslated, HostAddress(), size);
      case 7:
        return ReadSomeRegister(tile);
      case 8:
        return WriteSomeRegister(tile);
      case 9:
        return Translate();
      default:
        return Configuration();
    }
  }

  uint64_t HostBankAddress() {
    static constexpr uint64_t kAddresses[] = {0, 0x1FE000, 0x3FFFE000, 0x7FFFE000, 0xFEFFE000};
    const uint64_t address = choose_.Pick(kAddresses);
    return address + choose_.Below(0xC00);
  }
  uint64_t HostAddress() {
    const uint64_t window = uint64_t{choose_.Below(8)} << 58;
    return window | (0x40000000 + choose_.Below(0x20000));
  }

  void ReadSomeRegister(hw::Coordinate tile) {
    static constexpr uint32_t kDebug[] = {
        hw::kSoftReset0,   hw::kWallClockLow,     hw::kWallClockHigh,    hw::kWallClockHighLatched,
        hw::kTriscResetPc, hw::kTriscResetPc + 4, hw::kTriscResetPc + 8, hw::kTriscResetPcOverride};
    static constexpr uint32_t kStream[] = {hw::kStreamRemoteSource, hw::kStreamBufferStart,
                                           hw::kStreamBufferSize, hw::kStreamSpaceAvailable};
    static constexpr uint32_t kNiu[] = {
        hw::kNocNodeId,        hw::kNocIdLogical, hw::kNocRouterConfig0, hw::kNocRouterConfig1,
        hw::kNocRouterConfig3, hw::kNocCommand,   hw::kNocTargetLow,     hw::kNocReturnHigh,
        hw::kNocControl,       hw::kNocLength,    hw::kNocData};
    switch (choose_.Below(5)) {
      case 0:
        return builder_.ReadWord(tile, choose_.Pick(kDebug));
      case 1: {
        const uint32_t stream = choose_.Below(hw::kStreams);
        return builder_.ReadWord(tile, hw::StreamRegister(stream, choose_.Pick(kStream)));
      }
      case 2:
        return builder_.ReadWord(hw::kArc, hw::kArcScratchRam + 4 * choose_.Between(14, 15));
      case 3: {
        const uint64_t niu = choose_.Percent(50) ? hw::kBar0Niu0 : hw::kBar0Niu1;
        const uint32_t offset = choose_.Percent(50) ? hw::kNocNodeId : hw::kNocConfig0;
        return builder_.Add(fmt::format("r {:x} 4", hw::kModelBar0Address + niu + offset));
      }
      default: {
        const uint32_t niu = hw::kNiuAddress + choose_.Below(2) * hw::kNiuStride;
        return builder_.ReadWord(tile, niu + choose_.Pick(kNiu));
      }
    }
  }

  void WriteSomeRegister(hw::Coordinate tile) {
    const uint32_t value = choose_.Any();
    const uint32_t stream = choose_.Below(hw::kStreams);
    const auto in_stream = [stream](uint32_t offset) { return hw::StreamRegister(stream, offset); };
    switch (choose_.Below(7)) {
      case 0:
        return builder_.WriteWord(tile, in_stream(hw::kStreamBufferSize), value);
      case 1:
        return builder_.WriteWord(tile, in_stream(hw::kStreamSpaceAvailableUpdate), value << 6);
      case 2:
        return builder_.WriteWord(tile, in_stream(hw::kStreamBufferStart), value);
      case 3:
        return builder_.WriteWord(tile, in_stream(hw::kStreamRemoteSource), value & 0xFFFFFF);
      case 4: {  // all the tiles of a rectangle at once
        const auto [start, end] = RandomRectangle(choose_);
        const uint64_t at =
            builder_.PointMulticast(start, end, in_stream(hw::kStreamSpaceAvailableUpdate));
        return builder_.Add(fmt::format("w {:x} 4 {:x}", at, value << 6));
      }
      case 5: {
        const uint32_t niu = hw::kNiuAddress + choose_.Below(2) * hw::kNiuStride;
        const uint32_t buffer = niu + choose_.Below(4) * hw::kNiuCommandBufferStride;
        return builder_.WriteWord(tile, buffer + hw::kNocData, value);
      }
      default:
        return builder_.WriteWord(hw::kArc, hw::kArcScratchRam + 4 * choose_.Between(14, 15),
                                  value);
    }
  }

  // A region of the iATU for some actor's host memory, or for the host's own.
  void Translate() {
    const uint32_t region = choose_.Below(hw::kIatuRegions);
    const uint64_t at = hw::kModelBar2Address + hw::kIatuOutbound + region * hw::kIatuStride;
    const auto put = [&](uint32_t reg, uint64_t value) {
      builder_.Add(fmt::format("w {:x} 4 {:x}", at + reg, value & 0xFFFFFFFF));
    };
    const uint64_t base = 0x40000000 + uint64_t{region} * 0x100000;  // regions do not overlap
    const uint64_t target_high = choose_.Any() & 0x3FFFFFF;
    const uint64_t target = (target_high << 32 | choose_.Any()) & ~0xFFFull;
    put(hw::kIatuControl2, 0);
    put(hw::kIatuControl1, 0);
    put(hw::kIatuControl3, 0);
    put(hw::kIatuBaseLow, base);
    put(hw::kIatuBaseHigh, 0);
    put(hw::kIatuLimitLow, base + 0xFFFFF);
    put(hw::kIatuLimitHigh, 0);
    put(hw::kIatuTargetLow, target);
    put(hw::kIatuTargetHigh, target >> 32);
    if (choose_.Percent(80)) put(hw::kIatuControl2, hw::kIatuControl2Enable);
    builder_.Add(fmt::format("r {:x} 4", at + hw::kIatuTargetHigh));
  }

  void Configuration() {
    static constexpr uint32_t kWritable[] = {0x04, 0x0C, 0x10, 0x14, 0x18,
                                             0x1C, 0x20, 0x24, 0x30, 0x3C};
    if (choose_.Percent(50)) {
      const uint32_t at = choose_.Pick(kWritable);
      builder_.Add(fmt::format("cw 0 {:x} {:x}", at, choose_.Any()));
    }
    const uint32_t device = choose_.Below(4) << 3;
    builder_.Add(fmt::format("cr {:x} {:x}", device, 4 * choose_.Below(16)));
  }

  // Programs on some harts of some tiles, until all of them wait; then the harts are held again.
  void RunPrograms() {
    const uint32_t tiles = choose_.Between(1, kStage);
    std::vector<uint32_t> held(tiles, hw::kSoftResetAllHarts);
    for (uint32_t t = 0; t < tiles; ++t) held[t] = LoadPrograms(t);
    for (uint32_t t = 0; t < tiles; ++t) {
      if (choose_.Percent(30)) {  // one after the other
        uint32_t now = hw::kSoftResetAllHarts;
        for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
          if ((held[t] & hw::SoftResetBit(hart)) != 0) continue;
          now &= ~hw::SoftResetBit(hart);
          builder_.WriteWord(stage_[t], hw::kSoftReset0, now);
          if (choose_.Percent(30)) builder_.Clock(choose_.Between(1, 20));
        }
      }
      builder_.WriteWord(stage_[t], hw::kSoftReset0,
                         held[t] | (choose_.Percent(20) ? 1u << 31 : 0));
    }
    builder_.Clock(kClocks);
    if (choose_.Percent(30)) builder_.ReadWord(stage_[0], hw::kSoftReset0);
    for (uint32_t t = 0; t < tiles; ++t) {
      builder_.WriteWord(stage_[t], hw::kSoftReset0, hw::kSoftResetAllHarts);
    }
  }

  // Returns what SOFT_RESET_0 is to be.
  uint32_t LoadPrograms(uint32_t t) {
    const hw::Coordinate tile = stage_[t];
    uint32_t held = hw::kSoftResetAllHarts;
    uint32_t overridden = 0;
    const uint32_t harts = choose_.Percent(50) ? 1 : choose_.Between(2, hw::kHarts);
    uint32_t next_buffer = choose_.Below(8);  // of both NIUs
    const uint32_t first = choose_.Below(hw::kHarts);
    for (uint32_t i = 0; i < harts; ++i) {
      const uint32_t hart = (first + i) % hw::kHarts;
      const Actor actor = {.number = t * hw::kHarts + hart,
                           .tile = tile,
                           .niu = next_buffer / 4,
                           .buffer = next_buffer % 4,
                           .alone = harts == 1,
                           .timed = true,
                           .stage = stage_};
      next_buffer = (next_buffer + 1) % 8;
      held &= ~hw::SoftResetBit(hart);
      uint32_t pc = kDefaultPc[hart];
      if (hart != hw::kBrisc && choose_.Percent(50)) {
        overridden |= 1u << hart;
        pc = kOtherPc + hart * 0x2000 + 4 * choose_.Below(64);
      }
      builder_.Load(tile, pc, RandomProgram(choose_, actor, choose_.Between(1, 10)));
      if (hart == hw::kNcrisc) {
        if (choose_.Percent(50) || pc != kDefaultPc[hart]) {
          builder_.WriteWord(tile, hw::kNcriscResetPc, pc);
        }
        builder_.WriteWord(tile, hw::kNcriscResetPcOverride, pc == kDefaultPc[hart] ? 0 : 1);
      } else if (hart != hw::kBrisc && pc != kDefaultPc[hart]) {
        builder_.WriteWord(tile, hw::kTriscResetPc + 4 * (hart - hw::kTrisc0), pc);
      }
    }
    builder_.WriteWord(tile, hw::kTriscResetPcOverride, overridden >> hw::kTrisc0);
    return held;
  }

  void LookAtEverything() {
    for (const hw::Coordinate tile : stage_) {
      builder_.Read(tile, 0, kOldCounters);
      builder_.Read(tile, kOldCountersEnd, hw::kL1Bytes - kOldCountersEnd);
      for (uint32_t niu = 0; niu < 2; ++niu) LookAtNiu(tile, niu);
      for (uint32_t stream = 0; stream < hw::kStreams; stream += choose_.Between(1, 3)) {
        builder_.ReadWord(tile, hw::StreamRegister(stream, hw::kStreamSpaceAvailable));
        builder_.ReadWord(tile, hw::StreamRegister(stream, hw::kStreamBufferSize));
      }
    }
    const auto [elsewhere, end] = RandomRectangle(choose_);
    builder_.Read(elsewhere, 0x22000, hw::kL1Bytes - 0x22000);
    builder_.Read(end, 0x22000, hw::kL1Bytes - 0x22000);
    for (uint32_t bank = 0; bank < hw::kDramBanks; ++bank) {
      const hw::Coordinate at = {hw::kDramTranslatedX[bank / 4],
                                 hw::kDramTranslatedFirstRow + bank % 4 * hw::kDramPortsPerBank};
      builder_.Read(at, Actor{}.in_banks(), kActors * 0x10000);
      builder_.Read(at, 0, 0x2000);
      builder_.Read(at, 0xFEFFE000, 0x2000);
    }
    builder_.Add(fmt::format("hr {:x} {:x}", Actor{}.in_host(), kActors * 0x10000));
    builder_.Add("dma");
    builder_.ReadWord(stage_[0], hw::kWallClockLow);
  }

  void LookAtNiu(hw::Coordinate tile, uint32_t niu) {
    const uint32_t at = hw::kNiuAddress + niu * hw::kNiuStride;
    static constexpr uint32_t kCounters[] = {hw::kNocAtomicResponses,     hw::kNocWriteAcks,
                                             hw::kNocReadResponses,       hw::kNocPostedAtomicsSent,
                                             hw::kNocNonpostedWritesSent, hw::kNocPostedWritesSent};
    for (const uint32_t counter : kCounters) {
      builder_.ReadWord(tile, at + hw::kNocStatus + 4 * counter);
    }
    for (uint32_t id = 0; id < 16; ++id) {
      builder_.ReadWord(tile, at + hw::kNocStatus + 4 * (hw::kNocRequestsOutstanding + id));
    }
    builder_.ReadWord(tile, at + hw::kNocStatus + 4 * (hw::kNocWritesOutgoing + choose_.Below(16)));
    const uint32_t buffer = at + choose_.Below(4) * hw::kNiuCommandBufferStride;
    for (const uint32_t offset : {hw::kNocTargetLow, hw::kNocReturnLow, hw::kNocPacketTag,
                                  hw::kNocControl, hw::kNocLength}) {
      builder_.ReadWord(tile, buffer + offset);
    }
  }

  Chooser choose_;
  SequenceBuilder builder_;
  std::vector<hw::Coordinate> stage_;
};

}  // namespace

Sequence RandomSequence(uint32_t seed) { return Generator(seed).Make(); }

}  // namespace ttfd
