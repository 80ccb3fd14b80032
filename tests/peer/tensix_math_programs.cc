// Programs for the FPU and for its row counters.
#include "tests/peer/tensix_units.h"

namespace ttfd {
namespace {

namespace tensix = hw::tensix;

constexpr uint32_t kFewValues = 7;  // kind of operands

constexpr FpuOperation kOperations[] = {
    FpuOperation::kMvmul,  FpuOperation::kMvmul,  FpuOperation::kMvmul,  FpuOperation::kElwmul,
    FpuOperation::kElwmul, FpuOperation::kElwadd, FpuOperation::kElwsub,
};

uint32_t Bit(Chooser& choose, uint32_t percent) { return choose.Percent(percent) ? 1 : 0; }

tensix::SETRWC RandomSetRwc(Chooser& choose, uint32_t step) {
  const uint32_t mask = choose.Below(16);
  const auto value = [&] { return choose.Below(16 / step) * step; };
  return tensix::SETRWC{}
      .bit_mask(mask)
      .rwc_cr(choose.Below(8) & mask)
      .rwc_a(value())
      .rwc_b(value())
      .rwc_d(value());
}

tensix::INCRWC RandomIncRwc(Chooser& choose, uint32_t step) {
  const auto value = [&] { return choose.Below(16 / step) * step; };
  return tensix::INCRWC{}.rwc_a(value()).rwc_b(value()).rwc_d(value()).rwc_cr(
      choose.Percent(40) ? 4 : 0);
}

void RandomZero(Chooser& choose, TensixWriter& writer) {
  const bool wide = choose.Percent(writer.float32_dst() ? 70 : 30);
  auto zero = tensix::ZEROACC{}.addr_mode(choose.Below(8)).use_32_bit_mode(wide ? 1 : 0);
  const uint32_t row = RandomDstRow(choose, writer);
  switch (choose.Below(10)) {
    case 0:
      zero = zero.clear_mode(3);
      break;
    case 1:
      zero = zero.clear_mode(2).where(choose.Below(2));
      break;
    case 2:
    case 3:
    case 4:
      zero = zero.clear_mode(1).where(row / (wide ? 32 : 16) % (wide ? 16 : 32));
      break;
    default:
      zero = zero.clear_mode(0).use_32_bit_mode(0).where(row / 8 * 8 % 64 + choose.Below(16));
  }
  writer.Zero(zero);
}

// Fields of any kind, or an immediate for a row that is chosen.
void RandomCompute(Chooser& choose, TensixWriter& writer, FpuOperation operation) {
  const uint32_t dst =
      choose.Percent(70) ? writer.DstImmediate(RandomDstRow(choose, writer)) : choose.Below(16) * 8;
  const uint32_t clear = choose.Percent(20) ? choose.Below(4) : 0;
  const uint32_t modifier = choose.Below(8), broadcast = choose.Below(4);
  const bool accumulate = choose.Percent(50);
  if (writer.Compute(operation, dst, modifier, broadcast, accumulate, clear)) return;
  writer.SetRwc(tensix::SETRWC{}.bit_mask(15).rwc_a(
      operation == FpuOperation::kMvmul ? 0 : choose.Below(2) * 8));
  writer.Compute(operation, writer.DstImmediate(RandomDstRow(choose, writer)), modifier, broadcast,
                 accumulate, clear);
}

void RandomThread(Chooser& choose, TensixWriter& writer) {
  static constexpr uint32_t kOffsets[] = {0, 0, 0, 512, 64, 256};
  writer.SetThread(tensix::kThreadDstOffset, choose.Pick(kOffsets));
  writer.SetThread(tensix::kThreadSrcAFormatOverride, choose.Below(2));
  writer.SetThread(tensix::kThreadSrcBFormatOverride, choose.Below(2));
}

// CLEARDVALID, SETRWC with clear, and a source that keeps its valid bit.
void RandomRelease(Chooser& choose, TensixWriter& writer) {
  if (choose.Percent(30)) writer.SetThread(tensix::kThreadKeepDvalid, choose.Below(4));
  const uint32_t sources = choose.Between(1, 3);
  if (choose.Percent(50)) {
    writer.ClearValid(sources);
  } else if (writer.banks(0).ready() && writer.banks(1).ready()) {
    writer.SetRwc(RandomSetRwc(choose, 8).clear_dvalid(sources));
  }
}

}  // namespace

RowCounters::Modifier RandomModifier(Chooser& choose, uint32_t step) {
  RowCounters::Modifier modifier;
  const auto set = [](uint32_t& word, tensix::Field field, uint32_t value) {
    word = field.In(word, value);
  };
  set(modifier.ab, tensix::kAddrModSrcAIncrement, choose.Below(64 / step) * step);
  set(modifier.ab, tensix::kAddrModSrcACr, Bit(choose, 30));
  set(modifier.ab, tensix::kAddrModSrcAClear, Bit(choose, 20));
  set(modifier.ab, tensix::kAddrModSrcBIncrement, choose.Below(64 / step) * step);
  set(modifier.ab, tensix::kAddrModSrcBCr, Bit(choose, 30));
  set(modifier.ab, tensix::kAddrModSrcBClear, Bit(choose, 20));
  const uint32_t most = choose.Percent(80) ? 64 : 1024;
  set(modifier.dst, tensix::kAddrModDstIncrement, choose.Below(most / step) * step);
  if (choose.Percent(25)) {
    set(modifier.dst, tensix::kAddrModDstToCr, 1);
  } else {
    set(modifier.dst, tensix::kAddrModDstCr, Bit(choose, 30));
    set(modifier.dst, tensix::kAddrModDstClear, Bit(choose, 20));
  }
  set(modifier.dst, tensix::kAddrModFidelityIncrement, choose.Percent(50) ? choose.Below(4) : 0);
  set(modifier.dst, tensix::kAddrModFidelityClear, Bit(choose, 30));
  return modifier;
}

void RandomSourceFormat(Chooser& choose, TensixWriter& writer, uint32_t unpacker) {
  writer.SetUnpackedFormat(unpacker,
                           choose.Percent(50) ? kSourceFormats[0] : choose.Pick(kSourceFormats));
  writer.Configure();
}

void RandomMathFormats(Chooser& choose, TensixWriter& writer) {
  static constexpr tensix::Format kFormats[] = {tensix::Format::kFloat32, tensix::Format::kTf32,
                                                tensix::Format::kFloat16B, tensix::Format::kBfp8B};
  writer.SetFormat(tensix::kAluSrcAFormat, choose.Pick(kFormats));
  writer.SetFormat(tensix::kAluSrcBFormat, choose.Pick(kFormats));
  writer.Configure();
}

uint32_t RandomTile(Chooser& choose) { return choose.Below(TensixProgram::kOperandTiles); }

uint32_t RandomDstRow(Chooser& choose, const TensixWriter& writer) {
  const std::vector<uint32_t> touched(writer.touched().begin(), writer.touched().end());
  uint32_t tile = 0;
  if (!touched.empty() && (touched.size() > 2 || choose.Percent(80))) {
    tile = choose.Pick(touched);
  } else if (writer.float32_dst()) {
    const uint32_t half = choose.Percent(50) ? 8 : 0;
    tile = choose.Percent(10) ? choose.Below(16) : choose.Below(4) + half;
  } else {
    tile = choose.Below(16);
  }
  return tile * TensixWriter::kTileRows + choose.Below(TensixWriter::kTileRows / 8) * 8;
}

void FillSources(Chooser& choose, TensixWriter& writer) {
  const auto stuck = [&](uint32_t unpacker) {
    return !writer.banks(unpacker).ready() && !writer.banks(unpacker).free();
  };
  if (stuck(0) || stuck(1)) writer.Release();
  // Both of one kind, so that the exponents meet; or not.
  const uint32_t kind = choose.Percent(15) ? kFewValues : choose.Below(8);
  for (uint32_t unpacker = 0; unpacker < 2; ++unpacker) {
    if (writer.banks(unpacker).ready()) continue;
    RandomSourceFormat(choose, writer, unpacker);
    const bool other = choose.Percent(30);
    const uint32_t of_kind = other ? choose.Below(8) : kind;
    const uint32_t tile = choose.Below(TensixProgram::kOperandTiles / 8) * 8 + of_kind;
    while (!writer.banks(unpacker).ready()) writer.UnpackTile(unpacker, tile);
    if (choose.Percent(15) && writer.banks(unpacker).free()) writer.UnpackTile(unpacker, tile);
  }
}

void FillDstTile(Chooser& choose, TensixWriter& writer, uint32_t tile) {
  static constexpr FpuOperation kWise[] = {FpuOperation::kElwmul, FpuOperation::kElwadd,
                                           FpuOperation::kElwsub};
  if (writer.float32_dst() && writer.banks(0).free() && choose.Percent(40)) {
    return writer.UnpackTileToDst(RandomTile(choose), tile * TensixWriter::kTileRows);
  }
  FillSources(choose, writer);
  writer.SetThread(tensix::kThreadDstOffset, 0);
  writer.SetModifier(0, {8 | 8 << 8, 0});
  writer.SetRwc(tensix::SETRWC{}.bit_mask(15));
  const FpuOperation operation = choose.Pick(kWise);
  for (uint32_t i = 0; i < TensixWriter::kTileRows / 8; ++i) {
    writer.Compute(operation, tile * TensixWriter::kTileRows + 8 * i, 0, 0, false, 0);
  }
  writer.ClearValid(TensixWriter::kA | TensixWriter::kB);
}

void WriteMathProgram(Chooser& choose, TensixWriter& writer) {
  RandomMathFormats(choose, writer);
  RandomThread(choose, writer);
  for (uint32_t i = 0; i < tensix::kAddrMods; ++i) {
    writer.SetModifier(i, RandomModifier(choose, choose.Percent(50) ? 16 : 8));
  }
  for (uint32_t i = choose.Between(4, 14); i > 0; --i) {
    FillSources(choose, writer);
    if (choose.Percent(20)) {
      writer.Push(tensix::STALLWAIT{}
                      .stall_res(tensix::kStallMath)
                      .wait_res(tensix::kUntilSrcAValid | tensix::kUntilSrcBValid));
    }
    RandomCompute(choose, writer, choose.Pick(kOperations));
    if (choose.Percent(10)) RandomZero(choose, writer);
    if (choose.Percent(10)) writer.IncRwc(RandomIncRwc(choose, 8));
    if (choose.Percent(10)) RandomRelease(choose, writer);
  }
  writer.Dump();
}

void WriteCountersProgram(Chooser& choose, TensixWriter& writer) {
  for (uint32_t i = choose.Between(1, 3); i > 0; --i) {
    FillDstTile(choose, writer, RandomDstRow(choose, writer) / TensixWriter::kTileRows);
  }
  RandomThread(choose, writer);
  const uint32_t step = choose.Percent(30) ? 1 : 8;
  for (uint32_t i = 0; i < tensix::kAddrMods; ++i) {
    writer.SetModifier(i, RandomModifier(choose, step));
  }
  for (uint32_t i = choose.Between(10, 30); i > 0; --i) {
    FillSources(choose, writer);
    if (choose.Percent(40)) writer.SetRwc(RandomSetRwc(choose, step));
    if (choose.Percent(40)) writer.IncRwc(RandomIncRwc(choose, step));
    if (choose.Percent(15)) {
      const uint32_t section = choose.Below(8);
      writer.SetModifier(section, RandomModifier(choose, step));
    }
    if (choose.Percent(10)) RandomThread(choose, writer);
    const FpuOperation operation =
        choose.Percent(60) ? FpuOperation::kElwadd : FpuOperation::kElwmul;
    const uint32_t dst = choose.Below(16) * 8, modifier = choose.Below(8);
    const uint32_t broadcast = choose.Below(4);
    const uint32_t clear = choose.Percent(10) ? choose.Below(4) : 0;
    if (!writer.Compute(operation, dst, modifier, broadcast, false, clear)) {
      writer.Zero(tensix::ZEROACC{}.where(choose.Below(128)).addr_mode(choose.Below(8)));
    }
    if (choose.Percent(10)) RandomRelease(choose, writer);
  }
  PackSeries(choose, writer, 0x1000);
  writer.Dump();
}

}  // namespace ttfd
