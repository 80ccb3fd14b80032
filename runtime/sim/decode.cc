// The decoder: a table of encodings from instructions.inc, bucketed by opcode and funct3.
#include "runtime/sim/decode.h"

#include <array>
#include <vector>

namespace ttfd::sim {
namespace {

enum class Format : uint8_t {
  kNone,
  kRegister,
  kImmediate,
  kShift,
  kStore,
  kBranch,
  kUpper,
  kUpperPc,
  kJump,
  kCsr,           // immediate: the CSR's number
  kCsrImmediate,  // the same, and rs2: the 5-bit operand
};

struct Encoding {
  Operation operation;
  uint32_t match;
  uint32_t mask;
  Format format;
};

constexpr Encoding kEncodings[] = {
#define I(name, match, mask, format, ...) {Operation::k##name, match, mask, Format::format},
#include "runtime/sim/instructions.inc"
#undef I
};

constexpr uint32_t BucketOf(uint32_t word) {
  return ((word >> 2) & 0x1F) | ((word >> 12) & 7) << 5;
}

using Buckets = std::array<std::vector<Encoding>, 256>;

Buckets BuildBuckets() {
  Buckets buckets;
  for (const Encoding& encoding : kEncodings) {
    const bool any_funct3 = (encoding.mask & 0x7000) == 0;
    for (uint32_t funct3 = 0; funct3 < (any_funct3 ? 8u : 1u); ++funct3) {
      buckets[BucketOf(encoding.match | funct3 << 12)].push_back(encoding);
    }
  }
  return buckets;
}

// Sign-extended field: bits [high:low] of `word`, placed at bit `at`.
constexpr uint32_t Field(uint32_t word, uint32_t high, uint32_t low, uint32_t at) {
  return ((word >> low) & ((1u << (high - low + 1)) - 1)) << at;
}
constexpr uint32_t SignBit(uint32_t word, uint32_t at) { return (word >> 31) != 0 ? ~0u << at : 0; }

constexpr uint32_t ImmediateI(uint32_t word) { return Field(word, 30, 20, 0) | SignBit(word, 11); }
constexpr uint32_t ImmediateS(uint32_t word) {
  return Field(word, 30, 25, 5) | Field(word, 11, 7, 0) | SignBit(word, 11);
}
constexpr uint32_t ImmediateB(uint32_t word) {
  return Field(word, 7, 7, 11) | Field(word, 30, 25, 5) | Field(word, 11, 8, 1) | SignBit(word, 12);
}
constexpr uint32_t ImmediateJ(uint32_t word) {
  return Field(word, 19, 12, 12) | Field(word, 20, 20, 11) | Field(word, 30, 21, 1) |
         SignBit(word, 20);
}

// Distance in the decoded table, in bytes, from `pc` to `pc + offset`. A target that is not an
// instruction of L1 becomes the guard entry behind the table, where fetching faults.
int32_t TableDistance(uint32_t pc, uint32_t offset) {
  uint32_t target = pc + offset;
  if (target >= hw::kL1Bytes || target % 4 != 0) target = hw::kL1Bytes;
  return static_cast<int32_t>(target - pc) * static_cast<int32_t>(sizeof(Decoded) / 4);
}

int32_t Immediate(Format format, uint32_t word, uint32_t pc) {
  switch (format) {
    case Format::kNone:
    case Format::kRegister:
      return 0;
    case Format::kImmediate:
      return static_cast<int32_t>(ImmediateI(word));
    case Format::kShift:
      return static_cast<int32_t>((word >> 20) & 31);
    case Format::kStore:
      return static_cast<int32_t>(ImmediateS(word));
    case Format::kUpper:
      return static_cast<int32_t>(word & 0xFFFFF000u);
    case Format::kUpperPc:
      return static_cast<int32_t>((word & 0xFFFFF000u) + pc);
    case Format::kBranch:
      return TableDistance(pc, ImmediateB(word));
    case Format::kJump:
      return TableDistance(pc, ImmediateJ(word));
    case Format::kCsr:
    case Format::kCsrImmediate:
      return static_cast<int32_t>(word >> 20);
  }
  return 0;
}

// Which register fields a format has.
struct Operands {
  bool rd;
  bool rs1;
  bool rs2;
};

Operands OperandsOf(Format format) {
  switch (format) {
    case Format::kNone:
      return {false, false, false};
    case Format::kUpper:
    case Format::kUpperPc:
    case Format::kJump:
      return {true, false, false};
    case Format::kImmediate:
    case Format::kShift:
    case Format::kCsr:
    case Format::kCsrImmediate:
      return {true, true, false};
    case Format::kRegister:
      return {true, true, true};
    case Format::kStore:
    case Format::kBranch:
      return {false, true, true};
  }
  return {true, true, true};
}

}  // namespace

Decoded Decode(uint32_t word, uint32_t pc) {
  static const Buckets buckets = BuildBuckets();
  Decoded decoded = {};
  decoded.link = pc + 4;
  if ((word & 3) != 3) {
    decoded.operation = static_cast<uint8_t>(Operation::kTensix);
    return decoded;
  }
  for (const Encoding& encoding : buckets[BucketOf(word)]) {
    if ((word & encoding.mask) != encoding.match) continue;
    const Operands has = OperandsOf(encoding.format);
    const uint8_t rd = has.rd ? (word >> 7) & 31 : 0;
    decoded.operation = static_cast<uint8_t>(encoding.operation);
    decoded.rd = rd == 0 ? 32 : rd;
    decoded.rs1 = has.rs1 ? (word >> 15) & 31 : 0;
    decoded.rs2 = has.rs2 ? (word >> 20) & 31 : 0;
    if (encoding.format == Format::kCsrImmediate) decoded.rs2 = decoded.rs1;
    decoded.immediate = Immediate(encoding.format, word, pc);
    return decoded;
  }
  decoded.operation = static_cast<uint8_t>(Operation::kIllegal);
  return decoded;
}

}  // namespace ttfd::sim
