// Reductions, softmax and normalizations with a daemon: exact to a step of bfloat16, whatever shape, cores, launches.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>

#include "tests/support/client_daemon.h"
#include "ttfd/tensor/ops.h"

namespace ttfd::tensor::tensor_rows_daemon_test {
namespace {

using client::CoreRange;
using testing::ClientDaemon;
using Numbers = std::vector<float>;
using Row = std::vector<double>;

float Rounded(double number) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(static_cast<float>(number)) + 0x8000) &
                              0xFFFF0000);
}

Numbers Normal(const Shape& shape, uint32_t seed, float mean = 0, float deviation = 1) {
  std::minstd_rand random(seed);
  std::normal_distribution<float> normal(mean, deviation);
  Numbers numbers(shape.elements());
  for (float& number : numbers) number = Rounded(normal(random));
  return numbers;
}

// The distance of numbers from the exact ones, in steps of bfloat16 at the exact one or at `least`.
double Steps(const Numbers& found, const Row& exact, double least = 1e-30) {
  EXPECT_EQ(found.size(), exact.size());
  double steps = 0;
  for (size_t i = 0; i < exact.size() && i < found.size(); ++i) {
    const double step = std::exp2(std::floor(std::log2(std::max(std::abs(exact[i]), least))) - 7);
    steps = std::max(steps, std::abs(found[i] - exact[i]) / step);
  }
  return steps;
}

// Pearson's correlation.
double Correlation(const Numbers& found, const Row& exact) {
  const auto n = static_cast<double>(exact.size());
  double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    a += found[i];
    b += exact[i];
    aa += double{found[i]} * found[i];
    bb += exact[i] * exact[i];
    ab += found[i] * exact[i];
  }
  return (ab - a * b / n) / std::sqrt((aa - a * a / n) * (bb - b * b / n));
}

Row ForEachRow(const Numbers& x, uint32_t columns, const std::function<void(Row&)>& function) {
  Row all;
  for (size_t first = 0; first < x.size(); first += columns) {
    Row row(x.begin() + static_cast<ptrdiff_t>(first),
            x.begin() + static_cast<ptrdiff_t>(first + columns));
    function(row);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

void SoftmaxOf(Row& row) {
  double maximum = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double number : row) maximum = std::max(maximum, number);
  for (double& number : row) sum += number = std::exp(number - maximum);
  for (double& number : row) number /= sum;
}
void NormOf(Row& row, bool centers, double epsilon) {
  double mean = 0, square = 0;
  for (const double number : row) mean += centers ? number / static_cast<double>(row.size()) : 0;
  for (double& number : row) {
    number -= mean;
    square += number * number / static_cast<double>(row.size());
  }
  for (double& number : row) number /= std::sqrt(square + epsilon);
}

class TensorRows : public ::testing::Test {
 protected:
  Card Open(std::vector<CoreRange> cores = {}, uint32_t launch_products = 4096) {
    Result<Card> card = Card::Open({.connect = {.address = daemon_.address()},
                                    .cores = std::move(cores),
                                    .launch_products = launch_products});
    EXPECT_TRUE(card.ok()) << card.status().ToString() << daemon_.Log();
    return *card;
  }
  static Numbers ToHost(const Tensor& tensor) {
    const Result<Numbers> numbers = tensor.ToHost();
    EXPECT_TRUE(numbers.ok()) << numbers.status().ToString();
    return numbers.ok() ? *numbers : Numbers();
  }

  ClientDaemon daemon_;
};

const Shape kShapes[] = {{1, 1}, {31, 33}, {33, 70}, {2, 3, 40, 31}, {3, 64, 100}, {2, 1, 96}};

// Sums of multiples of 1 / 8 are exact. All numbers below 0, or all above: padding, which is 0, is neither the greatest
// nor the smallest of them.
TEST_F(TensorRows, ReductionsAreExactBeforeRounding) {
  Card card = Open();
  for (const Shape& shape : kShapes) {
    for (const float sign : {-1.0f, 1.0f}) {
      Numbers x = Normal(shape, 1, 3, 0.3f);
      for (float& number : x) number = sign * std::round(std::abs(number) * 8 + 1) / 8;
      const Tensor tensor = card.FromHost(x, shape);
      for (const int dim : {-1, -2}) {
        SCOPED_TRACE(shape.ToString() + " along " + std::to_string(dim));
        const size_t extent = dim == -1 ? shape.columns() : shape.rows();
        const size_t stride = dim == -1 ? 1 : shape.columns();
        Row sum(x.size() / extent), mean(sum.size()), max(sum.size()), min(sum.size());
        for (size_t i = 0; i < sum.size(); ++i) {
          const size_t first = i / stride * stride * extent + i % stride;
          max[i] = min[i] = x[first];
          for (size_t k = 0; k < extent; ++k) {
            const double number = x[first + k * stride];
            sum[i] += number;
            max[i] = std::max(max[i], number);
            min[i] = std::min(min[i], number);
          }
          mean[i] = sum[i] / static_cast<double>(extent);
        }
        EXPECT_LE(Steps(ToHost(Sum(tensor, dim, true)), sum), 0.5);
        EXPECT_LE(Steps(ToHost(Mean(tensor, dim, true)), mean), 0.501);
        EXPECT_EQ(Steps(ToHost(Max(tensor, dim, true)), max), 0);
        EXPECT_EQ(Steps(ToHost(Min(tensor, dim, true)), min), 0);
      }
    }
  }
}

// Before rounding, the error is that of the grids on which the matrix unit adds.
TEST_F(TensorRows, SumsOfAnyNumbersAreNear) {
  Card card = Open();
  const Shape shape = {64, 1000};
  double worst = 0;
  for (const float mean : {0.0f, 1.0f}) {
    const Numbers x = Normal(shape, 2, mean);
    const std::vector<Tensor> inputs = {card.FromHost(x, shape)};
    const Attributes attributes = {{"keepdim", true}, {"dtype", std::string("float32")}};
    const Numbers sums = ToHost(Apply("sum", inputs, attributes).front());
    ASSERT_EQ(sums.size(), 64u);
    for (size_t row = 0; row < sums.size(); ++row) {
      double sum = 0, magnitude = 0;
      for (size_t i = 0; i < 1000; ++i) {
        sum += x[row * 1000 + i];
        magnitude += std::abs(x[row * 1000 + i]);
      }
      worst = std::max(worst, std::abs(sums[row] - sum) / magnitude);
    }
  }
  std::printf("error of sums: %.2g of the sum of magnitudes\n", worst);
  EXPECT_LE(worst, 1e-4);
}

TEST_F(TensorRows, AnExtentThatIsLostLeavesTheSameNumbers) {
  Card card = Open();
  const Tensor x = card.FromHost(Normal({70, 33}, 1), {70, 33});
  const Tensor y = Max(x, 0);
  EXPECT_EQ(y.shape(), Shape({33}));
  EXPECT_EQ(ToHost(y), ToHost(Max(x, 0, true)));
  EXPECT_EQ(ToHost(Add(x, y)), ToHost(Add(x, Max(x, 0, true))));
}

// The means of the rows are far from 0, which the padding is.
TEST_F(TensorRows, RowsAreWithinAStepOfBFloat16) {
  Card card = Open();
  const Shape shapes[] = {{1, 1},         {31, 31},  {33, 33},  {2, 40, 70},
                          {3, 3, 7, 100}, {64, 768}, {33, 2050}};
  double worst[4] = {};
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.ToString());
    const uint32_t columns = shape.columns();
    for (const float mean : {0.0f, -5.0f, 9.0f}) {
      const Numbers x = Normal(shape, 3, mean, 2);
      const Numbers w = Normal({columns}, 4, 1, 0.5f), b = Normal({columns}, 5);
      const Tensor tensor = card.FromHost(x, shape), weight = card.FromHost(w, {columns}),
                   bias = card.FromHost(b, {columns});
      const auto check = [&](uint32_t i, const Tensor& found, const Row& exact, double least) {
        const Numbers numbers = ToHost(found);
        const double steps = Steps(numbers, exact, least);
        worst[i] = std::max(worst[i], steps);
        EXPECT_LE(steps, 1) << i << ", mean " << mean;
        EXPECT_TRUE(exact.size() == 1 || Correlation(numbers, exact) >= 0.9999) << i;
      };
      check(0, Softmax(tensor), ForEachRow(x, columns, SoftmaxOf), 1e-30);
      check(1, RmsNorm(tensor, 1e-5f),
            ForEachRow(x, columns, [](Row& row) { NormOf(row, false, 1e-5); }), 1e-30);
      if (columns == 1) continue;  // a row of its mean
      check(2, LayerNorm(tensor, 1e-5f),
            ForEachRow(x, columns, [](Row& row) { NormOf(row, true, 1e-5); }), 1e-30);
      const auto normalize = [&](Row& row) {
        NormOf(row, true, 1e-5);
        for (uint32_t i = 0; i < columns; ++i) row[i] = row[i] * w[i] + b[i];
      };
      // Near 0 it is the difference of greater numbers.
      check(3, LayerNorm(tensor, weight, bias, 1e-5f), ForEachRow(x, columns, normalize), 0.05);
    }
  }
  std::printf("steps: softmax %.3f, rms_norm %.3f, layer_norm %.3f, with weight and bias %.3f\n",
              worst[0], worst[1], worst[2], worst[3]);
}

TEST_F(TensorRows, ARowThatIsTooLongIsAnError) {
  Card card = Open();
  const Tensor x = card.FromHost(Numbers(2700), {2700});
  EXPECT_EQ(ToHost(LayerNorm(x)), Numbers(2700));
  const Status status = Softmax(x).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("softmax: output cannot be made: circular buffers of"),
            std::string::npos)
      << status.message();
}

TEST_F(TensorRows, ResultsDependOnNeitherCoresNorLaunches) {
  const auto compute = [](Card card) {
    const Tensor x = card.FromHost(Normal({2, 170, 100}, 1), {2, 170, 100});
    const Tensor w = card.FromHost(Normal({100}, 2), {100}, DType::kFloat32);
    const Tensor y = Softmax(RmsNorm(LayerNorm(x, w, w), w));
    return ToHost(Add(Subtract(y, Mean(y, -2, true)), Max(y, -1, true)));
  };
  const Numbers wanted = compute(Open());
  ASSERT_EQ(wanted.size(), 2u * 170 * 100);
  const std::vector<CoreRange> sets[] = {{{0, 0, 0, 0}}, {{9, 9, 10, 9}, {1, 1, 1, 4}}};
  for (const std::vector<CoreRange>& cores : sets) EXPECT_EQ(compute(Open(cores)), wanted);
  EXPECT_EQ(compute(Open({}, 1)), wanted);
  EXPECT_EQ(compute(Open({{2, 3, 4, 5}}, 50)), wanted);
}

}  // namespace
}  // namespace ttfd::tensor::tensor_rows_daemon_test
