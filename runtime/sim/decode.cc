// The decoder: fields as the interpreter wants them.
#include "runtime/sim/decode.h"

#include "runtime/hw/tensix_isa.h"

namespace ttfd::sim {
namespace {

// Distance in the decoded table, in bytes, from `pc` to `pc + offset`. A target that is not an
// instruction of L1 becomes the guard entry behind the table, where fetching faults.
int32_t TableDistance(uint32_t pc, uint32_t offset) {
  uint32_t target = pc + offset;
  if (target >= hw::kL1Bytes || target % 4 != 0) target = hw::kL1Bytes;
  return static_cast<int32_t>(target - pc) * static_cast<int32_t>(sizeof(Decoded) / 4);
}

int32_t Immediate(Format format, uint32_t word, uint32_t pc) {
  const uint32_t immediate = ImmediateOf(format, word);
  switch (format) {
    case Format::kUpperPc:
      return static_cast<int32_t>(immediate + pc);
    case Format::kBranch:
    case Format::kJump:
      return TableDistance(pc, immediate);
    default:
      return static_cast<int32_t>(immediate);
  }
}

}  // namespace

Decoded Decode(uint32_t word, uint32_t pc) {
  Decoded decoded = {};
  decoded.link = pc + 4;
  const Encoding* const encoding = FindEncoding(word);
  if (encoding == nullptr) {
    const bool tensix = (word & 3) != 3;
    decoded.operation = static_cast<uint8_t>(tensix ? Operation::kTensix : Operation::kIllegal);
    if (tensix) decoded.immediate = static_cast<int32_t>(hw::tensix::InstructionOf(word));
    return decoded;
  }
  const Operands has = OperandsOf(encoding->format);
  const uint32_t rd = has.rd ? RdOf(word) : 0;
  decoded.operation = static_cast<uint8_t>(encoding->operation);
  decoded.rd = static_cast<uint8_t>(rd == 0 ? 32 : rd);
  decoded.rs1 = static_cast<uint8_t>(has.rs1 ? Rs1Of(word) : 0);
  decoded.rs2 = static_cast<uint8_t>(has.rs2 ? Rs2Of(word) : 0);
  if (encoding->format == Format::kCsrImmediate) decoded.rs2 = decoded.rs1;
  decoded.immediate = Immediate(encoding->format, word, pc);
  return decoded;
}

}  // namespace ttfd::sim
