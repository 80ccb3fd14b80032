// CRC-32 by bits and by a table, Adler-32, FNV-1a.
#include "tests/isa/programs/programs.h"

namespace {

uint8_t g_text[1024];
uint32_t g_table[256];

uint32_t CrcByBits(const uint8_t* data, uint32_t size) {
  uint32_t crc = ~0u;
  for (uint32_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xEDB88320 & (0 - (crc & 1)));
  }
  return ~crc;
}

uint32_t CrcByTable(const uint8_t* data, uint32_t size) {
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t entry = i;
    for (int bit = 0; bit < 8; ++bit) {
      entry = (entry & 1) != 0 ? entry >> 1 ^ 0xEDB88320 : entry >> 1;
    }
    g_table[i] = entry;
  }
  uint32_t crc = ~0u;
  for (uint32_t i = 0; i < size; ++i) crc = g_table[(crc ^ data[i]) & 0xFF] ^ crc >> 8;
  return ~crc;
}

}  // namespace

void Checksums(uint32_t* results) {
  uint32_t state = Unknown(12345);
  for (uint8_t& byte : g_text) {
    state = state * 1103515245 + 12345;
    byte = static_cast<uint8_t>(state >> 16);
  }
  uint32_t a = 1, b = 0, fnv = 0x811C9DC5;
  for (const uint8_t byte : g_text) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
    fnv = (fnv ^ byte) * 0x01000193;
  }
  results[0] = CrcByBits(g_text, sizeof(g_text));
  results[1] = CrcByTable(g_text, sizeof(g_text));
  results[2] = b << 16 | a;
  results[3] = fnv;
  static const char kCheck[] = "123456789";
  results[4] = CrcByBits(reinterpret_cast<const uint8_t*>(kCheck), 9);  // 0xCBF43926
}
