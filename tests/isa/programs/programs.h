// The compiled programs that the model and qemu-riscv32 execute alike. Each leaves up to kResultWords words.
#pragma once

#include <stdint.h>

inline constexpr uint32_t kResultWords = 64;

// Not known to the compiler, so that it has to compute.
uint32_t Unknown(uint32_t value);

void Checksums(uint32_t* results);
void Sha256(uint32_t* results);
void Sorting(uint32_t* results);
void WideNumbers(uint32_t* results);
void Blocks(uint32_t* results);
void Recursion(uint32_t* results);
void Switches(uint32_t* results);
void Bits(uint32_t* results);
void Atomics(uint32_t* results);
void Classes(uint32_t* results);
