// A table of encodings from instructions.inc, bucketed by opcode and funct3.
#include "runtime/sim/encoding.h"

#include <array>
#include <vector>

namespace ttfd::sim {
namespace {

constexpr Encoding kEncodings[] = {
#define I(name, match, mask, format, ...) {Operation::k##name, #name, match, mask, Format::format},
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

// Bits [high:low] of `word`, placed at bit `at`.
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

}  // namespace

const Encoding* FindEncoding(uint32_t word) {
  static const Buckets buckets = BuildBuckets();
  if ((word & 3) != 3) return nullptr;
  for (const Encoding& encoding : buckets[BucketOf(word)]) {
    if ((word & encoding.mask) == encoding.match) return &encoding;
  }
  return nullptr;
}

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

uint32_t ImmediateOf(Format format, uint32_t word) {
  switch (format) {
    case Format::kNone:
    case Format::kRegister:
      return 0;
    case Format::kImmediate:
      return ImmediateI(word);
    case Format::kShift:
      return (word >> 20) & 31;
    case Format::kStore:
      return ImmediateS(word);
    case Format::kUpper:
    case Format::kUpperPc:
      return word & 0xFFFFF000u;
    case Format::kBranch:
      return ImmediateB(word);
    case Format::kJump:
      return ImmediateJ(word);
    case Format::kCsr:
    case Format::kCsrImmediate:
      return word >> 20;
  }
  return 0;
}

}  // namespace ttfd::sim
