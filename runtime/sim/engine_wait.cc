// Conditions of waiting instructions, in words.
#include "runtime/sim/engine_wait.h"

#include <fmt/format.h>

#include <bit>

#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim {

namespace isa = hw::tensix;

std::string DescribeEngineWait(uint32_t instruction, uint32_t events) {
  const uint32_t opcode = isa::OpcodeOf(instruction);
  if (opcode == isa::SEMWAIT::kOpcode) {
    const isa::SEMWAIT wait{instruction};
    return fmt::format("semaphore {} is {}", std::countr_zero(wait.sem_sel()),
                       wait.wait_sem_cond() == isa::kWhileZero ? "0" : "at its maximum");
  }
  // Unpackers wait for a bank to fill, everything else for one that is full.
  const bool unpacks = opcode == isa::UNPACR::kOpcode || opcode == isa::UNPACR_NOP::kOpcode;
  const bool a = (events & tensix::kSrcAEvent) != 0;
  const bool b = (events & tensix::kSrcBEvent) != 0;
  return fmt::format("{} no {} bank",
                     a && b ? "SrcA and SrcB have"
                     : a    ? "SrcA has"
                            : "SrcB has",
                     unpacks ? "free" : "valid");
}

}  // namespace ttfd::sim
