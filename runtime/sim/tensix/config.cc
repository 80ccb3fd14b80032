// Tables of the configuration that is modelled. Source for what can be read: ttsim 1.10.0.
#include "runtime/sim/tensix/config.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

constexpr uint32_t kAll = ~0u;

struct Rule {
  uint32_t word = 0;
  uint32_t modelled = 0;  // bits that may be 1
  bool readable = false;
};

constexpr Rule kRules[] = {
    {0, 0x3DEF, true},        // formats that no override selects
    {1, 0x7FFE0000, true},    // formats, width of Dst
    {2, 0x003FFFFC, true},    // ReLU of the packer
    {12, kAll, true},         // packer: strides in Dst
    {13, kAll, true},         //
    {14, kAll, true},         // packer: stride in L1
    {15, kAll, true},         //
    {17, 0, true},            //
    {18, 0x1, true},          // packer: width of Dst
    {20, kAll, false},        // packer: row sets of the edge masks
    {21, kAll, false},        //
    {24, 0x2FFFF, true},      // packer: edge masks
    {25, 0xFFFF, false},      //
    {28, 0xFF00, true},       // packer: rows of a plane
    {50, 0x100, false},       // unpacker 0: adds its counters to the address
    {56, 0xFFFF0000, true},   // unpacker 0: strides in SrcA
    {57, 0xFFFF, true},       //
    {59, 0xFFFF, true},       // unpacker 1: stride in SrcB
    {64, 0xFFFF001F, true},   // unpacker 0: tile
    {65, 0x00FF00FF, true},   //
    {68, 0xFFFF0000, true},   // packer: section of exponents
    {69, kAll, true},         // packer: address
    {70, 0x0FF1, true},       // packer: formats
    {71, 0, true},            //
    {72, 0x1FF, true},        // unpacker 0: format
    {73, 0x000F001F, true},   //
    {76, kAll, true},         // unpacker 0: address
    {84, 0xFFFF, true},       //
    {86, 0xFFFF, true},       // unpacker 0: x of the tile
    {92, 0xFFFF, false},      // unpacker 0: is added to the address
    {112, 0xFFFF001F, true},  // unpacker 1: tile
    {113, 0x00FF00FF, true},  //
    {120, 0xFF, true},        // unpacker 1: format
    {121, 0x000F000F, true},  //
    {124, kAll, true},        // unpacker 1: address
    {180, 0xFFF, false},      // packer: first row of Dst
    {220, 0, true},           //
};

constexpr auto kRuleOf = [] {
  std::array<Rule, isa::kConfigWords> rules{};
  for (Rule& rule : rules) rule.word = isa::kConfigWords;  // none
  for (const Rule& rule : kRules) rules[rule.word] = rule;
  return rules;
}();

// Thread configuration: the bits that may be 1. No entry: no instruction may set it.
struct ThreadRule {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t modelled = 0;
};
constexpr ThreadRule kThreadRules[] = {
    {isa::kThreadStateId, isa::kThreadStateId, 0},
    {isa::kThreadDstOffset, isa::kThreadDstOffset, 0xFFF},
    {isa::kThreadSrcAFormatOverride, isa::kThreadSrcBFormatOverride, 1},
    {isa::kThreadUnpackSet, isa::kThreadUnpackSet, 4},
    {isa::kThreadKeepDvalid, isa::kThreadKeepDvalid, 3},
    {isa::kThreadAddrModAb, isa::kThreadAddrModAb + isa::kAddrMods - 1, 0xFFFF},
    {isa::kThreadAddrModDst, isa::kThreadAddrModDst + isa::kAddrMods - 1, 0xFFFF},
    {isa::kThreadAddrModPack, isa::kThreadAddrModPack + isa::kPackAddrMods - 1, 0xFFFF},
    {isa::kThreadUnpackContext, isa::kThreadUnpackContext, 0},
    {isa::kThreadAddrModBias, isa::kThreadAddrModBias + isa::kAddrMods - 1, 0},
};

}  // namespace

Outcome Config::Write(uint32_t index, uint32_t value) {
  if (index >= isa::kConfigWords || kRuleOf[index].word != index) {
    return report_.Refuse("configuration word", "this configuration word is not modelled");
  }
  if ((value & ~kRuleOf[index].modelled) != 0) {
    return report_.Refuse("configuration value", "a bit that is not modelled is 1");
  }
  words_[index] = value;
  return Outcome::kDone;
}

bool Config::IsReadable(uint32_t index) {
  return index < isa::kConfigWords && kRuleOf[index].word == index && kRuleOf[index].readable;
}

Outcome Config::SetThreadWord(uint32_t thread, isa::SETC16 instruction) {
  const uint32_t id = instruction.setc16_reg();
  const uint32_t value = instruction.setc16_value();
  for (const ThreadRule& rule : kThreadRules) {
    if (id < rule.first || id > rule.last) continue;
    if ((value & ~rule.modelled) != 0) {
      return report_.Refuse("setc16_value", "a bit that is not modelled is 1");
    }
    threads_[thread][id] = static_cast<uint16_t>(value);
    return Outcome::kDone;
  }
  return report_.Refuse("setc16_reg", "this thread configuration is not modelled");
}

Outcome Config::MergeByte(uint32_t byte, uint32_t instruction) {
  const isa::RMWCIB0 fields = {instruction};  // RMWCIB1 to 3 have the same
  const uint32_t index = fields.cfg_reg_addr();
  if (!IsReadable(index)) {
    return report_.Refuse("cfg_reg_addr", "the configuration word cannot be read");
  }
  const uint32_t mask = fields.mask() << 8 * byte;
  return Write(index, (words_[index] & ~mask) | (fields.data() << 8 * byte & mask));
}

}  // namespace ttfd::sim::tensix
