// Functions of the vector unit on every number in bfloat16.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/compute_program.h"

namespace ttfd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSineBound = 131072;

struct Function {
  const char* name;
  size_t not_nearest;  // numbers whose result is a neighbour of the nearest one
  double (*exact)(double);
};
// In the order of compute_unary.cc.
constexpr Function kFunctions[] = {
    {"exp", 12, [](double x) { return std::exp(x); }},
    {"recip", 512, [](double x) { return 1 / x; }},
    {"sqrt", 254, [](double x) { return std::sqrt(x); }},
    {"rsqrt", 0, [](double x) { return 1 / std::sqrt(x); }},
    {"sigmoid", 20, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"silu", 302, [](double x) { return x == -kInfinity ? 0 : x / (1 + std::exp(-x)); }},
    {"tanh", 8, [](double x) { return std::tanh(x); }},
    {"gelu", 284,
     [](double x) { return x == -kInfinity ? 0 : x / 2 * std::erfc(-x / std::sqrt(2)); }},
    {"log", 1, [](double x) { return std::log(x); }},
    {"relu", 0, [](double x) { return x < 0 ? 0 : x; }},
    {"abs", 0, [](double x) { return std::abs(x); }},
    {"negative", 0, [](double x) { return -x; }},
    {"square", 1024, [](double x) { return x * x; }},
    {"sin", 0, [](double x) { return std::abs(x) < kSineBound ? std::sin(x) : kNan; }},
    {"cos", 2, [](double x) { return std::abs(x) < kSineBound ? std::cos(x) : kNan; }},
    {"floor", 0, [](double x) { return std::floor(x); }},
    {"erf", 256, [](double x) { return std::erf(x); }},
    {"atan", 4, [](double x) { return std::atan(x); }},
};
// After those.
struct ScalarFunction {
  const char* name;
  double (*exact)(double, double);
};
constexpr ScalarFunction kScalarFunctions[] = {
    {"add", [](double x, double y) { return x + y; }},
    {"mul", [](double x, double y) { return x * y; }},
    {"max", [](double x, double y) { return std::max(x, y); }},
    {"min", [](double x, double y) { return std::min(x, y); }},
};
constexpr float kScalars[] = {0.0f, 0.7853982f, -1.5f, 1e30f, -1e-30f};

// The number that reaches Dst: the matrix unit has no NaN, no denormals and no -0.
double InDst(uint16_t word) {
  const float number = FromBfloat16(word);
  if (std::isnan(number)) return std::copysign(kInfinity, number);
  return std::abs(number) < std::numeric_limits<float>::min() ? 0 : number;
}

// Position of a number among all, so that neighbours differ by 1; 0 has no sign, and denormals are 0. The packer
// makes NaN infinity of its sign.
int Position(uint16_t word) {
  int magnitude = word & 0x7FFF;
  if (magnitude > 0x7F80) magnitude = 0x7F80;
  magnitude = magnitude < 0x80 ? 0x7F : magnitude;
  return ((word >> 15) != 0 ? -1 : 1) * (magnitude - 0x7F);
}

// Difference to the result: 0 if it is a neighbour of the exact value or the value itself, else how many numbers
// farther. There are no denormals: what the smallest number makes no difference to is right.
int Difference(uint16_t word, double exact) {
  if (std::isnan(exact)) return std::abs(Position(word)) == Position(0x7F80) ? 0 : 1 << 16;
  if (std::abs(FromBfloat16(word) - exact) <= std::numeric_limits<float>::min()) return 0;
  const auto nearest = static_cast<float>(exact);
  const auto towards_zero = static_cast<uint16_t>(std::bit_cast<uint32_t>(nearest) >> 16);
  const bool is_exact = FromBfloat16(towards_zero) == exact || std::isinf(exact);
  const int low = std::abs(Position(towards_zero)), found = std::abs(Position(word));
  if (found != 0 && low != 0 && (Position(word) < 0) != (exact < 0)) return 1 << 16;
  const int high = is_exact ? low : low + 1;
  return found < low ? low - found : found > high ? found - high : 0;
}

std::vector<uint16_t> EveryNumber() {
  std::vector<uint16_t> numbers(1 << 16);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<uint16_t>(i);
  return numbers;
}

class ComputeUnary : public ::testing::TestWithParam<size_t> {};

TEST_P(ComputeUnary, EveryNumberGivesANeighbourOfTheExactValue) {
  const std::vector<uint16_t> numbers = EveryNumber();
  BootedCard card;
  ComputeProgram program(card, {.compute = "compute_unary", .inputs = 1, .cores = {0, 0, 3, 1}});
  const Function& function = kFunctions[GetParam()];
  const auto words = program.Run<uint16_t>({numbers}, {static_cast<uint32_t>(GetParam())});
  size_t wrong = 0, not_nearest = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const double x = InDst(numbers[i]);
    const double exact = function.exact(x);
    if (std::isfinite(exact)) not_nearest += words[i] != ToBfloat16(static_cast<float>(exact));
    const int difference = Difference(words[i], exact);
    if (difference != 0 && ++wrong <= 5) {
      ADD_FAILURE() << function.name << "(" << x << ") is " << FromBfloat16(words[i]) << ", exact "
                    << exact << ", " << difference << " numbers off";
    }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_LE(not_nearest, function.not_nearest);
}

INSTANTIATE_TEST_SUITE_P(Functions, ComputeUnary,
                         ::testing::Range(size_t{0}, std::size(kFunctions)), [](const auto& index) {
                           return std::string(kFunctions[index.param].name);
                         });

class ComputeScalar : public ::testing::TestWithParam<size_t> {};

TEST_P(ComputeScalar, EveryNumberGivesANeighbourOfTheExactValue) {
  const ScalarFunction& function = kScalarFunctions[GetParam()];
  const std::vector<uint16_t> numbers = EveryNumber();
  BootedCard card;
  ComputeProgram program(card, {.compute = "compute_unary", .inputs = 1, .cores = {0, 0, 3, 1}});
  for (const float scalar : kScalars) {
    const auto index = static_cast<uint32_t>(std::size(kFunctions) + GetParam());
    const auto words = program.Run<uint16_t>({numbers}, {index, std::bit_cast<uint32_t>(scalar)});
    for (size_t i = 0; i < words.size(); ++i) {
      const double exact = function.exact(InDst(numbers[i]), scalar);
      ASSERT_EQ(Difference(words[i], exact), 0)
          << FromBfloat16(numbers[i]) << " and " << scalar << " give " << FromBfloat16(words[i])
          << ", exact " << exact;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, ComputeScalar,
                         ::testing::Range(size_t{0}, std::size(kScalarFunctions)),
                         [](const auto& index) {
                           return std::string(kScalarFunctions[index.param].name);
                         });

}  // namespace
}  // namespace ttfd
