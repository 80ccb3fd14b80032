// Row counters, and the moves that libttsim accepts.
#include "tests/peer/tensix_mover.h"

namespace ttfd {
namespace {

namespace tensix = hw::tensix;

constexpr uint32_t kFour = 4;
constexpr uint32_t kEight = 8;

// Two logical rows of 32 bits may be one: the lower of their halves.
uint32_t CanonicalRow(uint32_t row, bool float32) {
  if (!float32 || row < 256) return row;
  return row < 512 ? row + 256 : row < 768 ? row : row - 256;
}

}  // namespace

uint32_t TensixMover::DstOffset() const { return rows_.dst.now + Thread(tensix::kThreadDstOffset); }

bool TensixMover::Keeps(uint32_t source) const {
  return (Thread(tensix::kThreadKeepDvalid) >> source & 1) != 0;
}

void TensixMover::FinishRow(uint32_t row, uint32_t modifier, uint32_t clear) {
  touched_.insert(CanonicalRow(row, float32_dst_) / kTileRows);
  rows_.Apply(Modifier(modifier));
  for (uint32_t i = 0; i < 2; ++i) {
    if ((clear >> i & 1) != 0) banks_[i].Release(Keeps(i));
  }
}

void TensixMover::Touch32(uint32_t row) {
  if (float32_dst_) {
    touched_.insert(CanonicalRow(row, true) / kTileRows);
    return;
  }
  const uint32_t high = (row & 0x1F8) << 1 | (row & 0x207);
  for (const uint32_t half : {high, high + 8}) touched_.insert(half / kTileRows);
}

bool TensixMover::MovesTf32(uint32_t source) const {
  const tensix::Format format = Thread(tensix::kThreadSrcAFormatOverride) != 0
                                    ? FormatOf(tensix::kAluSrcAFormat)
                                    : banks_[source].format();
  return format == tensix::Format::kTf32;
}

void TensixMover::SetRwc(tensix::SETRWC instruction) {
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

void TensixMover::IncRwc(tensix::INCRWC instruction) {
  rows_.a.Add(instruction.rwc_a(), RowCounters::kSourceMask);
  rows_.b.Add(instruction.rwc_b(), RowCounters::kSourceMask);
  if (instruction.rwc_cr() != 0) {
    rows_.dst.Return(instruction.rwc_d(), RowCounters::kDstMask);
  } else {
    rows_.dst.Add(instruction.rwc_d(), RowCounters::kDstMask);
  }
  Push(instruction);
}

uint32_t TensixMover::DstImmediate(uint32_t row) {
  if (DstOffset() > row || (row - DstOffset()) % 8 != 0) {
    SetRwc(tensix::SETRWC{}.bit_mask(4));
  }
  return (row - DstOffset()) % kDstRows;
}

// Both the instruction's field and the row it leads to are multiples of `rows`.
bool TensixMover::IsDstRow(uint32_t dst, uint32_t rows) const {
  return dst % kFour == 0 && (DstOffset() + dst) % rows == 0;
}

bool TensixMover::IsSourceRow(uint32_t counter, uint32_t field, uint32_t rows) {
  return field % kFour == 0 && (counter + field) % rows == 0 && counter + field < kTileRows;
}

bool TensixMover::Move(tensix::MOVA2D instruction) {
  if (float32_dst_ != MovesTf32(0) || !banks_[0].ready() || instruction.dst() % kEight != 0)
    return false;
  if (!IsDstRow(instruction.dst(), kEight)) return false;
  if (instruction.src() % kEight != 0 || !IsSourceRow(rows_.a.now, instruction.src(), kEight)) {
    return false;
  }
  Push(instruction);
  FinishRow((DstOffset() + instruction.dst()) % kDstRows, instruction.addr_mode(), 0);
  return true;
}

bool TensixMover::Move(tensix::MOVB2D instruction) {
  const uint32_t rows = (instruction.instr_mod() & 2) != 0 ? kEight : kFour;
  if (float32_dst_ != MovesTf32(1) || !banks_[1].ready() || !IsDstRow(instruction.dst(), rows) ||
      !IsSourceRow(rows_.b.now, instruction.src(), rows)) {
    return false;
  }
  Push(instruction);
  FinishRow((DstOffset() + instruction.dst()) % kDstRows, instruction.addr_mode(), 0);
  return true;
}

bool TensixMover::Move(tensix::MOVD2A instruction) {
  if (MovesTf32(0) && !float32_dst_) return false;
  if (!IsDstRow(instruction.dst(), kFour)) return false;
  if (instruction.src() % kFour != 0 || rows_.a.now % kFour != 0) return false;  // the row wraps
  Push(instruction);
  rows_.Apply(Modifier(instruction.addr_mode()));
  return true;
}

bool TensixMover::Move(tensix::MOVD2B instruction) {
  if (MovesTf32(1) ? !float32_dst_ || instruction.dest_32b_lo() != 0
                   : !float32_dst_ && instruction.dest_32b_lo() != 0) {
    return false;
  }
  if (!IsDstRow(instruction.dst(), kFour) || !IsSourceRow(rows_.b.now, instruction.src(), kFour)) {
    return false;
  }
  Push(instruction);
  rows_.Apply(Modifier(instruction.addr_mode()));
  return true;
}

bool TensixMover::Move(tensix::MOVB2A instruction) {
  if (!banks_[1].ready() || !IsSourceRow(rows_.b.now, instruction.srcb(), kFour) ||
      !IsSourceRow(rows_.a.now, instruction.srca(), kFour)) {
    return false;
  }
  Push(instruction);
  rows_.Apply(Modifier(instruction.addr_mode()));
  return true;
}

bool TensixMover::Transpose() {
  if (!banks_[1].ready()) return false;
  Push(tensix::TRNSPSRCB{});
  return true;
}

template <typename Instruction>
void TensixMover::Access(Instruction instruction, uint32_t row) {
  Push(instruction.dest_reg_addr(row - DstOffset()));
  const uint32_t phase = rows_.phase;
  rows_.Apply(Modifier(instruction.addr_mode()));
  rows_.phase = phase;
}

void TensixMover::LoadLanes(tensix::SFPLOAD instruction, uint32_t row) { Access(instruction, row); }

void TensixMover::StoreLanes(tensix::SFPSTORE instruction, uint32_t row) {
  Access(instruction, row);
}

}  // namespace ttfd
