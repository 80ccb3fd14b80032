// What tests of the kernels of operations have in common: tensors of numbers, the functions as the host computes them,
// sets of cores.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/op_program.h"
#include "tests/support/random.h"

namespace ttfd::op_test {

using ops::Combine;
using ops::Unary;
using Size = std::array<uint32_t, 4>;

inline constexpr hw::tensix::Format kBf16 = hw::tensix::Format::kFloat16B;
inline constexpr hw::tensix::Format kFp32 = hw::tensix::Format::kFloat32;
inline constexpr hw::tensix::Format kBfp8 = hw::tensix::Format::kBfp8B;

// Multiples of `unit` up to 32 times as great, as the format has them.
inline OpTensor RandomTensor(Random& random, const Size& size, hw::tensix::Format format,
                             float unit = 0.125f) {
  OpTensor tensor{size, format};
  for (uint64_t i = 0; i < tensor.count(); ++i) {
    tensor.numbers.push_back(static_cast<float>(static_cast<int>(random() % 65) - 32) * unit);
  }
  tensor.Decode(tensor.Encode());
  return tensor;
}

// Numbers are those expected, but for the rounding of the format they were written in. `error`: of what is rounded,
// where numbers near 0 are differences of greater ones.
inline void ExpectNear(const OpTensor& found, const std::vector<double>& expected,
                       double error = 1e-6) {
  ASSERT_EQ(found.numbers.size(), expected.size());
  double largest = 0;
  for (const double number : expected) largest = std::max(largest, std::abs(number));
  size_t wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double allowed = found.format == kFp32   ? std::abs(expected[i]) * 1e-4 + error
                           : found.format == kBf16 ? std::abs(expected[i]) / 250 + error
                                                   : largest / 64;
    if (std::abs(found.numbers[i] - expected[i]) <= allowed) continue;
    if (++wrong <= 3) {
      ADD_FAILURE() << "number " << i << " is " << found.numbers[i] << ", not " << expected[i];
    }
  }
  EXPECT_EQ(wrong, 0u) << "of " << expected.size();
}

using Step = std::pair<Unary, float>;
using Steps = std::vector<Step>;

inline ops::Chain ChainOf(const Steps& steps) {
  ops::Chain chain{};
  for (size_t i = 0; i < steps.size(); ++i) {
    chain.codes |= static_cast<uint32_t>(steps[i].first) << 8 * i;
    chain.operands[i] = std::bit_cast<uint32_t>(steps[i].second);
  }
  return chain;
}

inline double Apply(const Step& step, double x) {
  switch (step.first) {
    case Unary::kNone:
      return x;
    case Unary::kExp:
      return std::exp(x);
    case Unary::kReciprocal:
      return 1 / x;
    case Unary::kSqrt:
      return std::sqrt(x);
    case Unary::kRsqrt:
      return 1 / std::sqrt(x);
    case Unary::kSilu:
      return x / (1 + std::exp(-x));
    case Unary::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Unary::kGelu:
      return x / 2 * std::erfc(-x / std::sqrt(2));
    case Unary::kTanh:
      return std::tanh(x);
    case Unary::kRelu:
      return std::max(x, 0.0);
    case Unary::kAbs:
      return std::abs(x);
    case Unary::kNegate:
      return -x;
    case Unary::kSquare:
      return x * x;
    case Unary::kLog:
      return std::log(x);
    case Unary::kSin:
      return std::sin(x);
    case Unary::kCos:
      return std::cos(x);
    case Unary::kFloor:
      return std::floor(x);
    case Unary::kAddScalar:
      return x + step.second;
    case Unary::kMultiplyScalar:
      return x * step.second;
    case Unary::kMaximumScalar:
      return std::max<double>(x, step.second);
    case Unary::kMinimumScalar:
      return std::min<double>(x, step.second);
    case Unary::kRound:
      return FromBfloat16(ToBfloat16(static_cast<float>(x)));
    case Unary::kErf:
      return std::erf(x);
    case Unary::kAtan:
      return std::atan(x);
  }
  return 0;
}
inline double Apply(const Steps& steps, double x) {
  for (const Step& step : steps) x = Apply(step, x);
  return x;
}

inline double Apply(Combine combine, double a, double b, double c) {
  switch (combine) {
    case Combine::kNone:
      return a;
    case Combine::kAdd:
      return a + b;
    case Combine::kSubtract:
      return a - b;
    case Combine::kMultiply:
      return a * b;
    case Combine::kDivide:
      return a / b;
    case Combine::kMaximum:
      return std::max(a, b);
    case Combine::kMinimum:
      return std::min(a, b);
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
    case Combine::kWhere:
      return a != 0 ? b : c;
  }
  return 0;
}

inline ops::Padding PaddingOf(const OpTensor& output) {
  return {(output.size[2] - 1) % 32 + 1, (output.size[3] - 1) % 32 + 1, output.tile_rows(),
          output.tile_columns()};
}

// Sets of cores.
inline const OpCores kOneCore = OpCores::Rectangle(0, 0, 1, 1);
inline const OpCores kPartOfARow = OpCores::Rectangle(2, 1, 3, 7);
inline const OpCores kScattered = OpCores::Bitmap({{1, 0}, {6, 0}, {0, 2}, {9, 4}, {3, 9}});

}  // namespace ttfd::op_test
