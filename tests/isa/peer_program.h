// Programs that are executed twice, by the model and by qemu-riscv32, byte for byte the same but for how they end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/sim/inspector.h"
#include "tests/isa/random_sequence.h"

namespace ttfd::testing {

// Where programs lie on both machines: above what Linux keeps a process from mapping, inside L1.
inline constexpr uint32_t kPeerBase = 0x20000;

// What is at kPeerBase when a program starts, and the part of it that is the result when it has ended.
struct PeerProgram {
  std::vector<std::byte> for_qemu;
  std::vector<std::byte> for_model;  // of the same size
  uint32_t entry = 0;
  uint32_t result = 0;
  uint32_t result_bytes = 0;
};

// What a program left, and how many instructions that took; qemu does not say.
struct PeerResult {
  std::vector<std::byte> bytes;
  uint64_t instructions = 0;
};

// Why nothing can be run under qemu-riscv32; empty: it can.
std::string QemuMissing();

// The results. An error: qemu died or said something, or the model faulted or never came to rest. `options` is for the
// embedded device, `inspector` (may be null) watches it.
StatusOr<PeerResult> RunUnderQemu(const PeerProgram& program);
StatusOr<PeerResult> RunOnModel(const PeerProgram& program, const std::string& options,
                                sim::Inspector* inspector = nullptr);

// The last instructions of a program: they leave results with whoever started the process, or come to rest.
void EmitQemuEnd(uint32_t result, uint32_t bytes, Rv32Asm* code);
void EmitModelEnd(Rv32Asm* code);

}  // namespace ttfd::testing
