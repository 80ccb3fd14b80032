// Instructions of a tile's Tensix engine as values, for the model, the kernel SDK and the disassembler.
//
//   constexpr MVMUL multiply = MVMUL{}.dst(8).addr_mode(1);   // build: fields not named are 0
//   if (MVMUL{word}.dst() % 8 != 0) ...                       // read
//
// Each row of tensix_instructions.inc is a type here, under its public name. A value that does not fit its field does
// not compile in a constant expression; at run time its high bits are dropped.
//
// A hart emits an instruction in two ways (tt-isa-documentation
// BlackholeA0/TensixTile/BabyRISCV/PushTensixInstruction.md): by storing it to a push address, or as a word of its own
// code whose low two bits are not 3: the instruction rotated left by 2.
#pragma once

#include <stdint.h>

namespace ttfd::hw::tensix {

// Units of the engine: what a STALLWAIT blocks (Sync: semaphores and waits; FrontEnd: what the expanders take).
enum class Unit : uint8_t {
  kFrontEnd,
  kAdc,
  kSync,
  kPack,
  kUnpack,
  kMover,
  kThcon,
  kMath,
  kConfig,
  kSfpu,
};

// No constant expression may call it: the call is the compiler's error message.
inline void FieldValueIsTooLarge() {}

struct Field {
  uint32_t low;   // lowest bit
  uint32_t bits;  // width

  constexpr uint32_t mask() const { return bits == 32 ? ~0u : ((1u << bits) - 1) << low; }
  constexpr uint32_t Of(uint32_t word) const { return (word & mask()) >> low; }
  // `word` with `value` in this field.
  constexpr uint32_t In(uint32_t word, uint32_t value) const {
    if (__builtin_is_constant_evaluated() && (value << low & ~mask()) != 0) FieldValueIsTooLarge();
    return (word & ~mask()) | (value << low & mask());
  }
};

#define TENSIX(name, opcode, unit, ...)         \
  struct name {                                 \
    using Self = name;                          \
    static constexpr uint32_t kOpcode = opcode; \
    static constexpr Unit kUnit = Unit::unit;   \
    uint32_t word = uint32_t{opcode} << 24;     \
    __VA_ARGS__                                 \
  };
#define FIELD(name, low, bits)                                          \
  constexpr uint32_t name() const { return Field{low, bits}.Of(word); } \
  constexpr Self name(uint32_t value) const { return {Field{low, bits}.In(word, value)}; }
#include "runtime/hw/tensix_instructions.inc"
#undef FIELD
#undef TENSIX

constexpr uint32_t OpcodeOf(uint32_t instruction) { return instruction >> 24; }

// An instruction as a word of a hart's code, and back. No opcode is 0xC0 or above, so the low two bits of the word are
// not 3.
constexpr uint32_t InlineWord(uint32_t instruction) { return instruction << 2 | instruction >> 30; }
constexpr uint32_t InstructionOf(uint32_t inline_word) {
  return inline_word >> 2 | inline_word << 30;
}

// STALLWAIT: units that wait (stall_res), and conditions they wait for (wait_res).
inline constexpr uint32_t kStallTdma = 1u << 0;  // ADC instructions, packer, unpackers, Thcon
inline constexpr uint32_t kStallSync = 1u << 1;
inline constexpr uint32_t kStallPack = 1u << 2;
inline constexpr uint32_t kStallUnpack = 1u << 3;
inline constexpr uint32_t kStallMover = 1u << 4;
inline constexpr uint32_t kStallThcon = 1u << 5;
inline constexpr uint32_t kStallMath = 1u << 6;
inline constexpr uint32_t kStallConfig = 1u << 7;
inline constexpr uint32_t kStallSfpu = 1u << 8;
inline constexpr uint32_t kUntilThcon = 1u << 0;    // instructions of Thcon are done
inline constexpr uint32_t kUntilUnpack0 = 1u << 1;  // the unpacker is idle
inline constexpr uint32_t kUntilUnpack1 = 1u << 2;
inline constexpr uint32_t kUntilPack = 1u << 3;       // the packer is idle
inline constexpr uint32_t kUntilMath = 1u << 4;       // the FPU is idle
inline constexpr uint32_t kUntilSrcAValid = 1u << 7;  // the FPU's bank is valid
inline constexpr uint32_t kUntilSrcBValid = 1u << 8;
inline constexpr uint32_t kUntilConfig = 1u
                                         << 10;  // configuration stored by the own hart has arrived
inline constexpr uint32_t kUntilSfpu = 1u << 11;  // the SFPU is idle

// SEMWAIT: wait_sem_cond.
inline constexpr uint32_t kWhileZero = 1;
inline constexpr uint32_t kWhileAtMax = 2;

inline constexpr uint32_t kSemaphores = 8;
inline constexpr uint32_t kSemaphoreMax = 15;
inline constexpr uint32_t kThreads = 3;  // T0, T1, T2: of TRISC0, TRISC1, TRISC2

// Datum formats (tt-isa-documentation BlackholeA0/TensixTile/TensixCoprocessor; ttsim's names).
enum class Format : uint32_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kBfp8A = 2,
  kBfp4A = 3,
  kTf32 = 4,
  kFloat16B = 5,  // bfloat16
  kBfp8B = 6,
  kBfp4B = 7,
  kInt32 = 8,
  kUInt16 = 9,
  kFp8 = 10,
  kBfp2A = 11,
  kInt8 = 14,
  kBfp2B = 15,
};

}  // namespace ttfd::hw::tensix
