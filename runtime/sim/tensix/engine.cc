// From opcodes to units.
#include "runtime/sim/tensix/engine.h"

#include <array>

#include "runtime/sim/tensix/opcodes.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

// How long instructions take, in nominal nanoseconds, for Report::work. Constants, so that the model does the same on
// every host.
constexpr uint32_t WorkOf(uint32_t opcode, isa::Unit unit) {
  switch (opcode) {
    case isa::MVMUL::kOpcode:
      return 330;
    case isa::ELWMUL::kOpcode:
    case isa::ELWADD::kOpcode:
    case isa::ELWSUB::kOpcode:
      return 220;
    case isa::GAPOOL::kOpcode:
    case isa::GMPOOL::kOpcode:
      return 180;
    case isa::UNPACR::kOpcode:
    case isa::UNPACR_NOP::kOpcode:
      return 50;
    default:
      return unit == isa::Unit::kSfpu ? 15 : 5;
  }
}

constexpr auto kWork = [] {
  std::array<uint16_t, kOpcodes.size()> work{};
  for (uint32_t i = 0; i < work.size(); ++i) {
    work[i] = static_cast<uint16_t>(WorkOf(i, kOpcodes[i].unit));
  }
  return work;
}();

}  // namespace

Outcome Engine::Push(uint32_t thread, uint32_t instruction) {
  const Opcode& opcode = OpcodeAt(instruction);
  if ((instruction & ~opcode.known_bits) != 0) [[unlikely]] {
    return opcode.known_bits == 0
               ? report_.Refuse("opcode", "the engine has no such instruction")
               : report_.Refuse("unused bits", "bits that belong to no field are 0");
  }
  const Outcome outcome = opcode.unit == isa::Unit::kSfpu ? sfpu_.Execute(thread, instruction)
                                                          : Dispatch(thread, instruction);
  if (outcome == Outcome::kDone) report_.work += kWork[isa::OpcodeOf(instruction)];
  return outcome;
}

Outcome Engine::Dispatch(uint32_t thread, uint32_t instruction) {
#define TO(name, call)     \
  case isa::name::kOpcode: \
    return call
  switch (isa::OpcodeOf(instruction)) {
    TO(NOP, Outcome::kDone);
    TO(MVMUL, fpu_.Execute(thread, isa::MVMUL{instruction}));
    TO(ELWMUL, fpu_.Execute(thread, isa::ELWMUL{instruction}));
    TO(ELWADD, fpu_.Execute(thread, isa::ELWADD{instruction}));
    TO(ELWSUB, fpu_.Execute(thread, isa::ELWSUB{instruction}));
    TO(GAPOOL, fpu_.Execute(thread, isa::GAPOOL{instruction}));
    TO(GMPOOL, fpu_.Execute(thread, isa::GMPOOL{instruction}));
    TO(ZEROACC, fpu_.Execute(thread, isa::ZEROACC{instruction}));
    TO(SETRWC, fpu_.Execute(thread, isa::SETRWC{instruction}));
    TO(INCRWC, fpu_.Execute(thread, isa::INCRWC{instruction}));
    TO(CLEARDVALID, fpu_.Execute(thread, isa::CLEARDVALID{instruction}));
    TO(MOVA2D, moves_.Execute(thread, isa::MOVA2D{instruction}));
    TO(MOVB2D, moves_.Execute(thread, isa::MOVB2D{instruction}));
    TO(MOVD2A, moves_.Execute(thread, isa::MOVD2A{instruction}));
    TO(MOVD2B, moves_.Execute(thread, isa::MOVD2B{instruction}));
    TO(MOVB2A, moves_.Execute(thread, isa::MOVB2A{instruction}));
    TO(TRNSPSRCB, moves_.Execute(thread, isa::TRNSPSRCB{instruction}));
    TO(ZEROSRC, moves_.Execute(thread, isa::ZEROSRC{instruction}));
    TO(UNPACR, unpackers_.Execute(thread, isa::UNPACR{instruction}));
    TO(UNPACR_NOP, unpackers_.Execute(thread, isa::UNPACR_NOP{instruction}));
    TO(PACR, packer_.Execute(thread, isa::PACR{instruction}));
    TO(SETADC, counters_.Execute(thread, isa::SETADC{instruction}));
    TO(SETADCXX, counters_.Execute(thread, isa::SETADCXX{instruction}));
    TO(SETADCXY, counters_.Execute(thread, isa::SETADCXY{instruction}));
    TO(SETADCZW, counters_.Execute(thread, isa::SETADCZW{instruction}));
    TO(STALLWAIT, semaphores_.Stall(isa::STALLWAIT{instruction}, src_a_, src_b_));
    TO(SEMINIT, semaphores_.Init(isa::SEMINIT{instruction}));
    TO(SEMPOST, semaphores_.Post(isa::SEMPOST{instruction}));
    TO(SEMGET, semaphores_.Get(isa::SEMGET{instruction}));
    TO(SEMWAIT, semaphores_.Wait(isa::SEMWAIT{instruction}));
    TO(SETC16, config_.SetThreadWord(thread, isa::SETC16{instruction}));
    TO(RMWCIB0, config_.MergeByte(0, instruction));
    TO(RMWCIB1, config_.MergeByte(1, instruction));
    TO(RMWCIB2, config_.MergeByte(2, instruction));
    TO(RMWCIB3, config_.MergeByte(3, instruction));
    TO(WRCFG, WriteConfigFromGprs(thread, isa::WRCFG{instruction}));
    TO(SETDMAREG, SetHalfGpr(thread, isa::SETDMAREG{instruction}));
    default:
      return report_.Refuse("opcode", "the model does not execute this instruction");
  }
#undef TO
}

Outcome Engine::SetHalfGpr(uint32_t thread, isa::SETDMAREG instruction) {
  if (instruction.set_signals_mode() != 0) {
    return report_.Refuse("set_signals_mode", "the model sets registers from constants only");
  }
  const uint32_t value = instruction.payload_sig_sel() | instruction.payload_sig_sel_size() << 14;
  uint32_t& gpr = gprs_[thread][instruction.reg_index_16b() / 2];
  const isa::Field half = {instruction.reg_index_16b() % 2 * 16, 16};
  gpr = half.In(gpr, value);
  return Outcome::kDone;
}

Outcome Engine::WriteConfigFromGprs(uint32_t thread, isa::WRCFG instruction) {
  const uint32_t words = instruction.wr128b() != 0 ? 4 : 1;
  const uint32_t gpr = instruction.gpr_address();
  const uint32_t word = instruction.cfg_reg();
  if (gpr % words != 0 || word % words != 0) {
    return report_.Refuse("wr128b", "four words begin at multiples of 4");
  }
  for (uint32_t i = 0; i < words; ++i) {
    const Outcome outcome = config_.Write(word + i, gprs_[thread][gpr + i]);
    if (outcome != Outcome::kDone) return outcome;
  }
  return Outcome::kDone;
}

}  // namespace ttfd::sim::tensix
