#include "tests/peer/tensix_writer.h"

#include "runtime/hw/tensix_isa.h"

namespace ttfd {
namespace {

namespace tensix = hw::tensix;

constexpr uint32_t kDstRows = 1024;
constexpr uint32_t kDumpModifier = 3;

// Two logical rows of 32 bits may be one: the lower of their halves.
uint32_t CanonicalRow(uint32_t row, bool float32) {
  if (!float32 || row < 256) return row;
  return row < 512 ? row + 256 : row < 768 ? row : row - 256;
}

}  // namespace

TensixWriter::TensixWriter(bool float32_dst) : TensixSetup(float32_dst), float32_dst_(float32_dst) {
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
  if (hand_over) banks.HandOver();
  Push(tensix::UNPACR_NOP{}
           .unpacker(unpacker)
           .unpack_pop(1)
           .src_clr_val_ctrl(infinity ? 1 : 0)
           .stall_clr_cntrl(as_unpack ? 1 : 0)
           .set_dvalid(hand_over ? 1 : 0));
  return true;
}

uint32_t TensixWriter::DstOffset() const {
  return rows_.dst.now + Thread(tensix::kThreadDstOffset);
}

bool TensixWriter::Keeps(uint32_t source) const {
  return (Thread(tensix::kThreadKeepDvalid) >> source & 1) != 0;
}

void TensixWriter::Touch(uint32_t row) {
  touched_.insert(CanonicalRow(row, float32_dst_) / kTileRows);
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
  Touch(row);
  rows_.Apply(Modifier(modifier));
  for (uint32_t i = 0; i < 2; ++i) {
    if ((clear >> i & 1) != 0) banks_[i].Release(Keeps(i));
  }
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

void TensixWriter::SetRwc(tensix::SETRWC instruction) {
  const auto set = [&](ReturningCounter& counter, uint32_t bit, uint32_t value, uint32_t mask) {
    if ((instruction.bit_mask() & bit) == 0) return;
    (instruction.rwc_cr() & bit) != 0 ? counter.Return(value, mask) : counter.Set(value);
  };
  set(rows_.a, 1, instruction.rwc_a(), RowCounters::kSourceMask);
  set(rows_.b, 2, instruction.rwc_b(), RowCounters::kSourceMask);
  set(rows_.dst, 4, instruction.rwc_d(), RowCounters::kDstMask);
  if ((instruction.bit_mask() & 8) != 0) rows_.phase = 0;
  for (uint32_t i = 0; i < 2; ++i) {
    if ((instruction.clear_dvalid() >> i & 1) == 0) continue;
    banks_[i].Release(Keeps(i));
  }
  Push(instruction);
}

void TensixWriter::IncRwc(tensix::INCRWC instruction) {
  rows_.a.Add(instruction.rwc_a(), RowCounters::kSourceMask);
  rows_.b.Add(instruction.rwc_b(), RowCounters::kSourceMask);
  if (instruction.rwc_cr() != 0) {
    rows_.dst.Return(instruction.rwc_d(), RowCounters::kDstMask);
  } else {
    rows_.dst.Add(instruction.rwc_d(), RowCounters::kDstMask);
  }
  Push(instruction);
}

uint32_t TensixWriter::DstImmediate(uint32_t row) {
  if (DstOffset() > row || (row - DstOffset()) % 8 != 0) {
    SetRwc(tensix::SETRWC{}.bit_mask(4));
  }
  return (row - DstOffset()) % kDstRows;
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

void TensixWriter::Dump() {
  if (touched_.empty()) return;
  PlainPacker(float32_dst_, float32_dst_ ? tensix::Format::kFloat32 : tensix::Format::kFloat16B);
  const uint32_t bytes = kTileRows * 16 * (float32_dst_ ? 4 : 2);
  const auto tiles = static_cast<uint32_t>(touched_.size());
  const uint32_t at = Reserve(tiles * bytes);
  Set(tensix::kPackAddress, at / 16 - 1);
  Configure();
  SetThread(tensix::kThreadAddrModPack + kDumpModifier, 4);  // Y of the source + 4
  ZeroAdc(kPacker);
  SetAdcRange(kPacker, 0, 15);
  Push(tensix::STALLWAIT{}.stall_res(tensix::kStallPack).wait_res(tensix::kUntilMath));
  uint32_t left = tiles * kTileRows / 4;
  for (const uint32_t tile : touched_) {
    SetAdc(kPacker, 0, AddressCounters::kY, tile * kTileRows);
    for (uint32_t i = 0; i < kTileRows / 4; ++i)
      Pack(kDumpModifier, --left == 0, at + tiles * bytes);
  }
  Sync();
}

}  // namespace ttfd
