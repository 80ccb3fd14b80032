// Computes with integers, element by element. NCRISC, words Integers.
#include "firmware/ops/cores.h"
#include "firmware/ops/integers_words.h"
#include "firmware/ops/move/copy.h"
#include "firmware/ops/move/layout.h"

using namespace ttfd::kernel;
using namespace ttfd::ops;

namespace {

constexpr uint32_t kLeadingBit = 0x80000000;

// Exponent and mantissa of an integer as those of a floating-point number whose mantissa has `kBits`, halves away from
// zero.
template <uint32_t kBits>
uint32_t ToFloat(uint32_t integer) {
  if (integer == 0) return 0;
  uint32_t exponent = 127 + 31;
  for (; (integer & kLeadingBit) == 0; integer <<= 1) --exponent;
  const uint32_t mantissa = integer << 1 >> (32 - kBits);
  return (exponent << kBits) + mantissa + (integer >> (30 - kBits) & 1);
}

// Integer from the bits of a 32-bit floating-point number, towards zero, modulo 2^32.
uint32_t FromFloat(uint32_t bits) {
  const uint32_t exponent = bits >> 23 & 0xFF;
  if (exponent < 127) return 0;
  const uint32_t mantissa = (bits & 0x7FFFFF) | 0x800000;
  uint32_t integer = 0;
  if (exponent < 150) {
    integer = mantissa >> (150 - exponent);
  } else if (exponent < 150 + 32) {
    integer = mantissa << (exponent - 150);
  }
  return (bits & kLeadingBit) != 0 ? 0 - integer : integer;
}

uint32_t Compute(IntegerFunction function, uint32_t a, uint32_t b) {
  switch (function) {
    case IntegerFunction::kAnd:
      return a & b;
    case IntegerFunction::kOr:
      return a | b;
    case IntegerFunction::kXor:
      return a ^ b;
    case IntegerFunction::kShiftLeft:
      return b < 32 ? a << b : 0;
    case IntegerFunction::kShiftRight:
      return b < 32 ? a >> b : 0;
    case IntegerFunction::kNot:
      return ~a;
    case IntegerFunction::kToBFloat16:
      return ToFloat<7>(a);
    case IntegerFunction::kToFloat32:
      return ToFloat<23>(a);
    case IntegerFunction::kFromBFloat16:
      return FromFloat(a << 16);
    case IntegerFunction::kFromFloat32:
      return FromFloat(a);
  }
  return a;
}

uint32_t Compute(Combine function, uint32_t a, uint32_t b) {
  switch (function) {
    case Combine::kAdd:
      return a + b;
    case Combine::kSubtract:
      return a - b;
    case Combine::kMultiply:
      return a * b;
    case Combine::kDivide:
      return b == 0 ? ~0u : a / b;
    case Combine::kMaximum:
      return a > b ? a : b;
    case Combine::kMinimum:
      return a < b ? a : b;
    case Combine::kEqual:
      return a == b;
    case Combine::kNotEqual:
      return a != b;
    case Combine::kLess:
      return a < b;
    case Combine::kLessOrEqual:
      return a <= b;
    case Combine::kGreater:
      return a > b;
    case Combine::kGreaterOrEqual:
      return a >= b;
    case Combine::kNone:
    case Combine::kWhere:
      break;
  }
  return a;
}

uint32_t Load(uint32_t address, uint32_t index, uint32_t unit_bytes) {
  return unit_bytes == sizeof(Half) ? L1Pointer<const Half>(address)[index]
                                    : L1Pointer<const Word>(address)[index];
}

class Calculator {
 public:
  Calculator(const Integers& words, uint32_t memory) : words_(words), memory_(memory) {}

  void Run(uint32_t item) {
    const uint32_t row = item / words_.chunks;
    const uint32_t first = (item - row * words_.chunks) * kIntegerChunk;
    const uint32_t count = Least(kIntegerChunk, words_.columns - first);
    for (uint32_t i = 0; i != words_.inputs; ++i) {
      const Integers::Operand& input = words_.input[i];
      Read(PlaceOf(input, row, first), ChunkOf(i), count * input.unit_bytes);
    }
    ReadBarrier();
    WriteBarrier();  // the chunk before this one has been written
    const uint32_t unit = words_.output.unit_bytes;
    for (uint32_t i = 0; i != count; ++i) {
      const uint32_t result = ComputeAt(i);
      if (unit == sizeof(Half)) {
        L1Pointer<Half>(ChunkOf(kIntegerInputs))[i] = static_cast<Half>(result);
      } else {
        L1Pointer<Word>(ChunkOf(kIntegerInputs))[i] = result;
      }
    }
    ttfd::firmware::Fence();  // the inputs have been loaded before others arrive
    Write(ChunkOf(kIntegerInputs), PlaceOf(words_.output, row, first), count * unit);
  }

 private:
  uint32_t ChunkOf(uint32_t operand) const { return memory_ + operand * kIntegerChunkBytes; }

  NocAddress PlaceOf(const Integers::Operand& operand, uint32_t row, uint32_t first) const {
    const InterleavedBuffer pages(operand.address, words_.columns * operand.unit_bytes);
    return pages.Page(row, first * operand.unit_bytes);
  }

  uint32_t ComputeAt(uint32_t i) const {
    const uint32_t a = Load(ChunkOf(0), i, words_.input[0].unit_bytes);
    const uint32_t b = words_.inputs == 1 ? 0 : Load(ChunkOf(1), i, words_.input[1].unit_bytes);
    if (words_.function < static_cast<uint32_t>(IntegerFunction::kAnd)) {
      return Compute(static_cast<Combine>(words_.function), a, b);
    }
    return Compute(static_cast<IntegerFunction>(words_.function), a, b);
  }

  const Integers& words_;
  uint32_t memory_;
};

}  // namespace

void kernel_main() {
  const auto& words = CommonArguments<Integers>();
  const CircularBuffer memory(0);
  Calculator calculator(words, (memory.address() + 63) & ~63u);
  const Items items(words.cores);
  for (uint32_t item = items.first; item < items.end; item += items.step) calculator.Run(item);
}
