// Resources by opcode. Configuration words are those that the units of this folder read.
#include "runtime/sim/tensix/footprint.h"

#include <algorithm>
#include <span>

#include "runtime/sim/tensix/opcodes.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

constexpr uint16_t kOfUnpack0[] = {50, 56, 57, 64, 65, 72, 73, 76, 84, 86, 92};
constexpr uint16_t kOfUnpack1[] = {58, 59, 112, 113, 120, 121, 124, 140};
constexpr uint16_t kOfPack[] = {1, 2, 12, 13, 14, 15, 18, 20, 21, 24, 25, 28, 68, 69, 70, 71, 180};
constexpr uint16_t kOfMath[] = {0, 1, 2};
constexpr uint16_t kOfFormats[] = {1};
constexpr uint16_t kOfFill0[] = {72};
constexpr uint16_t kOfFill1[] = {120};

Pipeline PipelineOf(uint32_t instruction) {
  switch (OpcodeAt(instruction).unit) {
    case isa::Unit::kUnpack:
      // The field is the same one in UNPACR_NOP.
      return isa::UNPACR{instruction}.unpacker() == 0 ? Pipeline::kUnpack0 : Pipeline::kUnpack1;
    case isa::Unit::kPack:
      return Pipeline::kPack;
    case isa::Unit::kMath: {
      // These change counters and banks only.
      const uint32_t opcode = isa::OpcodeOf(instruction);
      return opcode == isa::SETRWC::kOpcode || opcode == isa::INCRWC::kOpcode ? Pipeline::kNone
                                                                              : Pipeline::kMath;
    }
    case isa::Unit::kSfpu:
      return Pipeline::kSfpu;
    case isa::Unit::kThcon:
      return Pipeline::kThcon;
    default:
      return Pipeline::kNone;
  }
}

// Words of the configuration that an instruction reads.
std::span<const uint16_t> ConfigOf(uint32_t instruction) {
  switch (isa::OpcodeOf(instruction)) {
    case isa::UNPACR::kOpcode:
      if (isa::UNPACR{instruction}.unpacker() == 0) return kOfUnpack0;
      return kOfUnpack1;
    case isa::UNPACR_NOP::kOpcode:
      if (isa::UNPACR_NOP{instruction}.unpacker() == 0) return kOfFill0;
      return kOfFill1;
    case isa::PACR::kOpcode:
      return kOfPack;
    case isa::MVMUL::kOpcode:
    case isa::ELWMUL::kOpcode:
    case isa::ELWADD::kOpcode:
    case isa::ELWSUB::kOpcode:
    case isa::GAPOOL::kOpcode:
    case isa::GMPOOL::kOpcode:
    case isa::MOVA2D::kOpcode:
    case isa::MOVB2D::kOpcode:
    case isa::MOVD2A::kOpcode:
    case isa::MOVD2B::kOpcode:
      return kOfMath;
    case isa::ZEROACC::kOpcode:
      return isa::ZEROACC{instruction}.clear_mode() == 0 ? std::span<const uint16_t>(kOfFormats)
                                                         : std::span<const uint16_t>();
    case isa::SFPLOAD::kOpcode:
    case isa::SFPSTORE::kOpcode:
      return kOfFormats;
    default:
      return {};
  }
}

// Words or registers that an instruction writes, or reads, at a place that its fields name; count 0: none.
Range ConfigWrittenBy(uint32_t instruction) {
  const uint32_t opcode = isa::OpcodeOf(instruction);
  if (opcode == isa::WRCFG::kOpcode) {
    const isa::WRCFG write{instruction};
    return {Resource::kConfig, write.cfg_reg(), write.wr128b() != 0 ? 4u : 1u, true};
  }
  if (opcode >= isa::RMWCIB0::kOpcode && opcode <= isa::RMWCIB3::kOpcode) {
    return {Resource::kConfig, isa::RMWCIB0{instruction}.cfg_reg_addr(), 1, true};
  }
  return {};
}
Range GprsOf(uint32_t instruction) {
  const uint32_t opcode = isa::OpcodeOf(instruction);
  if (opcode == isa::WRCFG::kOpcode) {
    const isa::WRCFG write{instruction};
    return {Resource::kGpr, write.gpr_address(), write.wr128b() != 0 ? 4u : 1u, false};
  }
  if (opcode == isa::SETDMAREG::kOpcode) {
    return {Resource::kGpr, isa::SETDMAREG{instruction}.reg_index_16b() / 2, 1, true};
  }
  return {};
}

// Collects the ranges of one instruction.
class Collector {
 public:
  Collector(const Engine& engine, uint32_t thread, Footprint& to)
      : engine_(engine), thread_(thread), to_(to) {}

  void OneByOne(uint32_t instruction) {
    Math(instruction);
    switch (isa::OpcodeOf(instruction)) {
      case isa::SFPLOAD::kOpcode: {
        const isa::SFPLOAD load{instruction};
        Vector(load.dest_reg_addr(), load.instr_mod(), load.addr_mode(), false);
        break;
      }
      case isa::SFPSTORE::kOpcode: {
        const isa::SFPSTORE store{instruction};
        Vector(store.dest_reg_addr(), store.instr_mod(), store.addr_mode(), true);
        break;
      }
      case isa::UNPACR::kOpcode:
        Id(isa::kThreadUnpackSet);
        Id(isa::kThreadUnpackContext);
        UnpackBank(isa::UNPACR{instruction}.unpacker());
        break;
      case isa::UNPACR_NOP::kOpcode:
        UnpackBank(isa::UNPACR_NOP{instruction}.unpacker());
        break;
      case isa::PACR::kOpcode:
        Id(isa::kThreadAddrModPack + isa::PACR{instruction}.addr_mode());
        break;
      case isa::SETC16::kOpcode: {
        const isa::SETC16 set{instruction};
        // Setting the same value disturbs no instruction.
        if (engine_.config().thread(thread_, set.setc16_reg() % isa::kThreadConfigWords) !=
            set.setc16_value()) {
          to_.Add(Resource::kThreadConfig, set.setc16_reg(), 1, true);
        }
        break;
      }
      default:
        break;
    }
  }

 private:
  void Id(uint32_t id) { to_.Add(Resource::kThreadConfig, id, 1, false); }
  void Ids(uint32_t addr_mode) {
    Id(isa::kThreadDstOffset);
    Id(isa::kThreadAddrModAb + addr_mode);
    Id(isa::kThreadAddrModDst + addr_mode);
  }
  void Rows(uint32_t row, uint32_t count, bool is_32_bit, bool written) {
    to_.Add(is_32_bit ? Resource::kDst32 : Resource::kDst, row, count, written);
  }
  void UnpackBank(uint32_t source) {
    to_.Add(Resource::kSource, 2 * source + engine_.source(source).unpack_index(), 1, true);
  }
  void MatrixBank(uint32_t source, bool written) {
    to_.Add(Resource::kSource, to_.matrix_banks[source], 1, written);
  }
  bool dst_is_32_bit() const { return engine_.config()[isa::kAluFloat32Dst] != 0; }

  void Math(uint32_t instruction);
  template <typename Instruction>
  void TwoSources(Instruction instruction, uint32_t rows);
  template <typename Instruction>
  void Move(Instruction instruction, uint32_t rows, uint32_t source, bool to_dst);
  void Clear(isa::ZEROACC instruction);
  void Release(uint32_t sources) {
    to_.releases = sources;
    if (sources != 0) Id(isa::kThreadKeepDvalid);
  }
  void Vector(uint32_t address, uint32_t mode, uint32_t addr_mode, bool written);

  const Engine& engine_;
  const uint32_t thread_;
  Footprint& to_;
};

template <typename Instruction>
void Collector::TwoSources(Instruction instruction, uint32_t rows) {
  Rows(engine_.rows().Dst(thread_, instruction.dst()), rows, dst_is_32_bit(), true);
  MatrixBank(0, false);
  MatrixBank(1, false);
  to_.awaits = 3;
  Ids(instruction.addr_mode());
  Id(isa::kThreadSrcAFormatOverride);
  Id(isa::kThreadSrcBFormatOverride);
  Release(instruction.clear_dvalid());
}

template <typename Instruction>
void Collector::Move(Instruction instruction, uint32_t rows, uint32_t source, bool to_dst) {
  Rows(engine_.rows().Dst(thread_, instruction.dst()), rows, dst_is_32_bit(), to_dst);
  MatrixBank(source, !to_dst);
  if (to_dst) to_.awaits = 1u << source;
  Ids(instruction.addr_mode());
  Id(isa::kThreadSrcAFormatOverride);
  Id(isa::kThreadSrcBFormatOverride);
}

void Collector::Clear(isa::ZEROACC instruction) {
  const bool wide = instruction.use_32_bit_mode() != 0;
  switch (instruction.clear_mode()) {
    case 0:
      Rows(engine_.rows().Dst(thread_, instruction.where()), 1, dst_is_32_bit(), true);
      break;
    case 1: {
      const uint32_t origin = engine_.rows().Dst(thread_, 0);
      const uint32_t first = wide ? 32 * (instruction.where() + ((origin & 768) != 0 ? 16 : 0))
                                  : 16 * (instruction.where() + ((origin & 512) != 0 ? 32 : 0));
      Rows(first % kDstRows, wide ? 32 : 16, false, true);
      break;
    }
    case 2:
      Rows((instruction.where() & 1) * (kDstRows / 2), kDstRows / 2, false, true);
      return;
    default:
      Rows(0, kDstRows, false, true);
      return;
  }
  Ids(instruction.addr_mode());
}

void Collector::Vector(uint32_t address, uint32_t mode, uint32_t addr_mode, bool written) {
  // Modes of 32 bits, and the configured one.
  const bool is_32_bit = mode == 0 ? engine_.config()[isa::kAluFloat32Sfpu] != 0
                                   : mode == 3 || mode == 4 || mode == 12;
  Rows(engine_.rows().Dst(thread_, address) & ~3u, 4, is_32_bit, written);
  Ids(addr_mode);
}

void Collector::Math(uint32_t instruction) {
  constexpr uint32_t kFour = 4, kEight = 8;
  switch (isa::OpcodeOf(instruction)) {
    case isa::MVMUL::kOpcode:
      return TwoSources(isa::MVMUL{instruction}, kEight);
    case isa::ELWMUL::kOpcode:
      return TwoSources(isa::ELWMUL{instruction}, kEight);
    case isa::ELWADD::kOpcode:
      return TwoSources(isa::ELWADD{instruction}, kEight);
    case isa::ELWSUB::kOpcode:
      return TwoSources(isa::ELWSUB{instruction}, kEight);
    case isa::GAPOOL::kOpcode:
      return TwoSources(isa::GAPOOL{instruction}, kFour);
    case isa::GMPOOL::kOpcode:
      return TwoSources(isa::GMPOOL{instruction}, kFour);
    case isa::MOVA2D::kOpcode:
      return Move(isa::MOVA2D{instruction}, kEight, 0, true);
    case isa::MOVB2D::kOpcode:
      return Move(isa::MOVB2D{instruction},
                  (isa::MOVB2D{instruction}.instr_mod() & 2) != 0 ? kEight : kFour, 1, true);
    case isa::MOVD2A::kOpcode:
      return Move(isa::MOVD2A{instruction}, kFour, 0, false);
    case isa::MOVD2B::kOpcode:
      return Move(isa::MOVD2B{instruction}, isa::MOVD2B{instruction}.instr_mod() == 0 ? 1 : kFour,
                  1, false);
    case isa::MOVB2A::kOpcode:
      MatrixBank(0, true);
      MatrixBank(1, false);
      to_.awaits = 2;
      return Ids(isa::MOVB2A{instruction}.addr_mode());
    case isa::TRNSPSRCB::kOpcode:
      MatrixBank(1, true);
      to_.awaits = 2;
      return;
    case isa::ZEROSRC::kOpcode: {
      const isa::ZEROSRC clear{instruction};
      if (clear.bank_mask() != 0) return to_.Add(Resource::kSource, 0, 4, true);
      if ((clear.src_mask() & 1) != 0) MatrixBank(0, true);
      if ((clear.src_mask() & 2) != 0) MatrixBank(1, true);
      return;
    }
    case isa::ZEROACC::kOpcode:
      return Clear(isa::ZEROACC{instruction});
    case isa::SETRWC::kOpcode:
      return Release(isa::SETRWC{instruction}.clear_dvalid());
    case isa::CLEARDVALID::kOpcode:
      return Release(isa::CLEARDVALID{instruction}.clear_dvalid());
    default:
      return;
  }
}

bool Contains(const Range& range, uint32_t index) { return index - range.first < range.count; }

}  // namespace

Footprint FootprintOf(const Engine& engine, uint32_t thread, uint32_t instruction) {
  Footprint footprint;
  footprint.pipeline = PipelineOf(instruction);
  for (uint32_t source = 0; source < 2; ++source) {
    footprint.matrix_banks[source] = 2 * source + engine.source(source).matrix_index();
  }
  for (const uint32_t word : ConfigOf(instruction)) {
    footprint.Add(Resource::kConfig, word, 1, false);
  }
  for (const Range& range : {ConfigWrittenBy(instruction), GprsOf(instruction)}) {
    if (range.count != 0) footprint.Add(range.resource, range.first, range.count, range.written);
  }
  Collector(engine, thread, footprint).OneByOne(instruction);
  return footprint;
}

void AddTransfer(const Report& report, bool dst_is_32_bit, Footprint* footprint) {
  switch (footprint->pipeline) {
    case Pipeline::kUnpack0:
    case Pipeline::kUnpack1:
      if (report.read_bytes != 0) {
        footprint->Add(Resource::kL1, report.read_address, report.read_bytes, false);
      }
      if (report.unpacked_rows != 0) {
        footprint->Add(Resource::kDst32, report.unpacked_row, report.unpacked_rows, true);
      }
      break;
    case Pipeline::kPack:
      footprint->Add(Resource::kL1, report.written_address, report.written_bytes, true);
      footprint->Add(dst_is_32_bit ? Resource::kDst32 : Resource::kDst, report.packed_row,
                     kPackedRows, false);
      break;
    default:
      break;
  }
}

bool Uses(uint32_t instruction, Resource resource, uint32_t index, bool written) {
  if (resource == Resource::kGpr) {
    const Range range = GprsOf(instruction);
    return range.written == written && Contains(range, index);
  }
  if (written) return Contains(ConfigWrittenBy(instruction), index);
  const std::span<const uint16_t> words = ConfigOf(instruction);
  return std::find(words.begin(), words.end(), index) != words.end();
}

}  // namespace ttfd::sim::tensix
