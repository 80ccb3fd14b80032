// memcpy and friends: gcc calls them for structure copies even when freestanding.
#include <stddef.h>
#include <stdint.h>

namespace {

bool WordAligned(const void* a, const void* b) {
  return ((reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b)) & 3) == 0;
}

}  // namespace

extern "C" {

void* memcpy(void* to, const void* from, size_t size) {
  auto* out = static_cast<uint8_t*>(to);
  const auto* in = static_cast<const uint8_t*>(from);
  if (WordAligned(to, from)) {
    while (size >= 16) {
      const auto* source = reinterpret_cast<const uint32_t*>(in);
      auto* target = reinterpret_cast<uint32_t*>(out);
      const uint32_t a = source[0], b = source[1], c = source[2], d = source[3];
      target[0] = a, target[1] = b, target[2] = c, target[3] = d;
      in += 16, out += 16, size -= 16;
    }
    while (size >= 4) {
      *reinterpret_cast<uint32_t*>(out) = *reinterpret_cast<const uint32_t*>(in);
      in += 4, out += 4, size -= 4;
    }
  }
  while (size != 0) {
    *out++ = *in++, --size;
  }
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  auto* out = static_cast<uint8_t*>(to);
  const auto* in = static_cast<const uint8_t*>(from);
  if (out <= in || out >= in + size) {
    return memcpy(to, from, size);  // copies upwards
  }
  while (size != 0) {
    --size;
    out[size] = in[size];
  }
  return to;
}

void* memset(void* to, int value, size_t size) {
  auto* out = static_cast<uint8_t*>(to);
  const uint32_t word = static_cast<uint8_t>(value) * 0x01010101u;
  while (size != 0 && (reinterpret_cast<uintptr_t>(out) & 3) != 0) {
    *out++ = static_cast<uint8_t>(value), --size;
  }
  while (size >= 4) {
    *reinterpret_cast<uint32_t*>(out) = word;
    out += 4, size -= 4;
  }
  while (size != 0) {
    *out++ = static_cast<uint8_t>(value), --size;
  }
  return to;
}

int memcmp(const void* a, const void* b, size_t size) {
  const auto* left = static_cast<const uint8_t*>(a);
  const auto* right = static_cast<const uint8_t*>(b);
  for (; size != 0; --size, ++left, ++right) {
    if (*left != *right) {
      return *left - *right;
    }
  }
  return 0;
}

}  // extern "C"
