// Runs every program; the results lie one after the other where the test looks.
#include "tests/isa/programs/programs.h"

namespace {
uint32_t g_zero;
}  // namespace

uint32_t Unknown(uint32_t value) {
  asm volatile("" : "+r"(g_zero));
  return value + g_zero;
}

[[gnu::section(".results")]] uint32_t g_results[10][kResultWords];

extern "C" void Main() {
  Checksums(g_results[0]);
  Sha256(g_results[1]);
  Sorting(g_results[2]);
  WideNumbers(g_results[3]);
  Blocks(g_results[4]);
  Recursion(g_results[5]);
  Switches(g_results[6]);
  Bits(g_results[7]);
  Atomics(g_results[8]);
  Classes(g_results[9]);
}
