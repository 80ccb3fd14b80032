// Mnemonics from the names of the rows of instructions.inc, operands from their formats.
#include "runtime/sim/disassemble.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <string_view>

#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/encoding.h"
#include "runtime/sim/tensix/disassemble.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kOpcodeLoad = 0x03, kOpcodeFence = 0x0F, kOpcodeAtomic = 0x2F,
                   kOpcodeJalr = 0x67;
constexpr uint32_t kRs2Field = 0x01F00000;
constexpr uint32_t kAcquire = 1u << 26, kRelease = 1u << 25;

// SextB is sext.b, AmoAdd is amoadd.w; the others are their names in lower case.
std::string MnemonicOf(std::string_view name, bool atomic) {
  std::string text;
  for (const char letter : name) {
    const bool upper = std::isupper(static_cast<unsigned char>(letter)) != 0;
    if (upper && !text.empty() && !atomic) text += '.';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return atomic ? text + ".w" : text;
}

const std::string& Mnemonic(Operation operation) {
  static const auto mnemonics = [] {
    std::array<std::string, static_cast<size_t>(Operation::kCount)> all;
#define I(name, match, ...) \
  all[static_cast<size_t>(Operation::k##name)] = MnemonicOf(#name, ((match)&0x7F) == kOpcodeAtomic);
#include "runtime/sim/instructions.inc"
#undef I
    return all;
  }();
  return mnemonics[static_cast<size_t>(operation)];
}

// "iorw" and parts of it.
std::string FenceSet(uint32_t bits) {
  std::string set;
  for (uint32_t i = 0; i < 4; ++i) {
    if ((bits >> (3 - i) & 1) != 0) set += "iorw"[i];
  }
  return set.empty() ? "unknown" : set;
}

std::string Fence(const Encoding& encoding, uint32_t word) {
  if (encoding.operation == Operation::kFenceI) return "fence.i";
  if (word == 0x8330000F) return "fence.tso";
  return fmt::format("fence {},{}", FenceSet(word >> 24 & 15), FenceSet(word >> 20 & 15));
}

std::string Atomic(const Encoding& encoding, uint32_t word) {
  const char* const order = (word & kAcquire) != 0   ? (word & kRelease) != 0 ? ".aqrl" : ".aq"
                            : (word & kRelease) != 0 ? ".rl"
                                                     : "";
  const std::string& name = Mnemonic(encoding.operation);
  const char* const rd = RegisterName(RdOf(word));
  const char* const rs1 = RegisterName(Rs1Of(word));
  if (encoding.operation == Operation::kLr)
    return fmt::format("{}{} {},({})", name, order, rd, rs1);
  return fmt::format("{}{} {},{},({})", name, order, rd, RegisterName(Rs2Of(word)), rs1);
}

}  // namespace

std::string Disassemble(uint32_t word, uint32_t pc) {
  if (word != 0 && (word & 3) != 3) return tensix::Disassemble(hw::tensix::InstructionOf(word));
  const Encoding* const encoding = FindEncoding(word);
  if (encoding == nullptr) return fmt::format(".word {:#010x}", word);
  const uint32_t opcode = encoding->match & 0x7F;
  if (opcode == kOpcodeFence) return Fence(*encoding, word);
  if (opcode == kOpcodeAtomic) return Atomic(*encoding, word);
  const std::string& name = Mnemonic(encoding->operation);
  const char* const rd = RegisterName(RdOf(word));
  const char* const rs1 = RegisterName(Rs1Of(word));
  const char* const rs2 = RegisterName(Rs2Of(word));
  const uint32_t immediate = ImmediateOf(encoding->format, word);
  const auto number = static_cast<int32_t>(immediate);
  switch (encoding->format) {
    case Format::kNone:
      return name;
    case Format::kRegister:
      if ((encoding->mask & kRs2Field) == kRs2Field) return fmt::format("{} {},{}", name, rd, rs1);
      return fmt::format("{} {},{},{}", name, rd, rs1, rs2);
    case Format::kImmediate:
      if (opcode == kOpcodeLoad || opcode == kOpcodeJalr) {
        return fmt::format("{} {},{}({})", name, rd, number, rs1);
      }
      return fmt::format("{} {},{},{}", name, rd, rs1, number);
    case Format::kShift:
      return fmt::format("{} {},{},{:#x}", name, rd, rs1, immediate);
    case Format::kStore:
      return fmt::format("{} {},{}({})", name, rs2, number, rs1);
    case Format::kBranch:
      return fmt::format("{} {},{},{:#x}", name, rs1, rs2, pc + immediate);
    case Format::kUpper:
    case Format::kUpperPc:
      return fmt::format("{} {},{:#x}", name, rd, immediate >> 12);
    case Format::kJump:
      return fmt::format("{} {},{:#x}", name, rd, pc + immediate);
    case Format::kCsr:
      return fmt::format("{} {},{:#x},{}", name, rd, immediate, rs1);
    case Format::kCsrImmediate:
      return fmt::format("{} {},{:#x},{}", name, rd, immediate, Rs1Of(word));
  }
  return name;
}

const char* RegisterName(uint32_t reg) {
  static constexpr const char* kNames[32] = {"zero", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
                                             "s0",   "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
                                             "a6",   "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                             "s8",   "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
  return kNames[reg];
}

}  // namespace ttfd::sim
