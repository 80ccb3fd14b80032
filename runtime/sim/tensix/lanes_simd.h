// The inner loops with vectors of the host: one source for AVX2 and AVX-512. Only lanes_avx2.cc and lanes_avx512.cc include
// it, which are compiled for these. It calls no inline function of others: the linker may keep one copy of such a function
// for all callers, and not every host could execute this one.
//
// A row of Dst is one vector of 16-bit lanes while products are aligned and summed, and one or two vectors of 32-bit lanes
// while the sum is added to Dst. Signed forms of roundings: adding half a unit and shifting arithmetically rounds halves up;
// a negative number that has lost one unit before rounds as its magnitude does.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "runtime/sim/tensix/lane_math.h"
#include "runtime/sim/tensix/lanes.h"

namespace ttfd::sim::tensix {
namespace {

constexpr int kWidth = TTFD_LANES;  // 32-bit lanes of a vector: 8 or 16
constexpr int kParts = 16 / kWidth;

typedef int16_t Row16 __attribute__((vector_size(32)));
typedef int32_t Row32 __attribute__((vector_size(64)));
typedef int32_t Word __attribute__((vector_size(4 * kWidth)));
typedef uint32_t Bits __attribute__((vector_size(4 * kWidth)));
typedef uint16_t Half __attribute__((vector_size(2 * kWidth)));
typedef int16_t SignedHalf __attribute__((vector_size(2 * kWidth)));
typedef float Float __attribute__((vector_size(4 * kWidth)));

#define TTFD_INLINE [[gnu::always_inline]] inline

template <typename Vector>
TTFD_INLINE Vector Load(const void* from) {
  Vector value;
  __builtin_memcpy(&value, from, sizeof(value));
  return value;
}
template <typename Vector>
TTFD_INLINE void Store(void* to, Vector value) {
  __builtin_memcpy(to, &value, sizeof(value));
}

TTFD_INLINE Row16 Max(Row16 a, Row16 b) { return a > b ? a : b; }
TTFD_INLINE Word Max(Word a, Word b) { return a > b ? a : b; }

// 2^(14 - distance), or 0 where the distance is above 14.
TTFD_INLINE Row16 Scale(Row16 distance) {
#if TTFD_LANES == 16
  return (Row16)_mm256_sllv_epi16(_mm256_set1_epi16(1), (__m256i)(14 - distance));
#else
  // One bit of 16 from a table of powers by bytes: indices out of 0 to 7 have the value 0.
  const __m256i powers = _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0, 1,
                                          2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
  const Row16 capped = distance > 15 ? Row16{} + 15 : distance;
  const Row16 low = (14 - capped) & 0xFF;
  const Row16 high = (6 - capped) << 8;
  return (Row16)_mm256_shuffle_epi8(powers, (__m256i)(low | high));
#endif
}

// A sum of eight products, aligned to the largest exponent.
struct Group {
  Row16 exponent;
  Row16 sum;
};

TTFD_INLINE Group SumGroup(const int16_t (*exponents_a)[16], const int16_t (*halves_a)[16],
                           const int16_t* exponents_b, const int16_t* halves_b, int bias) {
  Row16 exponent[8];
  Row16 largest = Row16{};
  for (int i = 0; i < 8; ++i) {
    exponent[i] = Load<Row16>(exponents_a[i]) + (int16_t)(exponents_b[i] + bias);
    largest = Max(largest, exponent[i]);
  }
  Row16 sum = Row16{};
  for (int i = 0; i < 8; ++i) {
    const Row16 twice = Load<Row16>(halves_a[i]) * halves_b[i];
    const Row16 scale = Scale(largest - exponent[i]);
    sum += (Row16)_mm256_mulhrs_epi16((__m256i)(twice + (twice >> 15)), (__m256i)scale);
  }
  const Row16 nothing = largest <= 0;
  return {largest, (Row16)(sum & ~nothing)};
}

TTFD_INLINE Word Widen(Row16 row, int part) {
#if TTFD_LANES == 16
  (void)part;
  return __builtin_convertvector(row, Word);
#else
  SignedHalf half;
  __builtin_memcpy(&half, (const char*)&row + 16 * part, sizeof(half));
  return __builtin_convertvector(half, Word);
#endif
}

// A datum of Dst as a sign (0 or -1), an exponent and a magnitude of 24 bits.
struct DstDatum {
  Word sign;
  Word exponent;
  Word magnitude;
};

TTFD_INLINE DstDatum Unpacked(Bits bits) {
  const Word exponent = (Word)(bits >> 23 & 0xFF);
  const Word magnitude = (Word)((bits & 0x7FFFFF) | 0x800000);
  return {(Word)bits >> 31, exponent, exponent == 0 ? Word{} : magnitude};
}

// v / 2^distance, halves rounded up, for 0 <= distance; 0 from 31 on.
TTFD_INLINE Word ShiftRounding(Word value, Word distance) {
  const Word shift = distance > 30 ? Word{} + 30 : distance;
  const Word half = ((Word{} + 1) << shift) >> 1;
  const Word shifted = (value + half) >> shift;
  return distance > 30 ? Word{} : shifted;
}

// The sum of two terms and a datum of Dst, normalised. `a` and `b` have a sign and, like the datum, 23 bits of fraction.
template <bool kIs32Bit>
TTFD_INLINE Bits AddToDst(Word exponent_a, Word a, Word exponent_b, Word b, DstDatum dst) {
  Word exponent = Max(Max(exponent_a, exponent_b), dst.exponent);
  const Word nothing = exponent <= 0;
  a = ShiftRounding(a, exponent - exponent_a);
  b = ShiftRounding(b, exponent - exponent_b);
  Word d = ShiftRounding(dst.magnitude, exponent - dst.exponent);
  if (!kIs32Bit) {
    a = (a + 4096) & ~8191;
    b = (b + 4096) & ~8191;
    d = (d + 4096) & ~8191;
  }
  Word sum = ((d ^ dst.sign) - dst.sign) + a + b;
  const Word zero = sum == 0;
  const Word sign = sum >> 31;
  sum = (sum ^ sign) - sign;
  // The highest bit, by conversion to float: without the bits below it that could round up.
  const Float as_float = __builtin_convertvector(sum & ~(sum >> 1), Float);
  Word shift = 23 - ((((Word)as_float) >> 23) - 127);
  exponent -= shift;
  if (!kIs32Bit) shift -= 16;
  const Word left = shift > 0 ? shift : Word{};
  const Word right = shift < 0 ? -shift : Word{};
  const Word half = ((Word{} + 1) << right) >> 1;
  sum = shift < 0 ? (sum + half) >> right : sum << left;
  if (!kIs32Bit) sum <<= 16;
  exponent += sum >> 24 & 1;
  Bits result = (Bits)(sum & 0x7FFFFF) | (Bits)(exponent << 23);
  const Bits infinity = Bits{} + 0x7F800000u;
  result = exponent >= 255 ? infinity : result;
  result |= (Bits)sign << 31;
  const Word is_zero = nothing | zero | (exponent <= 0);
  return is_zero ? Bits{} : result;
}

template <bool kIs32Bit>
TTFD_INLINE Bits LoadDst(DstBlock dst, uint32_t row, int part) {
  const Bits high = __builtin_convertvector(Load<Half>(dst.high[row] + part * kWidth), Bits) << 16;
  if (!kIs32Bit) return high;
  return high | __builtin_convertvector(Load<Half>(dst.low[row] + part * kWidth), Bits);
}

template <bool kIs32Bit>
TTFD_INLINE void StoreDst(DstBlock dst, uint32_t row, int part, Bits bits) {
  Store(dst.high[row] + part * kWidth, __builtin_convertvector(bits >> 16, Half));
  if (kIs32Bit) Store(dst.low[row] + part * kWidth, __builtin_convertvector(bits & 0xFFFF, Half));
}

TTFD_INLINE int Bias(uint32_t phase) {
  return -127 - ((phase & 1) != 0 ? 5 : 0) - ((phase & 2) != 0 ? 7 : 0);
}

template <bool kIs32Bit>
void MultiplyRows(const Halves& a, uint32_t a_row, const Halves& b, uint32_t b_row, uint32_t rows,
                  uint32_t phase, DstBlock dst) {
  const int16_t(*const halves_a)[16] = ((phase & 1) != 0 ? a.low : a.high) + a_row;
  const int16_t(*const halves_b)[16] = ((phase & 2) != 0 ? b.low : b.high) + b_row;
  const int bias = Bias(phase);
  for (uint32_t row = 0; row < rows; ++row) {
    const int16_t* const exponents_b = b.exponent[b_row + row];
    const Group first = SumGroup(a.exponent + a_row, halves_a, exponents_b, halves_b[row], bias);
    const Group second =
        SumGroup(a.exponent + a_row + 8, halves_a + 8, exponents_b + 8, halves_b[row] + 8, bias);
    for (int part = 0; part < kParts; ++part) {
      const DstDatum before = Unpacked(LoadDst<kIs32Bit>(dst, row, part));
      StoreDst<kIs32Bit>(
          dst, row, part,
          AddToDst<kIs32Bit>(Widen(first.exponent, part), Widen(first.sum, part) << 13,
                             Widen(second.exponent, part), Widen(second.sum, part) << 13, before));
    }
  }
}

void MultiplyMatrixSimd(const Halves& a, uint32_t a_row, const Halves& b, uint32_t b_row,
                        uint32_t rows, uint32_t phase, DstBlock dst) {
  if (dst.low != nullptr) {
    MultiplyRows<true>(a, a_row, b, b_row, rows, phase, dst);
  } else {
    MultiplyRows<false>(a, a_row, b, b_row, rows, phase, dst);
  }
}

// The operand of an element-wise instruction.
TTFD_INLINE Row16 Operand(const int16_t (*rows)[16], uint32_t row, Broadcast how) {
  const int16_t* const from = rows[how.row ? 0 : row];
  return how.column ? Row16{} + from[0] : Load<Row16>(from);
}

template <bool kIs32Bit>
void MultiplyElementRows(const Halves& a, uint32_t a_row, const Halves& b, uint32_t b_row,
                         Broadcast of_b, uint32_t phase, DstBlock dst) {
  const int16_t(*const halves_a)[16] = ((phase & 1) != 0 ? a.low : a.high) + a_row;
  const int16_t(*const halves_b)[16] = ((phase & 2) != 0 ? b.low : b.high) + b_row;
  const int16_t bias = (int16_t)Bias(phase);
  for (uint32_t row = 0; row < 8; ++row) {
    Row16 exponent =
        Load<Row16>(a.exponent[a_row + row]) + Operand(b.exponent + b_row, row, of_b) + bias;
    Row16 twice = Load<Row16>(halves_a[row]) * Operand(halves_b, row, of_b);
    const Row16 nothing = exponent <= 0;
    twice &= ~nothing;
    exponent &= ~nothing;
    for (int part = 0; part < kParts; ++part) {
      const DstDatum before = Unpacked(LoadDst<kIs32Bit>(dst, row, part));
      StoreDst<kIs32Bit>(dst, row, part,
                         AddToDst<kIs32Bit>(Widen(exponent, part), Widen(twice, part) << 12, Word{},
                                            Word{}, before));
    }
  }
}

void MultiplyElementsSimd(const Halves& a, uint32_t a_row, const Halves& b, uint32_t b_row,
                          Broadcast of_b, uint32_t phase, DstBlock dst) {
  if (dst.low != nullptr) {
    MultiplyElementRows<true>(a, a_row, b, b_row, of_b, phase, dst);
  } else {
    MultiplyElementRows<false>(a, a_row, b, b_row, of_b, phase, dst);
  }
}

template <bool kIs32Bit>
void AddElementRows(const SourceRow* a, const SourceRow* b, Broadcast of_b, bool subtract,
                    bool accumulate, DstBlock dst) {
  const Bits flip = Bits{} + (subtract ? 0x80000000u : 0u);
  for (uint32_t row = 0; row < 8; ++row) {
    const uint32_t* const row_b = b[of_b.row ? 0 : row];
    for (int part = 0; part < kParts; ++part) {
      const Bits x = Load<Bits>(a[row] + part * kWidth);
      const Bits y = (of_b.column ? Bits{} + row_b[0] : Load<Bits>(row_b + part * kWidth)) ^ flip;
      const Word x_first = (Word)(x & 0x7FFFFFFF) >= (Word)(y & 0x7FFFFFFF);
      const Bits larger = x_first ? x : y;
      const Bits smaller = x_first ? y : x;
      const Word exponent = (Word)(larger >> 23 & 0xFF);
      const Word distance = exponent - (Word)(smaller >> 23 & 0xFF);
      const Word large = exponent == 0 ? Word{} : (Word)((larger >> 13 & 0x3FF) | 0x400);
      const Word small =
          (smaller & 0x7F800000) == 0 ? Word{} : (Word)((smaller >> 13 & 0x3FF) | 0x400);
      const Word shift = distance > 12 ? Word{} + 12 : distance;
      const Word half = ((Word{} + 1) << shift) >> 1;
      const Word aligned = distance > 11 ? Word{} : (small + half) >> shift;
      const Word sign = (Word)larger >> 31;
      const Word differs = (Word)(larger ^ smaller) >> 31;
      const Word sum = large + ((aligned ^ differs) - differs);
      const Word term = ((sum ^ sign) - sign) << 13;
      DstDatum before = {Word{}, Word{}, Word{}};
      if (accumulate) before = Unpacked(LoadDst<kIs32Bit>(dst, row, part));
      StoreDst<kIs32Bit>(dst, row, part,
                         AddToDst<kIs32Bit>(exponent, term, Word{}, Word{}, before));
    }
  }
}

void AddElementsSimd(const SourceRow* a, const SourceRow* b, Broadcast of_b, bool subtract,
                     bool accumulate, DstBlock dst) {
  if (dst.low != nullptr) {
    AddElementRows<true>(a, b, of_b, subtract, accumulate, dst);
  } else {
    AddElementRows<false>(a, b, of_b, subtract, accumulate, dst);
  }
}

template <bool kIsA>
void DeriveRows(const SourceRow* datum, Halves* halves) {
  for (uint32_t row = 0; row < 64; ++row) {
    for (int part = 0; part < kParts; ++part) {
      const Bits bits = Load<Bits>(datum[row] + part * kWidth);
      const Word exponent = (Word)(bits >> 23 & 0xFF);
      const Word zero = exponent == 0;
      const Word mantissa = zero ? Word{} : (Word)((bits >> 13 & 0x3FF) | 0x400);
      const Word sign = (Word)bits >> 31;
      Word high = kIsA ? mantissa >> 6 << 1 : mantissa >> 4;
      Word low = kIsA ? (mantissa >> 1 & 31) << 1 : (mantissa & 15) << 3;
      high = (high ^ sign) - sign;
      low = (low ^ sign) - sign;
      const Word marked = zero ? Word{} + kZeroExponent : exponent;
      Store(halves->exponent[row] + part * kWidth, __builtin_convertvector(marked, SignedHalf));
      Store(halves->high[row] + part * kWidth, __builtin_convertvector(high, SignedHalf));
      Store(halves->low[row] + part * kWidth, __builtin_convertvector(low, SignedHalf));
    }
  }
}

void DeriveSimd(const SourceRow* datum, bool is_a, Halves* halves) {
  if (is_a) {
    DeriveRows<true>(datum, halves);
  } else {
    DeriveRows<false>(datum, halves);
  }
}

// MultiplyAdd of lane_math.h by a fused operation of the host, where both have the same bits. They may differ if the result
// or the product is near an end of the range of exponents, if the terms cancel, or if the product is so much larger than
// the addend that its dropped bits decide.
TTFD_INLINE bool MultiplyAddVector(const uint32_t* x, const uint32_t* y, const uint32_t* z,
                                   uint32_t* result) {
  const auto flush = [](Bits bits) {
    return (Word)(bits & 0x7F800000) == 0 ? bits & 0x80000000u : bits;
  };
  const Bits a = flush(Load<Bits>(x));
  const Bits b = flush(Load<Bits>(y));
  const Bits c = flush(Load<Bits>(z));
#if TTFD_LANES == 16
  const Bits sum = (Bits)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#else
  const Bits sum = (Bits)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#endif
  const Bits product = (Bits)((Float)a * (Float)b);
  const Word e = (Word)(sum >> 23 & 0xFF);
  const Word p = (Word)(product >> 23 & 0xFF);
  const Word q = (Word)(c >> 23 & 0xFF);
  const Word differs =
      (e < 32) | (e >= 254) | (p == 255) | ((q != 0) & ((p - q >= 3) | (Max(p, q) - e > 1)));
#if TTFD_LANES == 16
  if (_mm512_test_epi32_mask((__m512i)differs, (__m512i)differs) != 0) return false;
#else
  if (_mm256_testz_si256((__m256i)differs, (__m256i)differs) == 0) return false;
#endif
  Store(result, sum);
  return true;
}

void MultiplyAddSimd(const uint32_t* x, const uint32_t* y, const uint32_t* z, uint32_t* result) {
  for (int i = 0; i < 32; i += kWidth) {
    if (MultiplyAddVector(x + i, y + i, z + i, result + i)) continue;
    for (int lane = i; lane < i + kWidth; ++lane)
      result[lane] = MultiplyAdd(x[lane], y[lane], z[lane]);
  }
}

}  // namespace
}  // namespace ttfd::sim::tensix
