// Whether a block of code and data still works when it is moved.
//
// Relocation numbers: RISC-V ELF psABI, section 8.4.
#include "runtime/boot/relocation_check.h"

#include <elf.h>

#include <algorithm>

namespace ttfd {
namespace {

enum class Effect {
  kRelative,  // a distance inside the block: unchanged when it moves
  kNone,      // says nothing about addresses
  kAbsoluteWord,
  kAbsoluteInstruction,  // lui/addi of an address
  kGot,
  kThreadLocal,
  kCompressed,
  kUnknown,
};

Effect EffectOf(uint32_t type) {
  switch (type) {
    case R_RISCV_NONE:
    case R_RISCV_ALIGN:
    case R_RISCV_RELAX:
      return Effect::kNone;
    case R_RISCV_BRANCH:
    case R_RISCV_JAL:
    case R_RISCV_CALL:
    case R_RISCV_CALL_PLT:
    case R_RISCV_PCREL_HI20:
    case R_RISCV_32_PCREL:
      return Effect::kRelative;
    // The low half names the instruction with the high half, which is checked itself.
    case R_RISCV_PCREL_LO12_I:
    case R_RISCV_PCREL_LO12_S:
    // Differences of two symbols, in pairs.
    case R_RISCV_ADD8:
    case R_RISCV_ADD16:
    case R_RISCV_ADD32:
    case R_RISCV_SUB6:
    case R_RISCV_SUB8:
    case R_RISCV_SUB16:
    case R_RISCV_SUB32:
    case R_RISCV_SET6:
    case R_RISCV_SET8:
    case R_RISCV_SET16:
    case R_RISCV_SET32:
      return Effect::kNone;
    case R_RISCV_32:
      return Effect::kAbsoluteWord;
    case R_RISCV_HI20:
    case R_RISCV_LO12_I:
    case R_RISCV_LO12_S:
      return Effect::kAbsoluteInstruction;
    case R_RISCV_GOT_HI20:
      return Effect::kGot;
    case R_RISCV_TLS_GOT_HI20:
    case R_RISCV_TLS_GD_HI20:
    case R_RISCV_TPREL_HI20:
    case R_RISCV_TPREL_LO12_I:
    case R_RISCV_TPREL_LO12_S:
    case R_RISCV_TPREL_ADD:
      return Effect::kThreadLocal;
    case R_RISCV_RVC_BRANCH:
    case R_RISCV_RVC_JUMP:
    case R_RISCV_RVC_LUI:
      return Effect::kCompressed;
    default:
      return Effect::kUnknown;
  }
}

Status CheckOne(const ElfRelocation& relocation, const ElfSymbol& symbol,
                const std::string& section) {
  const auto refuse = [&](std::string_view why) {
    return InvalidArgument("symbol {}: {} (relocation {} at {:#x}, section {})", symbol.name, why,
                           relocation.type, relocation.offset, section);
  };
  const Effect effect = EffectOf(relocation.type);
  if (effect == Effect::kNone) return OkStatus();
  const bool absolute = symbol.section == SHN_ABS;
  if (symbol.section == SHN_UNDEF && effect != Effect::kUnknown) return refuse("is undefined");
  switch (effect) {
    case Effect::kRelative:
      if (absolute) {
        return refuse("a fixed address is reached relative to code that moves");
      }
      return OkStatus();
    case Effect::kAbsoluteWord:
      if (absolute) return OkStatus();
      return refuse(
          "a data word holds its address, which changes when the kernel is placed; avoid virtual "
          "functions and tables of pointers, compile with -fno-tree-switch-conversion");
    case Effect::kAbsoluteInstruction:
      return refuse("code holds its absolute address; compile with -mcmodel=medany");
    case Effect::kGot:
      return refuse("is reached through a .got; do not compile with -fpie or -fpic");
    case Effect::kThreadLocal:
      return refuse("is thread-local; a kernel has one thread");
    case Effect::kCompressed:
      return refuse("compressed instructions; compile with -march=rv32im");
    case Effect::kNone:
    case Effect::kUnknown:
      break;
  }
  return refuse("a relocation this loader does not know");
}

}  // namespace

Status CheckRelocations(const ElfFile& elf) {
  const auto& sections = elf.sections();
  bool any = false;
  for (const ElfSection& section : sections) {
    if (section.type != SHT_RELA && section.type != SHT_REL) continue;
    if (section.info >= sections.size()) {
      return InvalidArgument("section {} relocates section {}, which does not exist", section.name,
                             section.info);
    }
    const ElfSection& target = sections[section.info];
    if (!target.allocated()) continue;
    ASSIGN_OR_RETURN(const std::vector<ElfRelocation> relocations, elf.Relocations(section));
    any = true;
    for (const ElfRelocation& relocation : relocations) {
      ASSIGN_OR_RETURN(const ElfSymbol symbol, elf.Symbol(section.link, relocation.symbol));
      RETURN_IF_ERROR(CheckOne(relocation, symbol, target.name));
    }
  }
  if (!any) {
    return InvalidArgument(
        "no relocation sections, so nothing tells whether the kernel can be moved; link with "
        "--emit-relocs and do not strip");
  }
  return OkStatus();
}

}  // namespace ttfd
