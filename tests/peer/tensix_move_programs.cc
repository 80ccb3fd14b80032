// Programs for pools, and for moves between the sources and Dst.
#include "tests/peer/tensix_units.h"

namespace ttfd {
namespace {

namespace tensix = hw::tensix;

void RandomModifiers(Chooser& choose, TensixWriter& writer, uint32_t step) {
  for (uint32_t i = 0; i < tensix::kAddrMods; ++i) {
    RowCounters::Modifier modifier = RandomModifier(choose, step);
    modifier.dst = tensix::kAddrModDstIncrement.In(modifier.dst, choose.Below(16) * 4);
    writer.SetModifier(i, modifier);
  }
}

void RandomMoveThread(Chooser& choose, TensixWriter& writer) {
  static constexpr uint32_t kOffsets[] = {0, 0, 512, 64, 4};
  writer.SetThread(tensix::kThreadDstOffset, choose.Pick(kOffsets));
  writer.SetThread(tensix::kThreadSrcAFormatOverride, choose.Below(2));
  writer.SetThread(tensix::kThreadSrcBFormatOverride, choose.Below(2));
}

// An operand, or the smallest numbers with some of an operand's.
void FillSourceA(Chooser& choose, TensixWriter& writer) {
  RandomSourceFormat(choose, writer, 0);
  if (choose.Percent(70)) return writer.UnpackTile(0, RandomTile(choose));
  writer.Fill(0, false, true, true);
  if (choose.Percent(30)) {
    writer.Fill(0, true, true, true);
    return;
  }
  writer.ZeroAdc(1);
  writer.SetAdcRange(1, 0, choose.Between(1, 63) * 16 - 1);
  writer.Unpack(0, true, 0);
}

void RandomRows(Chooser& choose, TensixWriter& writer) {
  writer.SetRwc(
      tensix::SETRWC{}.bit_mask(15).rwc_b(choose.Below(2) * 8).rwc_d(choose.Below(4) * 4));
}

void RandomPool(Chooser& choose, TensixWriter& writer, PoolOperation operation) {
  const uint32_t half = choose.Below(2) * 4;
  const uint32_t dst =
      choose.Percent(50) ? RandomDstRow(choose, writer) + half : choose.Below(16) * 4;
  const uint32_t modifier = choose.Below(tensix::kAddrMods);
  const uint32_t clear = choose.Percent(10) ? choose.Below(4) : 0;
  if (writer.Pool(operation, dst, modifier, clear)) return;
  RandomRows(choose, writer);
  writer.Pool(operation, dst % 512, modifier, clear);
}

// Any rows; those that are not accepted are left out.
void RandomMove(Chooser& choose, TensixWriter& writer) {
  const uint32_t dst = choose.Below(48) * 4, src = choose.Below(16) * 4;
  const uint32_t modifier = choose.Below(tensix::kAddrMods);
  const auto filled = [&](auto instruction) {
    return instruction.dst(dst).src(src).addr_mode(modifier);
  };
  switch (choose.Below(8)) {
    case 0:
    case 1:
      writer.Move(filled(tensix::MOVA2D{}).instr_mod(2));
      return;
    case 2:
      writer.Move(filled(tensix::MOVB2D{}).instr_mod(choose.Between(2, 5)));
      return;
    case 3:
      writer.Move(filled(tensix::MOVD2A{}).instr_mod(2));
      return;
    case 4:
      writer.Move(
          filled(tensix::MOVD2B{}).instr_mod(choose.Below(2) * 2).dest_32b_lo(choose.Below(2)));
      return;
    case 5:
      writer.Move(tensix::MOVB2A{}.instr_mod(2).srca(src).srcb(dst % 64).addr_mode(modifier));
      return;
    case 6:
      writer.Transpose();
      return;
    default:
      if (choose.Percent(60)) return;
      if (choose.Percent(30)) {
        return writer.Push(tensix::ZEROSRC{}.src_mask(3).bank_mask(1));
      }
      writer.Push(tensix::ZEROSRC{}.src_mask(choose.Between(1, 3)).write_mode(1));
  }
}

// Both sources into Dst, as they are.
void ShowSources(Chooser& choose, TensixWriter& writer) {
  writer.SetThread(tensix::kThreadDstOffset, 0);
  writer.SetModifier(0, {8 | 8 << 8, 0});
  writer.SetRwc(tensix::SETRWC{}.bit_mask(15));
  const uint32_t tile = choose.Below(3) * TensixWriter::kTileRows;
  for (uint32_t row = 0; row < TensixWriter::kTileRows; row += 8) {
    writer.Compute(FpuOperation::kElwadd, tile + row, 0, 0, false, 0);
  }
}

void RandomTranspose(Chooser& choose, TensixWriter& writer) {
  writer.Set(tensix::kUnpackers[0].transpose, choose.Percent(50) ? 1 : 0);
}

}  // namespace

void WritePoolsProgram(Chooser& choose, TensixWriter& writer) {
  RandomMathFormats(choose, writer);
  RandomMoveThread(choose, writer);
  for (uint32_t i = choose.Between(2, 5); i > 0; --i) {
    const PoolOperation operation =
        choose.Percent(50) ? PoolOperation::kSum : PoolOperation::kMaximum;
    RandomModifiers(choose, writer, 16);
    RandomTranspose(choose, writer);
    FillSourceA(choose, writer);
    const bool ones = operation == PoolOperation::kMaximum || choose.Percent(20);
    ones ? writer.SetUnpackedFormat(1, kSourceFormats[0]) : RandomSourceFormat(choose, writer, 1);
    writer.UnpackTile(1, ones ? TensixProgram::kOnesTile : RandomTile(choose));
    RandomRows(choose, writer);
    for (uint32_t n = choose.Between(2, 6); n > 0; --n) {
      RandomPool(choose, writer, operation);
      if (choose.Percent(20)) {
        writer.Zero(tensix::ZEROACC{}.where(choose.Below(64)).addr_mode(choose.Below(8)));
      }
    }
    writer.Release();
  }
  writer.Dump();
}

void WriteMovesProgram(Chooser& choose, TensixWriter& writer) {
  RandomMathFormats(choose, writer);
  for (uint32_t i = choose.Between(1, 3); i > 0; --i) {
    FillDstTile(choose, writer, choose.Below(4));
  }
  for (uint32_t i = choose.Between(1, 3); i > 0; --i) {
    RandomMoveThread(choose, writer);
    RandomModifiers(choose, writer, 8);
    RandomTranspose(choose, writer);
    FillSourceA(choose, writer);
    RandomSourceFormat(choose, writer, 1);
    writer.UnpackTile(1, RandomTile(choose));
    RandomRows(choose, writer);
    for (uint32_t n = choose.Between(8, 24); n > 0; --n) {
      if (choose.Percent(20)) RandomRows(choose, writer);
      RandomMove(choose, writer);
    }
    ShowSources(choose, writer);
    writer.Release();
  }
  writer.Dump();
}

}  // namespace ttfd
