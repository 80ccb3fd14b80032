// Switch tables, sparse switches and a small byte-code machine.
#include "tests/isa/programs/programs.h"

namespace {

enum Code : uint8_t {
  kPush,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kShift,
  kSwap,
  kCopy,
  kDrop,
  kBack,
  kEnd
};

uint32_t Execute(const uint8_t* code, uint32_t start) {
  uint32_t stack[16] = {start};
  uint32_t depth = 1;
  uint32_t left = 500;
  for (uint32_t at = 0; left-- > 0;) {
    switch (code[at++]) {
      case kPush:
        stack[depth++] = code[at++];
        break;
      case kAdd:
        --depth;
        stack[depth - 1] += stack[depth];
        break;
      case kSubtract:
        --depth;
        stack[depth - 1] -= stack[depth];
        break;
      case kMultiply:
        --depth;
        stack[depth - 1] *= stack[depth];
        break;
      case kDivide:
        --depth;
        stack[depth - 1] /= stack[depth] | 1;
        break;
      case kShift:
        --depth;
        stack[depth - 1] = stack[depth - 1] << (stack[depth] & 31) | stack[depth - 1] >> 3;
        break;
      case kSwap: {
        const uint32_t held = stack[depth - 1];
        stack[depth - 1] = stack[depth - 2];
        stack[depth - 2] = held;
        break;
      }
      case kCopy:
        stack[depth] = stack[depth - 1];
        ++depth;
        break;
      case kDrop:
        --depth;
        break;
      case kBack:
        if (stack[depth - 1] != 0) {
          at -= code[at];
        } else {
          ++at;
        }
        break;
      case kEnd:
        return stack[0];
      default:
        return ~0u;
    }
  }
  return stack[0];
}

uint32_t Sparse(uint32_t value) {
  switch (value) {
    case 0:
      return 3;
    case 17:
      return 1;
    case 1000:
      return 4;
    case 65536:
      return 15;
    case 0x7FFFFFFF:
      return 9;
    case 0x80000000:
      return 26;
    case 0xFFFFFFFF:
      return 5;
    default:
      return value % 7;
  }
}

uint32_t Dense(uint32_t value, uint32_t other) {
  switch (value & 15) {
    case 0:
      return other + 1;
    case 1:
      return other - 1;
    case 2:
      return other * 3;
    case 3:
      return other / 3;
    case 4:
      return other % 5;
    case 5:
      return ~other;
    case 6:
      return other << 2;
    case 7:
      return other >> 2;
    case 8:
      return other ^ 0x5A5A5A5A;
    case 9:
      return other & 0x00FFFF00;
    case 10:
      return other | 1;
    case 11:
      return 0 - other;
    case 12:
      return static_cast<uint32_t>(static_cast<int32_t>(other) / 7);
    case 13:
      return static_cast<uint32_t>(static_cast<int32_t>(other) >> 4);
    case 14:
      return other < 1000 ? 1 : 2;
    default:
      return 0;
  }
}

}  // namespace

void Switches(uint32_t* results) {
  // Twelve rounds of value = (value * 7 + n) shifted, n counting down.
  static const uint8_t kCode[] = {kPush, 12,        kSwap, kPush, 7,      kMultiply, kPush,
                                  5,     kAdd,      kPush, 1,     kShift, kSwap,     kPush,
                                  1,     kSubtract, kBack, 15,    kDrop,  kEnd};
  results[0] = Execute(kCode, Unknown(1));
  results[1] = Execute(kCode, Unknown(0xDEADBEEF));
  static const uint32_t kValues[] = {0,          17,         1000, 65536, 0x7FFFFFFF,
                                     0x80000000, 0xFFFFFFFF, 5,    123456};
  for (uint32_t i = 0; i < 9; ++i) results[2 + i] = Sparse(Unknown(kValues[i]));
  uint32_t value = Unknown(0x12345678);
  for (uint32_t i = 0; i < 400; ++i) {
    value = Dense(i * 7 + (value >> 9), value) + i;
    results[11 + i % 40] ^= value;
  }
}
