// The registers of the reset vectors.
#include "runtime/sim/reset_vectors.h"

namespace ttfd::sim {

uint32_t ResetVectors::PcOf(uint32_t hart) const {
  if (hart == hw::kBrisc) return 0;
  if (hart == hw::kNcrisc) return ncrisc_override_ != 0 ? ncrisc_pc_ : hw::kNcriscDefaultPc;
  const uint32_t trisc = hart - hw::kTrisc0;
  return (trisc_override_ >> trisc & 1) != 0 ? trisc_pc_[trisc] : hw::kTriscDefaultPc[trisc];
}

Refusal ResetVectors::Read(uint32_t address, uint32_t* value) const {
  if (address == hw::kTriscResetPcOverride) {
    *value = trisc_override_;
    return {};
  }
  if (address > hw::kTriscResetPcOverride) {
    return {FaultKind::kUnsupportedRegister, address, "the register is write only"};
  }
  *value = trisc_pc_[(address - hw::kTriscResetPc) / 4];
  return {};
}

Refusal ResetVectors::Write(uint32_t address, uint32_t value) {
  const bool of_triscs = address == hw::kTriscResetPcOverride;
  if (of_triscs || address == hw::kNcriscResetPcOverride) {
    if ((value & ~(of_triscs ? 7u : 1u)) != 0) {
      return {FaultKind::kUnsupportedValue, address, "one override bit a core"};
    }
    (of_triscs ? trisc_override_ : ncrisc_override_) = value;
    return {};
  }
  if (value >= hw::kL1Bytes || value % 4 != 0) {
    return {FaultKind::kUnsupportedValue, address, "a reset PC is a multiple of 4 inside L1"};
  }
  (address == hw::kNcriscResetPc ? ncrisc_pc_ : trisc_pc_[(address - hw::kTriscResetPc) / 4]) =
      value;
  return {};
}

}  // namespace ttfd::sim
