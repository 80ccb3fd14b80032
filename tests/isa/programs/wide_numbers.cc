// 64-bit arithmetic, much of it in libgcc: multiplication, division, shifts, comparison.
#include "tests/isa/programs/programs.h"

namespace {

const uint32_t kHalves[] = {0,          1,          2,          10,         0x7FFFFFFF,
                            0x80000000, 0x80000001, 0xFFFFFFFF, 0xDEADBEEF, 1000000007};
constexpr uint32_t kCount = sizeof(kHalves) / sizeof(kHalves[0]);

uint64_t g_hash;

void Mix(uint64_t value) {
  g_hash ^= value;
  g_hash *= 0x100000001B3u;
  g_hash = g_hash << 23 | g_hash >> 41;
}

void Pair(uint64_t a, uint64_t b) {
  const auto sa = static_cast<int64_t>(a);
  const auto sb = static_cast<int64_t>(b);
  Mix(a * b);
  Mix(a + b);
  Mix(a - b);
  Mix(a < b);
  Mix(sa < sb);
  const uint32_t by = static_cast<uint32_t>(b) & 63;
  Mix(a << by);
  Mix(a >> by);
  Mix(static_cast<uint64_t>(sa >> by));
  if (b == 0) return;
  Mix(a / b);
  Mix(a % b);
  if (sb == -1) return;  // the quotient may not fit
  Mix(static_cast<uint64_t>(sa / sb));
  Mix(static_cast<uint64_t>(sa % sb));
}

uint64_t PowerModulo(uint64_t base, uint32_t exponent, uint64_t modulus) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = result * base % modulus;
    base = base * base % modulus;
  }
  return result;
}

}  // namespace

void WideNumbers(uint32_t* results) {
  g_hash = 14695981039346656037u;
  for (uint32_t i = 0; i < kCount * kCount; ++i) {
    for (uint32_t j = 0; j < kCount; ++j) {
      const uint64_t a =
          static_cast<uint64_t>(Unknown(kHalves[i / kCount])) << 32 | kHalves[i % kCount];
      const uint64_t b = static_cast<uint64_t>(kHalves[j]) << 32 | kHalves[(i + j) % kCount];
      Pair(a, b);
      Pair(a, kHalves[j]);
    }
  }
  results[0] = static_cast<uint32_t>(g_hash);
  results[1] = static_cast<uint32_t>(g_hash >> 32);
  const uint64_t power = PowerModulo(Unknown(3), 1000003, 4294967291u);
  results[2] = static_cast<uint32_t>(power);
  // 20! by digits of 10.
  uint64_t factorial = 1;
  for (uint32_t i = 2; i <= 20; ++i) factorial *= Unknown(i);
  for (uint32_t i = 0; i < 19; ++i) {
    results[3 + i] = static_cast<uint32_t>(factorial % 10);
    factorial /= 10;
  }
}
