// The inner loops in plain C++.
#include <algorithm>
#include <bit>

#include "runtime/sim/tensix/lane_math.h"
#include "runtime/sim/tensix/lanes_sets.h"

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

int32_t Bias(uint32_t phase) {
  return -127 - ((phase & 1) != 0 ? 5 : 0) - ((phase & 2) != 0 ? 7 : 0);
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

// The sum of eight products of a column, aligned to the largest exponent. `a` points to the column in the first of
// eight rows, `b` to the first of eight datums.
Term SumGroup(const int16_t* exponent_a, const int16_t* half_a, const int16_t* exponent_b,
              const int16_t* half_b, int32_t bias) {
  int32_t exponents[8];
  int32_t largest = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    exponents[i] = exponent_a[i * kColumns] + exponent_b[i] + bias;
    largest = std::max(largest, exponents[i]);
  }
  if (largest == 0) return {};
  int32_t sum = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    // Twice the product. Half a unit less for negative ones: they round as their magnitudes do.
    const int32_t twice = half_a[i * kColumns] * half_b[i];
    const int32_t distance = std::min(largest - exponents[i], 16);
    sum += (twice + (1 << distance) - (twice < 0 ? 1 : 0)) >> (distance + 1);
  }
  return {sum < 0 ? 1 : 0, largest, std::abs(sum) << kDroppedBits};
}

const auto& HalvesOfA(const Halves& a, uint32_t phase) { return (phase & 1) != 0 ? a.low : a.high; }
const auto& HalvesOfB(const Halves& b, uint32_t phase) { return (phase & 2) != 0 ? b.low : b.high; }

void Derive(const SourceRow* datum, bool is_a, Halves* halves) {
  for (uint32_t row = 0; row < 64; ++row) {
    for (uint32_t column = 0; column < kColumns; ++column) {
      const Term term = Operand(datum[row][column]);
      const int32_t high = is_a ? term.magnitude >> 6 << 1 : term.magnitude >> 4;
      const int32_t low = is_a ? (term.magnitude >> 1 & 31) << 1 : (term.magnitude & 15) << 3;
      halves->exponent[row][column] =
          term.magnitude == 0 ? kZeroExponent : static_cast<int16_t>(term.exponent);
      halves->high[row][column] = static_cast<int16_t>(term.sign != 0 ? -high : high);
      halves->low[row][column] = static_cast<int16_t>(term.sign != 0 ? -low : low);
    }
  }
}

void MultiplyMatrix(const Halves& a, uint32_t a_row, const Halves& b, uint32_t b_row, uint32_t rows,
                    uint32_t phase, DstBlock dst) {
  const auto* const half_a = &HalvesOfA(a, phase)[a_row];
  const auto* const half_b = &HalvesOfB(b, phase)[b_row];
  const int32_t bias = Bias(phase);
  for (uint32_t row = 0; row < rows; ++row) {
    const int16_t* const exponent_b = b.exponent[b_row + row];
    for (uint32_t column = 0; column < kColumns; ++column) {
      const int16_t* const exponent_a = &a.exponent[a_row][column];
      Accumulate(dst, row, column,
                 SumGroup(exponent_a, &half_a[0][column], exponent_b, half_b[row], bias),
                 SumGroup(exponent_a + 8 * kColumns, &half_a[8][column], exponent_b + 8,
                          half_b[row] + 8, bias));
    }
  }
}

void MultiplyElements(const Halves& a, uint32_t a_row, const Halves& b, uint32_t b_row,
                      Broadcast of_b, uint32_t phase, DstBlock dst) {
  for (uint32_t row = 0; row < kFpuRows; ++row) {
    const uint32_t from_a = a_row + row;
    const uint32_t from_b = b_row + (of_b.row ? 0 : row);
    for (uint32_t column = 0; column < kColumns; ++column) {
      const uint32_t column_b = of_b.column ? 0 : column;
      const int32_t exponent =
          a.exponent[from_a][column] + b.exponent[from_b][column_b] + Bias(phase);
      const int32_t twice =
          HalvesOfA(a, phase)[from_a][column] * HalvesOfB(b, phase)[from_b][column_b];
      Term product;
      if (exponent > 0) {
        product = {twice < 0 ? 1 : 0, exponent, std::abs(twice) << (kDroppedBits - 1)};
      }
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

void MultiplyAddLanes(const uint32_t* x, const uint32_t* y, const uint32_t* z,
                      const uint32_t* active, uint32_t* result) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (active[lane] != 0) result[lane] = MultiplyAdd(x[lane], y[lane], z[lane]);
  }
}

}  // namespace

const LaneKernels kPortableLanes = {"portable",       Derive,      MultiplyMatrix,
                                    MultiplyElements, AddElements, MultiplyAddLanes};

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

}  // namespace ttfd::sim::tensix
