// The conversions of a kernel's format string, as the compiler checks them when the kernel is built and as the
// host carries them out: %d %i %u %x %X %o %c %s %p %% with flags, width, precision and the lengths hh h l ll j z t.
//
// There is no %f: a hart would have to convert in software. There is no %n.
#pragma once

#include <stdint.h>

namespace ttfd::abi {

enum class PrintKind : uint8_t {
  kNotUnderstood,
  kPercent,
  kSigned,
  kUnsigned,  // u x X o, which `letter` tells apart
  kCharacter,
  kString,
  kPointer,
};

struct PrintConversion {
  PrintKind kind;
  char letter;
  uint32_t length;  // of its text, from the percent sign on
  bool left;
  bool plus;
  bool space;
  bool alternate;
  bool zeros;
  bool width_argument;  // given by an argument: *
  bool has_precision;
  bool precision_argument;
  uint32_t width;
  uint32_t precision;
  uint32_t bytes;  // of an integer: 1, 2, 4 or 8
};

// Widths and precisions beyond what anybody wants are told as this.
inline constexpr uint32_t kPrintNumberLimit = 9999;

namespace internal {

constexpr uint32_t ReadPrintNumber(const char*& at, const char* end) {
  uint32_t number = 0;
  for (; at != end && *at >= '0' && *at <= '9'; ++at) {
    number = 10 * number + static_cast<uint32_t>(*at - '0');
    number = number > kPrintNumberLimit ? kPrintNumberLimit : number;
  }
  return number;
}

constexpr bool ReadPrintFlag(char letter, PrintConversion& conversion) {
  switch (letter) {
    case '-':
      return conversion.left = true;
    case '+':
      return conversion.plus = true;
    case ' ':
      return conversion.space = true;
    case '#':
      return conversion.alternate = true;
    case '0':
      return conversion.zeros = true;
    default:
      return false;
  }
}

constexpr uint32_t ReadPrintLength(const char*& at, const char* end) {
  if (at == end) return 4;
  const char first = *at;
  const bool twice = end - at > 1 && at[1] == first;
  switch (first) {
    case 'h':
      at += twice ? 2 : 1;
      return twice ? 1 : 2;
    case 'l':
      at += twice ? 2 : 1;
      return twice ? 8 : 4;
    case 'j':
      ++at;
      return 8;
    case 'z':
    case 't':
      ++at;
      return 4;
    default:
      return 4;
  }
}

constexpr PrintKind PrintKindOf(char letter) {
  switch (letter) {
    case '%':
      return PrintKind::kPercent;
    case 'd':
    case 'i':
      return PrintKind::kSigned;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return PrintKind::kUnsigned;
    case 'c':
      return PrintKind::kCharacter;
    case 's':
      return PrintKind::kString;
    case 'p':
      return PrintKind::kPointer;
    default:
      return PrintKind::kNotUnderstood;
  }
}

}  // namespace internal

// The conversion at `text`, which begins with a percent sign and ends before `end`.
constexpr PrintConversion ReadPrintConversion(const char* text, const char* end) {
  PrintConversion conversion{};
  const char* at = text + 1;
  while (at != end && internal::ReadPrintFlag(*at, conversion)) ++at;
  if (at != end && *at == '*') {
    conversion.width_argument = true;
    ++at;
  } else {
    conversion.width = internal::ReadPrintNumber(at, end);
  }
  if (at != end && *at == '.') {
    conversion.has_precision = true;
    ++at;
    if (at != end && *at == '*') {
      conversion.precision_argument = true;
      ++at;
    } else {
      conversion.precision = internal::ReadPrintNumber(at, end);
    }
  }
  conversion.bytes = internal::ReadPrintLength(at, end);
  if (at != end) {
    conversion.letter = *at++;
    conversion.kind = internal::PrintKindOf(conversion.letter);
  }
  conversion.length = static_cast<uint32_t>(at - text);
  return conversion;
}

}  // namespace ttfd::abi
