// Copies, fills, compares and reverses bytes, half-words and words at every alignment that C allows.
#include "tests/isa/programs/programs.h"

namespace {

struct Packed {
  uint8_t a;
  uint16_t b;
  int8_t c;
  uint32_t d;
  int16_t e;
};

alignas(4) uint8_t g_from[300];
alignas(4) uint8_t g_to[300];
Packed g_records[20];

void Copy(uint8_t* to, const uint8_t* from, uint32_t size) {
  for (uint32_t i = 0; i < size; ++i) to[i] = from[i];
}
// Upwards or downwards, whichever keeps what has still to be read.
void Move(uint8_t* to, const uint8_t* from, uint32_t size) {
  if (to < from) return Copy(to, from, size);
  while (size-- > 0) to[size] = from[size];
}
void CopyWords(uint32_t* to, const uint32_t* from, uint32_t count) {
  for (; count >= 4; count -= 4, to += 4, from += 4) {
    const uint32_t a = from[0], b = from[1], c = from[2], d = from[3];
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
  }
  while (count-- > 0) *to++ = *from++;
}
int CompareBytes(const uint8_t* a, const uint8_t* b, uint32_t size) {
  for (uint32_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return a[i] - b[i];
  }
  return 0;
}
uint32_t Sum(const uint8_t* bytes, uint32_t size) {
  uint32_t sum = size;
  for (uint32_t i = 0; i < size; ++i) sum = (sum << 5 | sum >> 27) + bytes[i];
  return sum;
}

}  // namespace

void Blocks(uint32_t* results) {
  for (uint32_t i = 0; i < sizeof(g_from); ++i)
    g_from[i] = static_cast<uint8_t>(i * Unknown(37) >> 1);
  for (uint32_t from = 0; from < 4; ++from) {
    for (uint32_t to = 0; to < 4; ++to) {
      for (uint32_t i = 0; i < sizeof(g_to); ++i) g_to[i] = static_cast<uint8_t>(to);
      Copy(g_to + to, g_from + from, Unknown(100) + 7 * from);
      results[4 * from + to] = Sum(g_to, sizeof(g_to));
    }
  }
  CopyWords(reinterpret_cast<uint32_t*>(g_to), reinterpret_cast<uint32_t*>(g_from), Unknown(73));
  results[16] = Sum(g_to, sizeof(g_to));
  Move(g_to + 3, g_to, 200);
  Move(g_to, g_to + 5, 200);
  results[17] = Sum(g_to, sizeof(g_to));
  results[18] = static_cast<uint32_t>(CompareBytes(g_to, g_from, sizeof(g_to)));
  results[19] = static_cast<uint32_t>(CompareBytes(g_from, g_from, sizeof(g_from)));
  for (uint32_t i = 0; i < 20; ++i) {
    g_records[i] = {static_cast<uint8_t>(i * 50), static_cast<uint16_t>(i * 40000),
                    static_cast<int8_t>(i * 100), i * 0x12345678, static_cast<int16_t>(i * -3000)};
  }
  int32_t total = 0;
  for (const Packed& record : g_records) {
    total = total * 3 + record.a - record.b + record.c * record.e + static_cast<int32_t>(record.d);
  }
  results[20] = static_cast<uint32_t>(total);
}
