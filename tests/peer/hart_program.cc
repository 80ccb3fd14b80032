#include "tests/peer/hart_program.h"

#include <algorithm>

#include "runtime/hw/pcie.h"
#include "runtime/hw/stream.h"

namespace ttfd {
namespace {

uint32_t RandomLength(Chooser& choose, uint32_t most) {
  switch (choose.Below(4)) {
    case 0:
      return choose.Between(1, 64);
    case 1:
      return 4 * choose.Between(1, 64);
    case 2:
      return choose.Between(1, std::min<uint32_t>(most, 2048));
    default:
      return std::min(choose.Percent(20) ? hw::kNocMaxPacketBytes : choose.Between(1, most), most);
  }
}

// A random offset inside an area of `bytes` that leaves room for `length`, equal to `like` modulo `modulus`.
uint32_t OffsetLike(Chooser& choose, uint32_t bytes, uint32_t length, uint32_t like,
                    uint32_t modulus) {
  const uint32_t low = like % modulus;
  const uint32_t steps = (bytes - length - low) / modulus;
  return low + modulus * choose.Below(steps + 1);
}

// 0 to 3 for unicasts, 4 and 5 for multicasts.
uint32_t RandomVc(Chooser& choose, bool multicast) {
  if (!choose.Percent(50)) return 0;
  const uint32_t channel = multicast ? 4 + choose.Below(2) : choose.Below(4);
  return hw::kNocStaticVc | channel << hw::kNocVcShift;
}

// Where a command without multicast goes.
struct Far {
  hw::Coordinate tile;
  uint64_t address;
};

Far RandomFar(Chooser& choose, const Actor& actor, uint32_t length, uint32_t like,
              uint32_t modulus) {
  const uint32_t offset = OffsetLike(choose, Actor::kBytes, length, like, modulus);
  switch (choose.Below(4)) {
    case 0:
    case 1:
      return {choose.Pick(actor.stage), actor.at_tiles() + offset};
    case 2:
      return {RandomBank(choose), actor.in_banks() + offset};
    default: {
      const uint64_t window = uint64_t{choose.Below(8)} << 58;
      return {choose.Percent(50) ? hw::kPcieTranslated : hw::kPciePhysical[0],
              window | (actor.in_host() + offset)};
    }
  }
}

NocFields RandomTransfer(Chooser& choose, const Actor& actor) {
  const uint32_t length = RandomLength(choose, hw::kNocMaxPacketBytes);
  const uint32_t at = choose.Below(Actor::kBytes - length + 1);
  const uint32_t local = actor.own() + at;
  if (choose.Percent(50)) {
    const Far far = RandomFar(choose, actor, length, at, 64);
    return NocRead(actor.tile, far.tile, far.address, local, length);
  }
  const Far far = RandomFar(choose, actor, length, at, 16);
  NocFields fields = NocWrite(actor.tile, local, far.tile, far.address, length);
  if (choose.Percent(25)) fields.control &= ~hw::kNocResponse;
  return fields;
}

NocFields RandomMulticast(Chooser& choose, const Actor& actor) {
  const uint32_t length = RandomLength(choose, Actor::kMulticastBytes - 16);
  const uint32_t at = choose.Below(Actor::kBytes - length + 1);
  const uint32_t to =
      actor.multicast() + OffsetLike(choose, Actor::kMulticastBytes, length, at, 16);
  auto [start, end] = RandomRectangle(choose);
  const bool nobody_else = start == end && start == actor.tile;
  if (actor.niu == 1) std::swap(start, end);
  NocFields fields = NocMulticast(actor.tile, actor.own() + at, start, end, to, length);
  if (nobody_else || choose.Percent(30)) fields.control |= hw::kNocIncludeSource;
  if (choose.Percent(25)) fields.control &= ~hw::kNocResponse;
  return fields;
}

NocFields RandomIncrement(Chooser& choose, const Actor& actor) {
  const hw::Coordinate tile = choose.Pick(actor.stage);
  if (choose.Percent(50)) {
    const uint32_t counter = kSharedCounters + 16 * choose.Below(8);
    const uint32_t old = kOldCounters + 4 * choose.Below((kOldCountersEnd - kOldCounters) / 4);
    return NocIncrement(actor.tile, tile, counter, choose.Any(), old);
  }
  const uint32_t counter = actor.at_tiles() + 16 * choose.Below(64);
  const uint32_t old = actor.own() + 4 * choose.Below(Actor::kBytes / 4);
  return NocIncrement(actor.tile, tile, counter, choose.Any(), old);
}

uint32_t OwnStreamRegister(Chooser& choose, const Actor& actor, bool write) {
  static constexpr uint32_t kRead[] = {hw::kStreamRemoteSource, hw::kStreamBufferStart,
                                       hw::kStreamBufferSize, hw::kStreamSpaceAvailable};
  static constexpr uint32_t kWritten[] = {hw::kStreamRemoteSource, hw::kStreamBufferStart,
                                          hw::kStreamBufferSize, hw::kStreamSpaceAvailableUpdate,
                                          hw::kStreamSpaceAvailableUpdate};
  const uint32_t stream = actor.stream() + choose.Below(2);
  return hw::StreamRegister(stream, write ? choose.Pick(kWritten) : choose.Pick(kRead));
}

// What may be written to a stream register.
uint32_t StreamValue(Chooser& choose, uint32_t address) {
  const uint32_t value = choose.Any();
  switch (address % hw::kStreamStride) {
    case hw::kStreamSpaceAvailableUpdate:
      return value & ~((1u << hw::kStreamUpdateShift) - 1);
    case hw::kStreamRemoteSource:
      return value & 0xFFFFFF;
    default:
      return value;
  }
}

NocFields RandomInline(Chooser& choose, const Actor& actor) {
  const hw::Coordinate tile = choose.Pick(actor.stage);
  const uint32_t address = OwnStreamRegister(choose, actor, true);
  NocFields fields = NocInline(actor.tile, tile, address, StreamValue(choose, address));
  fields.length = choose.Any();  // ignored
  if (choose.Percent(25)) fields.control &= ~hw::kNocResponse;
  return fields;
}

// A register of a tile by a packet of 4 bytes.
NocFields RandomRegisterPacket(Chooser& choose, const Actor& actor) {
  const hw::Coordinate tile = choose.Pick(actor.stage);
  const uint32_t address = OwnStreamRegister(choose, actor, false);
  const uint32_t local = actor.own() + OffsetLike(choose, Actor::kBytes, 4, address, 16);
  return NocRead(actor.tile, tile, address, local, 4);
}

void EmitRegisterToL1(Rv32Asm& a, uint32_t address, uint32_t to) {
  a.Li(kT6, address);
  a.Lw(kT5, kT6, 0);
  a.Li(kT6, to);
  a.Sw(kT5, kT6, 0);
}

void EmitRegisterRead(Chooser& choose, const Actor& actor, Rv32Asm* a) {
  const uint32_t niu = hw::kNiuAddress + actor.niu * hw::kNiuStride;
  static constexpr uint32_t kShared[] = {hw::kNocNodeId, hw::kNocIdLogical, hw::kNocRouterConfig0,
                                         hw::kNocRouterConfig1, hw::kNocRouterConfig3};
  static constexpr uint32_t kInBuffer[] = {hw::kNocTargetLow, hw::kNocTargetMid, hw::kNocTargetHigh,
                                           hw::kNocReturnLow, hw::kNocReturnMid, hw::kNocReturnHigh,
                                           hw::kNocPacketTag, hw::kNocControl,   hw::kNocLength,
                                           hw::kNocData,      hw::kNocCommand};
  static constexpr uint32_t kCounters[] = {hw::kNocAtomicResponses,     hw::kNocWriteAcks,
                                           hw::kNocReadResponses,       hw::kNocPostedAtomicsSent,
                                           hw::kNocNonpostedWritesSent, hw::kNocPostedWritesSent,
                                           hw::kNocRequestsOutstanding, hw::kNocWritesOutgoing};
  const uint32_t to = actor.own() + 4 * choose.Below(Actor::kBytes / 4);
  switch (choose.Below(5)) {
    case 0:
      return EmitRegisterToL1(*a, niu + choose.Pick(kShared), to);
    case 1:
      return EmitRegisterToL1(
          *a, niu + actor.buffer * hw::kNiuCommandBufferStride + choose.Pick(kInBuffer), to);
    case 2: {
      if (!actor.alone) return;
      uint32_t counter = choose.Pick(kCounters);
      if (counter >= hw::kNocRequestsOutstanding) counter += choose.Below(16);
      return EmitReadCounter(*a, actor.niu, counter, to);
    }
    case 3:
      return EmitRegisterToL1(*a, OwnStreamRegister(choose, actor, false), to);
    default:
      if (actor.timed) EmitRegisterToL1(*a, hw::kWallClockLow, to);
  }
}

void EmitRegisterWrite(Chooser& choose, const Actor& actor, Rv32Asm* a) {
  const uint32_t stream = OwnStreamRegister(choose, actor, true);
  a->StoreWord(stream, StreamValue(choose, stream));
  if (choose.Percent(20) && actor.alone) {
    a->StoreWord(hw::kNiuAddress + actor.niu * hw::kNiuStride + hw::kNocClearOutstanding, 0xFFFF);
  }
}

// Arithmetic, an AMO, loads and stores of every width, in its own memory.
void EmitComputation(Chooser& choose, const Actor& actor, Rv32Asm* a) {
  // add sub sll slt sltu xor srl sra or and; mul mulh mulhsu mulhu div divu rem remu; sh1add sh2add sh3add
  // andn orn xnor min minu max maxu rol ror.
  static constexpr uint32_t kOperations[] = {
      0x00000033, 0x40000033, 0x00001033, 0x00002033, 0x00003033, 0x00004033,
      0x00005033, 0x40005033, 0x00006033, 0x00007033, 0x02000033, 0x02001033,
      0x02002033, 0x02003033, 0x02004033, 0x02005033, 0x02006033, 0x02007033,
      0x20002033, 0x20004033, 0x20006033, 0x40007033, 0x40006033, 0x40004033,
      0x0A004033, 0x0A005033, 0x0A006033, 0x0A007033, 0x60001033, 0x60005033};
  // swap add xor and or min max minu maxu.
  static constexpr uint32_t kAmos[] = {0x0800202F, 0x0000202F, 0x2000202F, 0x6000202F, 0x4000202F,
                                       0x8000202F, 0xA000202F, 0xC000202F, 0xE000202F};
  const uint32_t base = actor.own() + 64 * choose.Below(Actor::kBytes / 64);
  static constexpr uint32_t kInteresting[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
  const auto operand = [&] {
    return choose.Percent(25) ? choose.Pick(kInteresting) : choose.Any();
  };
  a->Li(kT0, operand());
  a->Li(kT1, operand());
  a->Li(kT6, base);
  for (uint32_t i = choose.Between(1, 8); i > 0; --i) {
    const uint32_t operation = choose.Pick(kOperations);
    a->R(operation, choose.Percent(50) ? kT0 : kT1, kT0, kT1);
  }
  a->Sw(kT0, kT6, 0);
  a->Sw(kT1, kT6, 4);
  a->R(choose.Pick(kAmos), kT2, kT6, kT0);
  a->Sw(kT2, kT6, 8);
  a->Sh(kT0, kT6, 14);
  a->Sb(kT1, kT6, 17);
  a->I(0x1003, kT3, kT6, 14);  // lh
  a->Lhu(kT4, kT6, 14);
  a->Sw(kT3, kT6, 20);
  a->Sw(kT4, kT6, 24);
  a->I(0x0003, kT3, kT6, 17);  // lb
  a->Lbu(kT4, kT6, 17);
  a->Sw(kT3, kT6, 28);
  a->Sw(kT4, kT6, 32);
  // Through local RAM.
  a->Li(kT4, hw::kLocalRamAddress + 4 * choose.Below(hw::kLocalRamBytesTrisc / 4));
  a->Sw(kT0, kT4, 0);
  a->Lw(kT3, kT4, 0);
  a->Sw(kT3, kT6, 36);
}

// Two writes of one transaction.
void EmitLinked(Chooser& choose, const Actor& actor, Rv32Asm* a) {
  NocFields first = RandomMulticast(choose, actor);
  first.niu = actor.niu;
  first.buffer = actor.buffer;
  NocFields second = first;
  first.control |= hw::kNocLinked;
  second.length = choose.Between(1, second.length);
  EmitNoc(*a, first);
  EmitNoc(*a, second);
}

}  // namespace

hw::Coordinate RandomBank(Chooser& choose) {
  return {choose.Pick(hw::kDramTranslatedX),
          hw::kDramTranslatedFirstRow + choose.Below(4 * hw::kDramPortsPerBank)};
}

TileRectangle RandomRectangle(Chooser& choose) {
  uint32_t columns[2], rows[2];
  for (uint32_t& column : columns) column = choose.Pick(hw::kTensixColumnX);
  for (uint32_t& row : rows) row = hw::kTensixFirstRow + choose.Below(hw::kTensixRows);
  std::sort(columns, columns + 2);
  std::sort(rows, rows + 2);
  return {{columns[0], rows[0]}, {columns[1], rows[1]}};
}

NocFields RandomCommand(Chooser& choose, const Actor& actor) {
  NocFields fields;
  switch (choose.Below(8)) {
    case 0:
      fields = RandomMulticast(choose, actor);
      break;
    case 1:
      fields = RandomIncrement(choose, actor);
      break;
    case 2:
      fields = RandomInline(choose, actor);
      break;
    case 3:
      fields = RandomRegisterPacket(choose, actor);
      break;
    default:
      fields = RandomTransfer(choose, actor);
  }
  constexpr uint32_t kVc = hw::kNocStaticVc | 7u << hw::kNocVcShift;
  fields.control =
      (fields.control & ~kVc) | RandomVc(choose, (fields.control & hw::kNocMulticast) != 0);
  fields.tag = choose.Below(16) << 10;
  fields.niu = actor.niu;
  fields.buffer = actor.buffer;
  return fields;
}

Rv32Asm RandomProgram(Chooser& choose, const Actor& actor, uint32_t commands) {
  Rv32Asm a;
  for (uint32_t i = 0; i < commands; ++i) {
    switch (choose.Below(8)) {
      case 0:
        EmitRegisterRead(choose, actor, &a);
        break;
      case 1:
        EmitRegisterWrite(choose, actor, &a);
        break;
      case 2:
        EmitComputation(choose, actor, &a);
        break;
      case 3:
        if (actor.alone) EmitLinked(choose, actor, &a);
        break;
      default:
        EmitNoc(a, RandomCommand(choose, actor));
    }
  }
  a.Halt();
  return a;
}

}  // namespace ttfd
