// The AMOs, written by hand: the compiler is not told of them, because it would use LR/SC too.
#include "tests/isa/programs/programs.h"

namespace {

uint32_t g_word;

#define AMO(name, text)                                                               \
  uint32_t name(uint32_t operand) {                                                   \
    uint32_t old;                                                                     \
    asm volatile(".option push\n.option arch, +a\n" text " %0, %2, (%1)\n.option pop" \
                 : "=&r"(old)                                                         \
                 : "r"(&g_word), "r"(operand)                                         \
                 : "memory");                                                         \
    return old;                                                                       \
  }

AMO(Add, "amoadd.w")
AMO(Swap, "amoswap.w.aq")
AMO(Xor, "amoxor.w.rl")
AMO(Or, "amoor.w.aqrl")
AMO(And, "amoand.w")
AMO(Min, "amomin.w")
AMO(Max, "amomax.w")
AMO(MinUnsigned, "amominu.w")
AMO(MaxUnsigned, "amomaxu.w")
#undef AMO

}  // namespace

void Atomics(uint32_t* results) {
  static uint32_t (*const kAmos[])(uint32_t) = {Add, Swap, Xor,         Or,         And,
                                                Min, Max,  MinUnsigned, MaxUnsigned};
  static const uint32_t kOperands[] = {1,          0xFFFFFFFF, 0x80000000, 0x7FFFFFFF,
                                       0x12345678, 0,          0xFFFF0000};
  g_word = Unknown(0xDEADBEEF);
  for (uint32_t i = 0; i < 9 * 7; ++i) {
    const uint32_t old = kAmos[i % 9](kOperands[i % 7]);
    asm volatile("fence rw, rw" : : : "memory");
    results[i] = old * 3 + g_word;
  }
}
