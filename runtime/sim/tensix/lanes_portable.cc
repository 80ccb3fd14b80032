// The inner loops in plain C++.
#include <algorithm>
#include <bit>

#include "runtime/sim/tensix/lane_math.h"
#include "runtime/sim/tensix/lanes.h"

namespace ttfd::sim::tensix {
namespace {

// Bits of the mantissa, with the hidden one, where sums are computed: 23 behind the point.
constexpr int32_t kHidden = 1 << 23;
constexpr uint32_t kDroppedBits = 13;  // of products and sums, so that they are where kHidden is
constexpr int32_t kBFloat16Step =
    1 << kDroppedBits;  // precision of operands that go to a 16-bit datum
constexpr uint32_t kBFloat16Shift = 16;
constexpr uint32_t kOperandBits = 0xFFFFE000;

// +-magnitude * 2^(exponent - 127 - 23).
struct Term {
  int32_t sign = 0;  // 0 or 1
  int32_t exponent = 0;
  int32_t magnitude = 0;
};

// An operand of 11 bits of mantissa. Magnitude 0: zero.
Term Operand(uint32_t datum) {
  const auto exponent = static_cast<int32_t>(datum >> 23 & 0xFF);
  const auto mantissa = static_cast<int32_t>(datum >> kDroppedBits & 0x3FF) | 0x400;
  return {static_cast<int32_t>(datum >> 31), exponent, exponent == 0 ? 0 : mantissa};
}

Term DstOperand(uint32_t bits) {
  const auto exponent = static_cast<int32_t>(bits >> 23 & 0xFF);
  const auto mantissa = static_cast<int32_t>(bits & (kHidden - 1)) | kHidden;
  return {static_cast<int32_t>(bits >> 31), exponent, exponent == 0 ? 0 : mantissa};
}

// Halves of mantissas that a phase multiplies.
int32_t HalfOfA(int32_t mantissa, uint32_t phase) {
  return (phase & 1) != 0 ? mantissa >> 1 & 31 : mantissa >> 6;
}
int32_t HalfOfB(int32_t mantissa, uint32_t phase) {
  return (phase & 2) != 0 ? (mantissa & 15) << 3 : mantissa >> 4;
}
int32_t Bias(uint32_t phase) {
  return -127 - ((phase & 1) != 0 ? 5 : 0) - ((phase & 2) != 0 ? 7 : 0);
}

// One product; the magnitude has its 12 bits at the bottom.
Term Multiply(const Term& a, const Term& b, uint32_t phase) {
  if (a.magnitude == 0 || b.magnitude == 0) return {0, std::max(Bias(phase), 0), 0};
  return {a.sign ^ b.sign, a.exponent + b.exponent + Bias(phase),
          HalfOfA(a.magnitude, phase) * HalfOfB(b.magnitude, phase)};
}

// Shifts right by `distance` > 0 and rounds: halves up, but down where `sign` is 1.
int32_t ShiftRounding(int32_t magnitude, int32_t distance, int32_t sign) {
  return distance < 31 ? (magnitude + (1 << (distance - 1)) - sign) >> distance : 0;
}

// The sum of two terms and a datum of Dst, normalised: binary32, or a bfloat16 in its high half.
uint32_t AddToDst(Term first, Term second, Term dst, bool is_32_bit) {
  int32_t exponent = std::max({first.exponent, second.exponent, dst.exponent});
  if (exponent <= 0) return 0;
  for (Term* const term : {&first, &second}) {
    const int32_t distance = exponent - term->exponent;
    if (distance > 0) term->magnitude = ShiftRounding(term->magnitude, distance, term->sign);
  }
  if (const int32_t distance = exponent - dst.exponent; distance > 0) {
    dst.magnitude = ShiftRounding(dst.magnitude, distance, 0);
  }
  if (!is_32_bit) {
    for (Term* const term : {&first, &second}) {
      term->magnitude = (term->magnitude + kBFloat16Step / 2 - term->sign) & ~(kBFloat16Step - 1);
    }
    dst.magnitude = (dst.magnitude + kBFloat16Step / 2) & ~(kBFloat16Step - 1);
  }
  int32_t sum = dst.magnitude;
  for (const Term& term : {first, second}) {
    sum += term.sign == dst.sign ? term.magnitude : -term.magnitude;
  }
  const int32_t sign = dst.sign ^ (sum < 0 ? 1 : 0);
  sum = std::abs(sum);
  if (sum == 0) return 0;
  int32_t shift = std::countl_zero(static_cast<uint32_t>(sum)) - 8;
  exponent -= shift;
  if (!is_32_bit) shift -= static_cast<int32_t>(kBFloat16Shift);
  sum = shift < 0 ? (sum + (1 << (-shift - 1))) >> -shift : sum << shift;
  if (!is_32_bit) sum <<= kBFloat16Shift;
  if ((sum & 2 * kHidden) != 0) ++exponent;
  if (exponent <= 0) return 0;
  const uint32_t sign_bit = static_cast<uint32_t>(sign) << 31;
  if (exponent >= 255) return sign_bit | kExponent32;
  return sign_bit | static_cast<uint32_t>(exponent) << 23 |
         static_cast<uint32_t>(sum & (kHidden - 1));
}

void Accumulate(const DstBlock& dst, uint32_t row, uint32_t column, const Term& first,
                const Term& second) {
  const Term before = DstOperand(dst.Load(row, column));
  dst.Store(row, column, AddToDst(first, second, before, dst.low != nullptr));
}

// The sum of eight products, aligned to the largest exponent.
Term SumGroup(const Term* products) {
  int32_t exponent = products[0].exponent;
  for (uint32_t i = 1; i < 8; ++i) exponent = std::max(exponent, products[i].exponent);
  if (exponent <= 0) return {};
  int32_t sum = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    const int32_t distance = std::min(exponent - products[i].exponent, 30);
    const int32_t aligned = static_cast<int32_t>(
        ((int64_t{products[i].magnitude} << 1) + (int64_t{1} << distance)) >> (distance + 1));
    sum += products[i].sign != 0 ? -aligned : aligned;
  }
  return {sum < 0 ? 1 : 0, exponent, std::abs(sum) << kDroppedBits};
}

}  // namespace

void MultiplyMatrix(const SourceRow* a, const SourceRow* b, uint32_t rows, uint32_t phase,
                    DstBlock dst) {
  Term of_a[kColumns][kColumns];
  for (uint32_t i = 0; i < kColumns; ++i) {
    for (uint32_t column = 0; column < kColumns; ++column) of_a[i][column] = Operand(a[i][column]);
  }
  for (uint32_t row = 0; row < rows; ++row) {
    Term of_b[kColumns];
    for (uint32_t i = 0; i < kColumns; ++i) of_b[i] = Operand(b[row][i]);
    for (uint32_t column = 0; column < kColumns; ++column) {
      Term products[kColumns];
      for (uint32_t i = 0; i < kColumns; ++i) {
        products[i] = Multiply(of_a[i][column], of_b[i], phase);
      }
      Accumulate(dst, row, column, SumGroup(products), SumGroup(products + 8));
    }
  }
}

void MaximumOfColumns(const SourceRow* a, bool include_dst, DstBlock dst) {
  for (uint32_t column = 0; column < kColumns; ++column) {
    uint32_t largest = include_dst ? dst.Load(0, column) & kOperandBits : ~0u;
    for (uint32_t i = 0; i < kColumns; ++i) {
      const uint32_t datum = ExponentOf(a[i][column]) == 0 ? 0 : a[i][column];
      if (TotalOrder(datum) > TotalOrder(largest)) largest = datum;
    }
    dst.Store(0, column, largest);
    for (uint32_t row = 1; row < 4; ++row) dst.Store(row, column, 0);
  }
}

void MultiplyElements(const SourceRow* a, const SourceRow* b, Broadcast of_b, uint32_t phase,
                      DstBlock dst) {
  for (uint32_t row = 0; row < kFpuRows; ++row) {
    const SourceRow& row_of_b = b[of_b.row ? 0 : row];
    for (uint32_t column = 0; column < kColumns; ++column) {
      Term product =
          Multiply(Operand(a[row][column]), Operand(row_of_b[of_b.column ? 0 : column]), phase);
      if (product.exponent <= 0) product = {0, std::max(Bias(phase), 0), 0};
      product.magnitude <<= kDroppedBits;
      Accumulate(dst, row, column, product, {});
    }
  }
}

void AddElements(const SourceRow* a, const SourceRow* b, Broadcast of_b, bool subtract,
                 bool accumulate, DstBlock dst) {
  for (uint32_t row = 0; row < kFpuRows; ++row) {
    const SourceRow& row_of_b = b[of_b.row ? 0 : row];
    for (uint32_t column = 0; column < kColumns; ++column) {
      uint32_t larger = a[row][column];
      uint32_t smaller = row_of_b[of_b.column ? 0 : column] ^ (subtract ? kSignBit32 : 0);
      if ((larger & ~kSignBit32) < (smaller & ~kSignBit32)) std::swap(larger, smaller);
      Term sum = Operand(larger);
      if (sum.magnitude == 0) sum = {};
      if (const Term other = Operand(smaller); other.magnitude != 0) {
        const int32_t distance = sum.exponent - other.exponent;
        const int32_t aligned = distance == 0   ? other.magnitude
                                : distance < 12 ? ShiftRounding(other.magnitude, distance, 0)
                                                : 0;
        sum.magnitude += other.sign == sum.sign ? aligned : -aligned;
      }
      sum.magnitude <<= kDroppedBits;
      const Term before = accumulate ? DstOperand(dst.Load(row, column)) : Term{};
      dst.Store(row, column, AddToDst(sum, {}, before, dst.low != nullptr));
    }
  }
}

}  // namespace ttfd::sim::tensix
