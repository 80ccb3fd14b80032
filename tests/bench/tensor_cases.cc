// The tensor.* cases: operations of libttfd_tensor against a daemon that is another process.
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/bench_case.h"
#include "ttfd/tensor/ops.h"

namespace ttfd::bench {
namespace {

namespace tt = tensor;
using Now = std::chrono::steady_clock;

Status ToStatus(const tt::Status& status) {
  return status.ok() ? OkStatus() : absl::InternalError(status.ToString());
}

double Seconds(Now::duration duration) { return std::chrono::duration<double>(duration).count(); }

tt::Tensor Numbers(tt::Card& card, const tt::Shape& shape) {
  std::vector<float> numbers(shape.elements());
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = std::sin(static_cast<float>(i % 8191)) / 32;
  }
  return card.FromHost(numbers, shape);
}

// A card with tensors, made by the first case that runs.
struct Tensors {
  explicit Tensors(tt::Card opened) : card(std::move(opened)) {}

  tt::Card card;
  tt::Tensor square = Numbers(card, {1024, 1024});
  tt::Tensor x = Numbers(card, {128, 768});
  tt::Tensor w1 = Numbers(card, {768, 3072});
  tt::Tensor b1 = Numbers(card, {3072});
  tt::Tensor w2 = Numbers(card, {3072, 768});
  tt::Tensor b2 = Numbers(card, {768});
  tt::Tensor small = Numbers(card, {32, 16 * 32});  // a tile for each of 16 cores
  // A query of 32 users and eight heads, for 128 keys of two heads.
  tt::Tensor queries = Numbers(card, {1, 32, 8, 32});
  tt::Tensor keys = Numbers(card, {32, 2, 128, 32});
  tt::Tensor positions = card.FromHost(std::vector<uint32_t>(32, 127), {32}, tt::Layout::kRowMajor);
  tt::Tensor traced = {};
  std::optional<tt::Recording> trace = {};
};

// Seconds that `operation` takes, until its result can be read.
template <typename Operation>
StatusOr<double> Measure(tt::Card& card, const Operation& operation) {
  RETURN_IF_ERROR(ToStatus(card.Finish()));
  const auto start = Now::now();
  const tt::Tensor result = operation();
  RETURN_IF_ERROR(ToStatus(result.status()));
  RETURN_IF_ERROR(ToStatus(card.Finish()));
  return Seconds(Now::now() - start);
}

StatusOr<double> EagerMicroseconds(Tensors& tensors, std::chrono::nanoseconds budget) {
  constexpr int kBatch = 64;
  int operations = 0;
  const auto start = Now::now();
  do {
    for (int i = 0; i < kBatch; ++i) {
      const tt::Tensor result = tt::Typecast(tensors.small, tt::DType::kBFloat16);
      RETURN_IF_ERROR(ToStatus(result.status()));
    }
    RETURN_IF_ERROR(ToStatus(tensors.card.Finish()));
    operations += kBatch;
  } while (Now::now() - start < budget);
  return Seconds(Now::now() - start) / operations * 1e6;
}

StatusOr<double> TracedMicroseconds(Tensors& tensors, std::chrono::nanoseconds budget) {
  constexpr uint32_t kOperations = 64;
  constexpr uint32_t kReplays = 8;
  if (!tensors.trace) {
    auto recording = tensors.card.Record([&tensors] {
      for (uint32_t i = 0; i < kOperations; ++i) {
        tensors.traced = tt::Typecast(tensors.small, tt::DType::kBFloat16);
      }
    });
    RETURN_IF_ERROR(ToStatus(recording.status()));
    tensors.trace = std::move(*recording);
  }
  uint32_t operations = 0;
  const auto start = Now::now();
  do {
    RETURN_IF_ERROR(ToStatus(tensors.trace->Replay(kReplays)));
    RETURN_IF_ERROR(ToStatus(tensors.card.Finish()));
    operations += kReplays * kOperations;
  } while (Now::now() - start < budget);
  return Seconds(Now::now() - start) / operations * 1e6;
}

}  // namespace

std::vector<BenchCase> TensorCases(AddressFunction address) {
  auto tensors = std::make_shared<std::unique_ptr<Tensors>>();
  const auto with_tensors = [tensors, address = std::move(address)](auto run) {
    return [tensors, address, run](std::chrono::nanoseconds budget) -> StatusOr<double> {
      if (*tensors == nullptr) {
        ASSIGN_OR_RETURN(const std::string where, address());
        auto card = tt::Card::Open({.connect = {.address = where}});
        RETURN_IF_ERROR(ToStatus(card.status()));
        *tensors = std::make_unique<Tensors>(std::move(*card));
      }
      return run(**tensors, budget);
    };
  };
  return {
      {"tensor.matmul_1024_s", "s", with_tensors([](Tensors& given, std::chrono::nanoseconds) {
         return Measure(given.card, [&] { return tt::Matmul(given.square, given.square); });
       })},
      {"tensor.mlp_s", "s", with_tensors([](Tensors& given, std::chrono::nanoseconds) {
         return Measure(given.card, [&] {
           return tt::Linear(tt::Linear(given.x, given.w1, given.b1, {.activation = "gelu"}),
                             given.w2, given.b2);
         });
       })},
      {"tensor.attention_s", "s", with_tensors([](Tensors& given, std::chrono::nanoseconds) {
         return Measure(given.card, [&] {
           return tt::ScaledDotProductAttentionDecode(given.queries, given.keys, given.keys,
                                                      {.positions = given.positions});
         });
       })},
      {"tensor.eager_op_us", "us", with_tensors(EagerMicroseconds)},
      {"tensor.traced_op_us", "us", with_tensors(TracedMicroseconds)},
  };
}

}  // namespace ttfd::bench
