#include "tests/peer/tensix_writer.h"

#include "runtime/hw/tensix_isa.h"

namespace ttfd {
namespace {

namespace tensix = hw::tensix;

constexpr uint32_t kDumpModifier = 3;

}  // namespace

TensixWriter::TensixWriter(bool float32_dst) : TensixMover(float32_dst) {
  FillBoth();
  SetRwc(tensix::SETRWC{}.bit_mask(15));
  Zero(tensix::ZEROACC{}.clear_mode(3).use_32_bit_mode(float32_dst_ ? 1 : 0));
}

void TensixWriter::SetFloat32Dst(bool float32_dst) {
  float32_dst_ = float32_dst;
  Set(tensix::kAluFloat32Dst, float32_dst ? 1 : 0);
  Configure();
}

// What an earlier program left in the sources goes; so do their valid bits and the difference of their banks.
void TensixWriter::FillBoth() {
  for (uint32_t i = 0; i < 2; ++i) {
    Fill(0, true, false, true);
    Fill(1, true, false, true);
    ClearValid(kA | kB);
  }
}

bool TensixWriter::Fill(uint32_t unpacker, bool hand_over, bool infinity, bool as_unpack) {
  SourceBanks& banks = banks_[unpacker];
  if (as_unpack ? !banks.free() : banks.ready()) return false;
  if (!banks.free() || (infinity && unpacker == 1)) return false;
  if (hand_over) banks.HandOver(FormatOf(tensix::kUnpackers[unpacker].out_format));
  Push(tensix::UNPACR_NOP{}
           .unpacker(unpacker)
           .unpack_pop(1)
           .src_clr_val_ctrl(infinity ? 1 : 0)
           .stall_clr_cntrl(as_unpack ? 1 : 0)
           .set_dvalid(hand_over ? 1 : 0));
  return true;
}

bool TensixWriter::Compute(FpuOperation operation, uint32_t dst, uint32_t modifier,
                           uint32_t broadcast, bool accumulate, uint32_t clear) {
  const bool product = operation == FpuOperation::kMvmul;
  const bool sum = operation == FpuOperation::kElwadd || operation == FpuOperation::kElwsub;
  const uint32_t row = product ? (DstOffset() + dst) % kDstRows : DstOffset() + dst;
  if (!banks_[0].ready() || !banks_[1].ready()) return false;
  if (rows_.a.now % (product ? 16 : 8) != 0 || rows_.b.now % 8 != 0) return false;
  if (dst % 8 != 0 || row % 8 != 0 || row >= kDstRows) return false;
  if (sum && rows_.phase != 0) return false;
  const auto filled = [&](auto instruction) {
    return instruction.dst(dst).addr_mode(modifier).clear_dvalid(clear);
  };
  const auto wise = [&](auto instruction) {
    return filled(instruction).instr_mod(broadcast).dest_accum_en(sum && accumulate ? 1 : 0);
  };
  switch (operation) {
    case FpuOperation::kMvmul:
      Push(filled(tensix::MVMUL{}));
      break;
    case FpuOperation::kElwmul:
      Push(wise(tensix::ELWMUL{}));
      break;
    case FpuOperation::kElwadd:
      Push(wise(tensix::ELWADD{}));
      break;
    case FpuOperation::kElwsub:
      Push(wise(tensix::ELWSUB{}));
      break;
  }
  FinishRow(row, modifier, clear);
  return true;
}

bool TensixWriter::Pool(PoolOperation operation, uint32_t dst, uint32_t modifier, uint32_t clear) {
  const bool sums = operation == PoolOperation::kSum;
  const uint32_t row = sums ? (DstOffset() + dst) % kDstRows : DstOffset() + dst;
  if (!banks_[0].ready() || !banks_[1].ready()) return false;
  if (rows_.a.now % 16 != 0 || rows_.b.now % 8 != 0) return false;
  if (dst % 4 != 0 || row % 4 != 0 || row >= kDstRows) return false;
  const auto filled = [&](auto instruction) {
    return instruction.dst(dst).addr_mode(modifier).instr_mod(1).clear_dvalid(clear);
  };
  sums ? Push(filled(tensix::GAPOOL{})) : Push(filled(tensix::GMPOOL{}));
  FinishRow(row, modifier, clear);
  return true;
}

bool TensixWriter::Zero(tensix::ZEROACC instruction) {
  const uint32_t mode = instruction.clear_mode();
  const bool wide = instruction.use_32_bit_mode() != 0;
  const uint32_t where = instruction.where();
  if (mode == 0 && (wide || where + DstOffset() >= kDstRows)) return false;
  if (mode == 1) {
    const uint32_t half = wide ? 16 : 32;
    const bool upper = (DstOffset() & (wide ? 768 : 512)) != 0;
    if (where + (upper ? half : 0) >= 2 * half) return false;
  }
  if (mode >= 2 && where > 3 - mode) return false;
  Push(instruction);
  if (mode <= 1) {
    rows_.Apply(Modifier(instruction.addr_mode()));
  }
  return true;
}

bool TensixWriter::ClearValid(uint32_t sources) {
  for (uint32_t i = 0; i < 2; ++i) {
    if ((sources >> i & 1) != 0 && !banks_[i].ready()) return false;
  }
  for (uint32_t i = 0; i < 2; ++i) {
    if ((sources >> i & 1) != 0) banks_[i].Release(false);
  }
  Push(tensix::CLEARDVALID{}.clear_dvalid(sources));
  return true;
}

void TensixWriter::Release() {
  SetThread(tensix::kThreadKeepDvalid, 0);
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t source = 1u << i;
    while (banks_[i].valid[0] || banks_[i].valid[1] || banks_[i].unpack != banks_[i].matrix) {
      if (ClearValid(source)) continue;
      SetThread(tensix::kThreadKeepDvalid, 3);
      SetRwc(tensix::SETRWC{}.clear_dvalid(source));
      SetThread(tensix::kThreadKeepDvalid, 0);
    }
  }
}

void TensixWriter::Dump(const std::set<uint32_t>& tiles, bool read32) {
  if (tiles.empty()) return;
  const tensix::Format format = read32 ? tensix::Format::kFloat32 : tensix::Format::kFloat16B;
  PlainPacker(read32, format, format);
  const auto count = static_cast<uint32_t>(tiles.size());
  const uint32_t bytes = count * kTileRows * 16 * (read32 ? 4 : 2);
  const uint32_t at = Reserve(bytes);
  Set(tensix::kPackAddress, at / 16 - 1);
  Configure();
  SetThread(tensix::kThreadAddrModPack + kDumpModifier, 4);  // Y of the source + 4
  ZeroAdc(kPacker);
  SetAdcRange(kPacker, 0, 15);
  Push(tensix::STALLWAIT{}.stall_res(tensix::kStallPack).wait_res(tensix::kUntilMath));
  uint32_t left = count * kTileRows / 4;
  for (const uint32_t tile : tiles) {
    SetAdc(kPacker, 0, AddressCounters::kY, tile * kTileRows);
    for (uint32_t i = 0; i < kTileRows / 4; ++i) Pack(kDumpModifier, --left == 0, at + bytes);
  }
  Sync();
}

}  // namespace ttfd
