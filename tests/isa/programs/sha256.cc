// SHA-256 of a few messages; the round constants are computed from the primes, by integers.
#include "tests/isa/programs/programs.h"

namespace {

uint32_t g_round[64];
uint32_t g_start[8];

// The first 32 bits behind the point of the root: floor(root(prime) * 2^32) mod 2^32, by trying bits of the root.
bool PowerFits(uint64_t root, uint32_t prime, int power) {
  // root is scaled by 2^32 and below 8 * 2^32; compares root^power with prime * 2^(32 * power) digit by digit.
  uint32_t product[6] = {1, 0, 0, 0, 0, 0};
  for (int i = 0; i < power; ++i) {
    uint32_t next[6] = {};
    for (int digit = 0; digit < 6; ++digit) {
      uint64_t carry = 0;
      const uint32_t halves[2] = {static_cast<uint32_t>(root), static_cast<uint32_t>(root >> 32)};
      for (int half = 0; half < 2 && digit + half < 6; ++half) {
        int at = digit + half;
        carry = static_cast<uint64_t>(product[digit]) * halves[half];
        while (carry != 0 && at < 6) {
          carry += next[at];
          next[at++] = static_cast<uint32_t>(carry);
          carry >>= 32;
        }
      }
    }
    for (int digit = 0; digit < 6; ++digit) product[digit] = next[digit];
  }
  for (int digit = 5; digit > power; --digit) {
    if (product[digit] != 0) return false;
  }
  return product[power] < prime;
}

uint32_t FractionOfRoot(uint32_t prime, int power) {
  uint64_t root = 0;
  for (int bit = 36; bit >= 0; --bit) {
    const uint64_t tried = root | static_cast<uint64_t>(1) << bit;
    if (PowerFits(tried, prime, power)) root = tried;
  }
  return static_cast<uint32_t>(root);
}

void MakeConstants() {
  uint32_t found = 0;
  for (uint32_t number = 2; found < 64; ++number) {
    bool prime = true;
    for (uint32_t divisor = 2; divisor * divisor <= number; ++divisor) {
      if (number % divisor == 0) prime = false;
    }
    if (!prime) continue;
    if (found < 8) g_start[found] = FractionOfRoot(number, 2);
    g_round[found++] = FractionOfRoot(number, 3);
  }
}

uint32_t Rotate(uint32_t value, int by) { return value >> by | value << (32 - by); }

void Block(const uint8_t* data, uint32_t* state) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = static_cast<uint32_t>(data[4 * i]) << 24 | data[4 * i + 1] << 16 | data[4 * i + 2] << 8 |
           data[4 * i + 3];
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = Rotate(w[i - 15], 7) ^ Rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t s1 = Rotate(w[i - 2], 17) ^ Rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint32_t v[8];
  for (int i = 0; i < 8; ++i) v[i] = state[i];
  for (int i = 0; i < 64; ++i) {
    const uint32_t s1 = Rotate(v[4], 6) ^ Rotate(v[4], 11) ^ Rotate(v[4], 25);
    const uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
    const uint32_t first = v[7] + s1 + choice + g_round[i] + w[i];
    const uint32_t s0 = Rotate(v[0], 2) ^ Rotate(v[0], 13) ^ Rotate(v[0], 22);
    const uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    for (int j = 7; j > 0; --j) v[j] = v[j - 1];
    v[4] += first;
    v[0] = first + s0 + majority;
  }
  for (int i = 0; i < 8; ++i) state[i] += v[i];
}

void Digest(const char* text, uint32_t size, uint32_t* state) {
  for (int i = 0; i < 8; ++i) state[i] = g_start[i];
  uint8_t block[64];
  uint32_t used = 0;
  for (uint32_t i = 0; i < size; ++i) {
    block[used++] = static_cast<uint8_t>(text[i]);
    if (used == 64) {
      Block(block, state);
      used = 0;
    }
  }
  block[used++] = 0x80;
  if (used > 56) {
    while (used < 64) block[used++] = 0;
    Block(block, state);
    used = 0;
  }
  while (used < 60) block[used++] = 0;
  const uint32_t bits = size * 8;
  for (int shift = 24; shift >= 0; shift -= 8) block[used++] = static_cast<uint8_t>(bits >> shift);
  Block(block, state);
}

}  // namespace

void Sha256(uint32_t* results) {
  static const char kText[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  MakeConstants();
  Digest(kText, Unknown(3), results);  // "abc": begins with 0xBA7816BF
  Digest(kText, 0, results + 8);
  Digest(kText, Unknown(56), results + 16);  // 0x248D6A61
}
