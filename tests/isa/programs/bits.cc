// Bit manipulation: what Zba and Zbb are for, and plain code where they are missing.
#include "tests/isa/programs/programs.h"

namespace {

const uint32_t kValues[] = {0,          1,          0x80,       0xFF,       0x8000,
                            0xFFFF,     0x10000,    0x00FF00FF, 0x12345678, 0x7FFFFFFF,
                            0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF};
constexpr uint32_t kCount = sizeof(kValues) / sizeof(kValues[0]);

uint32_t Left(uint32_t value, uint32_t by) { return value << (by & 31) | value >> (-by & 31); }
uint32_t Right(uint32_t value, uint32_t by) { return value >> (by & 31) | value << (-by & 31); }

uint32_t Reverse(uint32_t value) {
  value = (value & 0x55555555) << 1 | (value >> 1 & 0x55555555);
  value = (value & 0x33333333) << 2 | (value >> 2 & 0x33333333);
  value = (value & 0x0F0F0F0F) << 4 | (value >> 4 & 0x0F0F0F0F);
  return __builtin_bswap32(value);
}

uint32_t One(uint32_t value) {
  uint32_t sum = static_cast<uint32_t>(__builtin_popcount(value));
  sum = sum * 33 + (value == 0 ? 32 : static_cast<uint32_t>(__builtin_clz(value)));
  sum = sum * 33 + (value == 0 ? 32 : static_cast<uint32_t>(__builtin_ctz(value)));
  sum = sum * 33 + static_cast<uint32_t>(__builtin_parity(value));
  sum = sum * 33 + Reverse(value);
  sum = sum * 33 + static_cast<uint32_t>(static_cast<int8_t>(value));
  sum = sum * 33 + static_cast<uint32_t>(static_cast<int16_t>(value));
  sum = sum * 33 + static_cast<uint16_t>(value);
  return sum * 33 + Left(value, 7);
}

uint32_t Two(uint32_t a, uint32_t b) {
  const auto sa = static_cast<int32_t>(a);
  const auto sb = static_cast<int32_t>(b);
  uint32_t sum = (a & ~b) + 3 * (a | ~b) + 5 * ~(a ^ b);
  sum = sum * 17 + (a < b ? a : b);
  sum = sum * 17 + (a > b ? a : b);
  sum = sum * 17 + static_cast<uint32_t>(sa < sb ? sa : sb);
  sum = sum * 17 + static_cast<uint32_t>(sa > sb ? sa : sb);
  sum = sum * 17 + Left(a, b) + Right(a, b);
  sum = sum * 17 + (a * 2 + b) + (a * 4 + b) * 3 + (a * 8 + b) * 5;
  return sum;
}

}  // namespace

void Bits(uint32_t* results) {
  for (uint32_t i = 0; i < kCount; ++i) {
    const uint32_t a = Unknown(kValues[i]);
    results[i] = One(a);
    for (uint32_t j = 0; j < kCount; ++j) {
      results[16 + i] = results[16 + i] * 31 + Two(a, Unknown(kValues[j]));
    }
    static uint32_t table[64];
    table[a >> 26] += a;  // an index that is scaled
    results[32 + i] = table[(a >> 26 ^ 1) & 63];
  }
}
