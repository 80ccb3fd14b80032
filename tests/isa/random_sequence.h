// Random instruction sequences that a hart of the model and a Linux process of an emulator execute alike.
//
// A sequence owns a block of memory: the 32 registers, 64 words that it loads, stores and changes by AMOs, and 16
// words that it copies to local RAM when it begins. It loads its registers from the block, executes its items and
// stores registers and local RAM back, so afterwards the block is the result. One register, another one in each
// sequence, holds the address of the block all the time. Loops end, addresses are in bounds and aligned; everything
// else is left to chance: instructions, registers, values with a liking for the corners.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/rv32_asm.h"

namespace ttfd::testing {

inline constexpr uint32_t kBlockRegisters = 0;  // words of the block
inline constexpr uint32_t kBlockData = 32;
inline constexpr uint32_t kBlockDataWords = 64;
inline constexpr uint32_t kBlockLocal = kBlockData + kBlockDataWords;
inline constexpr uint32_t kBlockLocalWords = 16;
inline constexpr uint32_t kBlockWords = kBlockLocal + kBlockLocalWords;
using SequenceBlock = std::array<uint32_t, kBlockWords>;

inline constexpr uint32_t kSequenceItems = 80;

// Equal specs give equal sequences; fewer items a beginning of the same one.
struct SequenceSpec {
  uint32_t seed = 0;
  uint32_t items = kSequenceItems;
};

// What the block holds when the sequence begins.
SequenceBlock InitialBlock(const SequenceSpec& spec);

// Appends the sequence's code; its block lies at `block`.
void EmitSequence(const SequenceSpec& spec, uint32_t block, Rv32Asm* code);

// Names of the rows of instructions.inc that sequences are made of, and of those that no user process can execute.
const std::vector<std::string>& RandomInstructions();
const std::vector<std::string>& OtherInstructions();

}  // namespace ttfd::testing
