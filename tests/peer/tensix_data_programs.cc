// Programs for the unpackers, the packer, and the waits and registers around them.
#include "tests/peer/tensix_units.h"

namespace ttfd {
namespace {

namespace tensix = hw::tensix;

constexpr uint32_t kLastPack = 256;  // bytes of the PACR that ends a series

void RandomUnpackers(Chooser& choose, TensixWriter& writer) {
  const auto base = [&] {
    const uint32_t offset = choose.Below(40 * 64) * 16;
    return (TensixProgram::kOperands + offset) / 16 - 1;
  };
  for (uint32_t unpacker = 0; unpacker < 2; ++unpacker) {
    const tensix::UnpackerConfig& config = tensix::kUnpackers[unpacker];
    RandomSourceFormat(choose, writer, unpacker);
    writer.Set(config.x_dim, choose.Percent(50) ? 16u << choose.Below(7)
                                                : choose.Below(choose.Percent(50) ? 8 : 300));
    writer.Set(config.y_dim, choose.Between(1, choose.Percent(20) ? 200 : 4));
    writer.Set(config.z_dim, choose.Below(5));
    writer.SetWord(config.address.word, base());
    writer.Set(config.dest_z_stride, choose.Below(8) * 32);
  }
  // With a few datums a row, Z passes its end among the operands.
  const uint32_t row = choose.Percent(30) ? choose.Below(8) : choose.Below(16) * 16 + 16;
  writer.SetWord(86, row);
  writer.SetWord(92, choose.Below(64));
  writer.Set(tensix::kUnpackers[0].dest_y_stride, choose.Below(8) * 32);
  writer.Set(tensix::kUnpackers[0].transpose, choose.Percent(30) ? 1 : 0);
  writer.Set(tensix::kUnpack0AddCounter, choose.Below(2));
  writer.SetWord(84, 64 + (choose.Percent(50) ? choose.Below(80) * 16 : choose.Below(16) * 64));
  writer.Configure();
}

std::array<uint32_t, 4> Values(Chooser& choose) {
  return {choose.Below(8), choose.Below(8), choose.Below(8), choose.Below(8)};
}

// Z and W have 8 bits.
uint32_t RandomCounter(Chooser& choose) {
  return choose.Percent(20) ? choose.Between(252, 258) : choose.Below(32);
}

void RandomCounters(Chooser& choose, TensixWriter& writer, uint32_t units) {
  static constexpr uint32_t kNotEnd[] = {1, 2, 3, 8, 9, 10, 11};  // all but X of channel 1
  if (choose.Percent(60)) {
    const uint32_t first = choose.Percent(50) ? 0 : choose.Below(200);
    const uint32_t count = choose.Percent(50) ? 16u << choose.Below(6) : choose.Between(1, 800);
    writer.SetAdcRange(units, first, first + count - 1);
  }
  if (choose.Percent(30)) {
    const uint32_t counters = choose.Pick(kNotEnd);
    writer.SetAdcPair(units, false, counters, Values(choose));
  }
  if (choose.Percent(40)) {
    const uint32_t counters = choose.Between(1, 7);
    writer.SetAdcPair(units, true, counters, Values(choose));
  }
  if (choose.Percent(30)) {
    const uint32_t channel = choose.Below(2), dimension = choose.Between(1, 2);
    writer.SetAdc(units, channel, dimension, RandomCounter(choose));
  }
  if (choose.Percent(10)) {
    const uint32_t channel = choose.Below(2), dimension = choose.Below(4);
    writer.SetAdc(units, channel, dimension, choose.Below(300));
  }
}

// One bank of one source by several transfers; the last one hands it over.
void FillBank(Chooser& choose, TensixWriter& writer, uint32_t unpacker) {
  if (choose.Percent(30)) {
    const bool hand_over = choose.Percent(15), infinity = choose.Percent(30);
    writer.Fill(unpacker, hand_over, infinity, choose.Percent(50));
    if (writer.banks(unpacker).ready()) return;
  }
  if (!writer.banks(unpacker).free()) return;
  for (uint32_t i = choose.Between(1, 4); i > 0;) {
    RandomCounters(choose, writer, 1u << unpacker);
    const uint32_t steps = choose.Percent(50) ? choose.Below(4) : choose.Any() & 0xFF;
    if (writer.Unpack(unpacker, i == 1, steps)) {
      --i;
    } else {
      writer.ZeroAdc(1u << unpacker);
      writer.SetAdcRange(1u << unpacker, 0, 15);
      if (writer.Unpack(unpacker, i == 1, steps)) --i;
    }
  }
}

uint32_t RandomPackModifier(Chooser& choose) {
  uint32_t word = 0;
  const auto set = [&word](tensix::Field field, uint32_t value) { word = field.In(word, value); };
  const auto bit = [&choose](uint32_t percent) { return choose.Percent(percent) ? 1u : 0u; };
  set(tensix::kAddrModSourceYIncrement, choose.Percent(50) ? 4 : choose.Below(16));
  set(tensix::kAddrModSourceYCr, bit(20));
  set(tensix::kAddrModSourceYClear, bit(15));
  set(tensix::kAddrModDestYIncrement, choose.Below(16));
  set(tensix::kAddrModDestYClear, bit(30));
  set(tensix::kAddrModSourceZIncrement, bit(30));
  set(tensix::kAddrModSourceZClear, bit(20));
  set(tensix::kAddrModDestZIncrement, bit(15));
  set(tensix::kAddrModDestZClear, bit(30));
  return word;
}

void RandomEdges(Chooser& choose, TensixWriter& writer) {
  static constexpr uint32_t kMasks[] = {0, 1, 0xFFFF};
  writer.Set(tensix::kPackEdgeMask0, choose.Percent(50) ? 0xFFFF : choose.Pick(kMasks));
  writer.Set(tensix::kPackEdgeMask1, choose.Pick(kMasks));
  writer.Set(tensix::kPackRowSetSelect, choose.Below(2));
  writer.SetWord(tensix::kPackRowSets, choose.Any() & 0x55555555);
  writer.SetWord(tensix::kPackRowSets + 1, choose.Any() & 0x55555555);
  writer.Set(tensix::kPackRowsPerPlane, choose.Percent(50) ? 16 : choose.Between(1, 16));
}

// Thresholds in plenty that are equal to data.
void RandomRelu(Chooser& choose, TensixWriter& writer) {
  static constexpr uint32_t kThresholds[] = {0, 0x3F00, 0x3F80, 0x3FC0, 0x4000, 0x4010, 0x7F80};
  writer.Set(tensix::kPackReluMode, choose.Below(4));
  writer.Set(tensix::kPackReluThreshold,
             choose.Percent(70) ? choose.Pick(kThresholds) : choose.Any() & 0x7FFF);
}

struct PackedFormat {
  tensix::Format in, out;
};
constexpr PackedFormat kPacked16[] = {{tensix::Format::kFloat16B, tensix::Format::kFloat16B},
                                      {tensix::Format::kFloat16B, tensix::Format::kFloat32}};
constexpr PackedFormat kPacked32[] = {{tensix::Format::kFloat16B, tensix::Format::kFloat16B},
                                      {tensix::Format::kFloat32, tensix::Format::kFloat32},
                                      {tensix::Format::kFloat32, tensix::Format::kBfp8B},
                                      {tensix::Format::kBfp8B, tensix::Format::kBfp8B}};
constexpr uint32_t kLongestSeries = 16;  // PACRs, of four rows each

// Reads of the other width show halves as wholes or two rows as one: also NaN and denormal values.
void RandomFormats(Chooser& choose, TensixWriter& writer) {
  const bool read32 = writer.float32_dst() != choose.Percent(35);
  const PackedFormat format = read32 ? choose.Pick(kPacked32) : choose.Pick(kPacked16);
  writer.PlainPacker(read32, format.in, format.out);
  if (format.out == tensix::Format::kBfp8B) {
    // Space for the exponents of a series.
    writer.Set(tensix::kPackExponentBytes, choose.Between(kLongestSeries * 4 / 16, 8));
  }
  const uint32_t row = 16 * DatumBytes(format.in);
  writer.Set(tensix::kPackSourceYStride, choose.Percent(70) ? row : row * choose.Below(5));
  writer.Set(tensix::kPackSourceZStride, row * choose.Below(64));
  writer.Set(tensix::kPackSourceWStride, row * choose.Below(256));
  writer.Set(tensix::kPackDestYStride, 8 * choose.Below(17));
  static constexpr uint32_t kOffsets[] = {0, 0, 512, 64, 3};
  writer.Set(tensix::kPackDstOffset, choose.Pick(kOffsets));
}

// A whole configuration by way of registers, and something computed and packed with that.
void ConfigureByEngine(Chooser& choose, TensixWriter& writer) {
  static constexpr uint32_t kBytes = 0x1000;
  for (const tensix::UnpackerConfig& config : tensix::kUnpackers) {
    const uint32_t tile = choose.Below(TensixProgram::kOperandTiles);
    writer.Set(config.address,
               (TensixProgram::kOperands + tile * TensixProgram::kTileBytes) / 16 - 1);
  }
  RandomFormats(choose, writer);
  const uint32_t at = writer.Reserve(kBytes + kLastPack);
  writer.Set(tensix::kPackAddress, at / 16 - 1);
  writer.SendAgain();
  writer.Configure(true);
  for (uint32_t unpacker = 0; unpacker < 2; ++unpacker) {
    writer.SetAdcRange(1u << unpacker, 0, 1023);
    writer.Unpack(unpacker, true, 0);
  }
  for (uint32_t i = choose.Between(1, 8); i > 0; --i) {
    const uint32_t dst = 8 * choose.Below(8);
    writer.Compute(FpuOperation::kElwadd, dst, 0, 0, choose.Percent(50), 0);
  }
  writer.SetThread(tensix::kThreadAddrModPack, RandomPackModifier(choose));
  writer.SetAdcRange(TensixWriter::kPacker, 0, 15);
  for (uint32_t i = choose.Between(1, 8); i > 0; --i) writer.Pack(0, i == 1, at + kBytes);
  writer.EndPacking();
  for (const uint32_t word : {12, 69, 76, 124}) writer.Load(hw::kTensixConfig + 4 * word);
}

uint32_t RandomWait(Chooser& choose) {
  static constexpr uint32_t kConditions =
      tensix::kUntilThcon | tensix::kUntilUnpack0 | tensix::kUntilUnpack1 | tensix::kUntilPack |
      tensix::kUntilMath | tensix::kUntilConfig | tensix::kUntilSfpu;
  const uint32_t wait = choose.Any() & kConditions;
  return wait == 0 ? tensix::kUntilMath : wait;
}

struct Semaphore {
  uint32_t value, max;

  bool full() const { return value >= max; }
};

tensix::SEMWAIT Wait(Chooser& choose, uint32_t index, uint32_t condition) {
  return tensix::SEMWAIT{}
      .sem_sel(1u << index)
      .stall_res(choose.Between(1, 511) | tensix::kStallThcon)
      .wait_sem_cond(condition);
}

void RandomSemaphore(Chooser& choose, TensixWriter& writer, uint32_t index, Semaphore* semaphore) {
  switch (choose.Below(5)) {
    case 0:
      if (semaphore->full()) return;
      ++semaphore->value;
      return writer.Push(tensix::SEMPOST{}.sem_sel(1u << index));
    case 1:
      if (semaphore->value == 0) return;
      --semaphore->value;
      return writer.Push(tensix::SEMGET{}.sem_sel(1u << index));
    case 2:
      if (semaphore->value == 0) return;
      return writer.Push(Wait(choose, index, tensix::kWhileZero));
    case 3:
      if (semaphore->full()) return;
      return writer.Push(Wait(choose, index, tensix::kWhileAtMax));
    default: {
      // The hart's own post or get. A post passes the semaphore's maximum up to 15.
      const bool post = semaphore->value == 0 || (semaphore->value < 15 && choose.Percent(50));
      writer.Sync();
      writer.Store(tensix::kSemaphore + 4 * index, post ? 0 : 1);
      semaphore->value += post ? 1 : ~0u;
    }
  }
}

void RandomSemaphores(Chooser& choose, TensixWriter& writer) {
  std::array<Semaphore, tensix::kSemaphores> semaphores{};
  for (uint32_t i = 0; i < semaphores.size(); ++i) {
    const uint32_t max = choose.Below(16);
    semaphores[i] = {choose.Below(max + 1), max};
    writer.Push(tensix::SEMINIT{}.sem_sel(1u << i).init_value(semaphores[i].value).max_value(max));
  }
  for (uint32_t n = choose.Between(5, 40); n > 0; --n) {
    const uint32_t i = choose.Below(tensix::kSemaphores);
    if (choose.Percent(30)) {
      const uint32_t stall = choose.Between(1, 511);
      writer.Push(tensix::STALLWAIT{}.stall_res(stall).wait_res(RandomWait(choose)));
    }
    RandomSemaphore(choose, writer, i, &semaphores[i]);
    if (choose.Percent(10)) writer.Load(tensix::kSemaphore + 4 * i);
  }
  for (uint32_t i = 0; i < tensix::kSemaphores; ++i) writer.Load(tensix::kSemaphore + 4 * i);
}

// Words with 32 bits that mean nothing while no unit runs.
constexpr uint32_t kFreeWords[] = {12, 13, 69, 76, 124};

void RandomRegisters(Chooser& choose, TensixWriter& writer) {
  for (uint32_t i = 0; i < tensix::kGprCount; ++i) {
    writer.Store(tensix::kGprs + 4 * i, choose.Any());
  }
  for (uint32_t n = choose.Between(5, 30); n > 0; --n) {
    const uint32_t word = choose.Pick(kFreeWords);
    const uint32_t gpr = choose.Below(tensix::kGprCount);
    switch (choose.Below(4)) {
      case 0:
        writer.Push(tensix::SETDMAREG{}
                        .reg_index_16b(choose.Below(128))
                        .payload_sig_sel(choose.Any())
                        .payload_sig_sel_size(choose.Below(4)));
        break;
      case 1:
        writer.Push(tensix::WRCFG{}.cfg_reg(word).gpr_address(gpr));
        break;
      case 2:
        writer.Push(tensix::WRCFG{}.cfg_reg(12).wr128b(1).gpr_address(gpr & ~3u));
        break;
      default: {
        // The four differ in their opcode alone.
        const uint32_t filled = tensix::RMWCIB0{}
                                    .cfg_reg_addr(word)
                                    .data(choose.Below(256))
                                    .mask(choose.Below(256))
                                    .word;
        writer.Push(tensix::RMWCIB0{filled + (choose.Below(4) << 24)});
      }
    }
    if (choose.Percent(20)) writer.Load(hw::kTensixConfig + 4 * word);
    if (choose.Percent(20)) writer.Load(tensix::kGprs + 4 * gpr);
  }
  for (const uint32_t word : kFreeWords) writer.Load(hw::kTensixConfig + 4 * word);
}

}  // namespace

void PackSeries(Chooser& choose, TensixWriter& writer, uint32_t bytes) {
  const uint32_t at = writer.Reserve(bytes + kLastPack);
  RandomFormats(choose, writer);
  if (choose.Percent(50)) RandomEdges(choose, writer);
  if (choose.Percent(50)) RandomRelu(choose, writer);
  writer.Set(tensix::kPackAddress, at / 16 - 1 + choose.Below(4));
  writer.Configure();
  for (uint32_t i = 0; i < tensix::kPackAddrMods; ++i) {
    writer.SetThread(tensix::kThreadAddrModPack + i, RandomPackModifier(choose));
  }
  writer.ZeroAdc(TensixWriter::kPacker);
  writer.SetAdcRange(TensixWriter::kPacker, 0, 15);
  writer.Push(tensix::STALLWAIT{}.stall_res(tensix::kStallPack).wait_res(tensix::kUntilMath));
  for (uint32_t i = choose.Between(1, 12); i > 0; --i) {
    if (choose.Percent(20)) {
      const bool zw = choose.Percent(50);
      const uint32_t counters = choose.Between(1, 3);
      writer.SetAdcPair(TensixWriter::kPacker, zw, counters, {0, choose.Below(4), 0, 0});
    }
    if (choose.Percent(15)) {
      const uint32_t dimension = choose.Between(1, 3);
      writer.SetAdc(TensixWriter::kPacker, 0, dimension, RandomCounter(choose));
    }
    const uint32_t modifier = choose.Below(4);
    if (writer.Pack(modifier, i == 1 || choose.Percent(30), at + bytes)) continue;
    writer.ZeroAdc(TensixWriter::kPacker);
    writer.SetAdcRange(TensixWriter::kPacker, 0, 15);
  }
  writer.EndPacking();
}

void WriteUnpackProgram(Chooser& choose, TensixWriter& writer) {
  const uint32_t tiles = choose.Between(1, 3);
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    RandomUnpackers(choose, writer);
    if (choose.Percent(25)) {
      RandomCounters(choose, writer, 1);
      const uint32_t row = choose.Below(choose.Percent(20) ? 900 : 128);
      writer.UnpackToDst(row, choose.Any() & 0xFF);
    }
    const uint32_t unpacker = choose.Below(2);
    FillBank(choose, writer, unpacker);
    if (choose.Percent(30)) writer.Fill(unpacker, true, false, true);
    if (choose.Percent(70)) {
      writer.Fill(1 - unpacker, true, false, true);
    } else {
      FillBank(choose, writer, 1 - unpacker);
    }
    writer.SetModifier(0, {8 | 8 << 8, 0});
    writer.SetRwc(tensix::SETRWC{}.bit_mask(15));
    for (uint32_t i = 0; i < TensixWriter::kTileRows; i += 8) {
      writer.Compute(FpuOperation::kElwadd, tile * TensixWriter::kTileRows + i, 0, 0, false, 0);
    }
    if (choose.Percent(50)) {
      writer.ClearValid(TensixWriter::kA | TensixWriter::kB);
    } else {
      writer.Release();
    }
  }
  writer.Dump();
}

void WritePackProgram(Chooser& choose, TensixWriter& writer) {
  if (choose.Percent(30)) {
    // Rows of 16 bits are valid that become low halves: they can be read as rows afterwards.
    writer.SetFloat32Dst(false);
    FillDstTile(choose, writer, 0);
    FillDstTile(choose, writer, 1);
    writer.SetFloat32Dst(true);
    FillDstTile(choose, writer, 0);
  }
  for (uint32_t i = choose.Between(1, 2); i > 0; --i) {
    const uint32_t half = choose.Percent(20) ? 8 : 0;
    FillDstTile(choose, writer, choose.Below(4) + half);
  }
  for (uint32_t i = choose.Between(1, 3); i > 0; --i) PackSeries(choose, writer, 0x1800);
}

void WriteSyncProgram(Chooser& choose, TensixWriter& writer) {
  switch (choose.Below(3)) {
    case 0:
      return RandomSemaphores(choose, writer);
    case 1:
      return RandomRegisters(choose, writer);
    default:
      ConfigureByEngine(choose, writer);
      return writer.Dump();
  }
}

}  // namespace ttfd
