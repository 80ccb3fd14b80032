// libttfd_tensor with a daemon: results do not depend on cores, launches or neighbours, and errors of the card arrive.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>

#include "tests/support/client_daemon.h"
#include "ttfd/tensor/ops.h"

namespace ttfd::tensor::tensor_daemon_test {
namespace {

using client::CoreRange;
using testing::ClientDaemon;

// Multiples of 1 / `steps` from -1 to 1.
std::vector<float> Numbers(const Shape& shape, uint32_t seed, int steps = 64) {
  std::minstd_rand random(seed);
  std::uniform_int_distribution<int> integer(-steps, steps);
  std::vector<float> numbers(shape.elements());
  for (float& number : numbers)
    number = static_cast<float>(integer(random)) / static_cast<float>(steps);
  return numbers;
}

class TensorDaemon : public ::testing::Test {
 protected:
  Card Open(std::vector<CoreRange> cores = {}, uint32_t launch_products = 4096) {
    Result<Card> card = Card::Open(
        {.connect = {.address = daemon_.address(), .reconnect_timeout = std::chrono::seconds(1)},
         .cores = std::move(cores),
         .launch_products = launch_products});
    EXPECT_TRUE(card.ok()) << card.status().ToString() << daemon_.Log();
    return *card;
  }

  ClientDaemon daemon_;
};

// A matrix product, a broadcast, a chain, padding, in bfloat16 and bfp8.
std::vector<float> Compute(Card card, uint32_t seed) {
  const Tensor x = card.FromHost(Numbers({2, 70, 100}, seed), {2, 70, 100});
  const Tensor w = card.FromHost(Numbers({90, 100}, seed + 1), {90, 100}, DType::kBfp8);
  const Tensor bias = card.FromHost(Numbers({90}, seed + 2), {90});
  const Tensor y = Linear(x, w, bias, {.transpose_b = true, .activation = "silu"});
  const Tensor z = Multiply(Subtract(y, x.ok() ? Exp(bias) : x), Sigmoid(y));
  Result<std::vector<float>> numbers = z.ToHost();
  EXPECT_TRUE(numbers.ok()) << numbers.status().ToString();
  return numbers.ok() ? *std::move(numbers) : std::vector<float>();
}

TEST_F(TensorDaemon, ProductsOfSmallNumbersAreExact) {
  Card card = Open();
  const std::vector<float> a = Numbers({33, 65}, 1, 8);
  const std::vector<float> b = Numbers({65, 40}, 2, 8);
  const Tensor product =
      Matmul(card.FromHost(a, {33, 65}), card.FromHost(b, {65, 40}), {.dtype = DType::kFloat32});
  const Result<std::vector<float>> numbers = product.ToHost();
  ASSERT_TRUE(numbers.ok()) << numbers.status().ToString();
  for (uint32_t i = 0; i < 33; ++i) {
    for (uint32_t j = 0; j < 40; ++j) {
      float sum = 0;
      for (uint32_t k = 0; k < 65; ++k) sum += a[i * 65 + k] * b[k * 40 + j];
      ASSERT_EQ((*numbers)[i * 40 + j], sum) << i << " " << j;
    }
  }
}

TEST_F(TensorDaemon, ResultsDependOnNeitherCoresNorLaunches) {
  const std::vector<float> wanted = Compute(Open(), 1);
  ASSERT_FALSE(wanted.empty());
  const std::vector<CoreRange> sets[] = {
      {{0, 0, 0, 0}}, {{2, 3, 4, 5}}, {{9, 9, 10, 9}, {1, 1, 1, 4}, {5, 2, 6, 2}}};
  for (const std::vector<CoreRange>& cores : sets) EXPECT_EQ(Compute(Open(cores), 1), wanted);
  EXPECT_EQ(Compute(Open({}, 1), 1), wanted);
  EXPECT_EQ(Compute(Open({{2, 3, 4, 5}}, 30), 1), wanted);
}

TEST_F(TensorDaemon, CardsAtOnceHaveTheirOwnResults) {
  const std::vector<float> wanted[] = {Compute(Open(), 1), Compute(Open(), 7)};
  std::vector<float> found[4];
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i) {
    // Two share all workers, two have some for themselves.
    const std::vector<CoreRange> cores =
        i < 2 ? std::vector<CoreRange>() : std::vector<CoreRange>{{i * 3, 0, i * 3 + 2, 5}};
    threads.emplace_back(
        [this, i, cores, &found] { found[i] = Compute(Open(cores), i % 2 * 6 + 1); });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(found[i], wanted[i % 2]) << i;
}

TEST_F(TensorDaemon, CardsShareTheTime) {
  constexpr uint64_t kOperations = 12;
  Card cards[] = {Open(), Open()};
  uint64_t before[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    const Tensor x = cards[i].FromHost(Numbers({256, 256}, 1), {256, 256});
    ASSERT_TRUE(Matmul(x, x).ok());
    ASSERT_TRUE(cards[i].Finish().ok());
    before[i] = cards[i].queue().completed();
  }
  for (Card& card : cards) {
    const Tensor x = card.FromHost(Numbers({256, 256}, 1), {256, 256});
    for (uint64_t i = 0; i < kOperations; ++i) ASSERT_TRUE(Matmul(x, x).ok());
    ASSERT_TRUE(card.queue().Flush().ok());
  }
  ASSERT_TRUE(cards[0].Finish().ok());
  // The second card, which has enqueued as much, but later, is not left behind.
  ASSERT_TRUE(cards[1].session().Poll(std::chrono::milliseconds(1)).ok());
  EXPECT_GE(cards[1].queue().completed() - before[1], kOperations / 3);
  ASSERT_TRUE(cards[1].Finish().ok());
}

TEST_F(TensorDaemon, ThreadsOfOneCardHaveTheirOwnResults) {
  const std::vector<float> wanted[] = {Compute(Open(), 1), Compute(Open(), 7)};
  Card card = Open();
  std::vector<float> found[2];
  std::thread other([&] { found[1] = Compute(card, 7); });
  found[0] = Compute(card, 1);
  other.join();
  EXPECT_EQ(found[0], wanted[0]);
  EXPECT_EQ(found[1], wanted[1]);
}

TEST_F(TensorDaemon, ReplaysGiveTheBytesOfAnEagerRun) {
  Card card = Open();
  const Tensor w = card.FromHost(Numbers({64, 64}, 2), {64, 64});
  Tensor x = card.FromHost(Numbers({64, 64}, 1), {64, 64});
  const auto model = [&w](const Tensor& in) {
    const Tensor hidden = Matmul(in, w, {.activation = "tanh"});
    return Add(Exp(Matmul(hidden, w)), hidden);
  };
  const std::vector<float> wanted = *model(x).ToHost();
  Tensor y;
  Result<Recording> recording = card.Record([&] { y = model(x); });
  ASSERT_TRUE(recording.ok()) << recording.status().ToString();
  EXPECT_EQ(recording->launches(), 4u);
  EXPECT_EQ(y.ToHost().status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(Exp(y).status().message(), "exp: x is made by a recording that has not been replayed");

  x = Tensor();  // the recording keeps its memory
  std::vector<Tensor> others;
  for (uint32_t i = 0; i < 8; ++i) {
    others.push_back(card.FromHost(Numbers({64, 64}, 3 + i), {64, 64}));
  }
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(recording->Replay(3).ok());
    const Result<std::vector<float>> numbers = y.ToHost();
    ASSERT_TRUE(numbers.ok()) << numbers.status().ToString();
    EXPECT_EQ(*numbers, wanted);
  }
  EXPECT_EQ(*others[0].ToHost(), Numbers({64, 64}, 3));

  const uint64_t pooled = card.counts().pooled_bytes;
  recording = Status();
  y = Tensor();
  EXPECT_GT(card.counts().pooled_bytes, pooled);
}

TEST_F(TensorDaemon, ARecordingHasTheClocksOfItsOperations) {
  Card card = Open();
  const Tensor x = card.FromHost(Numbers({32, 32}, 1), {32, 32});
  const Tensor w = card.FromHost(Numbers({2048, 512}, 2), {2048, 512});
  const Tensor a = card.FromHost(Numbers({32, 2048}, 3), {32, 2048});
  Tensor product, all;
  const auto model = [&] {
    all = Remainder(Exp(x), Exp(x));  // of several steps
    product = Matmul(a, w);
  };
  const Result<Recording> without = card.Record(model);
  EXPECT_EQ(without->Clocks().status().message(), "the recording was made without clocks");
  Result<Recording> recording = card.Record(model, {.clocks = true});
  ASSERT_TRUE(recording.ok()) << recording.status().ToString();
  EXPECT_EQ(recording->Clocks().status().message(), "the recording has not been replayed");
  ASSERT_TRUE(recording->Replay(2).ok());
  const Result<std::vector<OperationClocks>> clocks = recording->Clocks();
  ASSERT_TRUE(clocks.ok()) << clocks.status().ToString();

  std::vector<std::string> names;
  uint64_t launches = 0;
  for (const OperationClocks& one : *clocks) {
    if (names.empty() || names.back() != one.operation) names.push_back(one.operation);
    launches += one.launches;
    EXPECT_GT(one.clocks, 500u) << one.operation;  // a launch takes as much
    EXPECT_LT(one.clocks, 1'000'000u) << one.operation;
  }
  EXPECT_EQ(names, std::vector<std::string>({"exp", "remainder", "sign", "remainder", "matmul"}));
  EXPECT_EQ(launches, without->launches());
  // 64 products of tiles on each core take more than a function of one.
  EXPECT_GT(clocks->back().clocks, 2 * clocks->front().clocks);
  EXPECT_EQ(*product.ToHost(), *Matmul(a, w).ToHost());
}

// Operations of all families but stamp; some in several launches, some in place, in buffers that are used again.
TEST_F(TensorDaemon, OperationsAsTasksGiveTheBytesOfLaunches) {
  Card card = Open({}, 60);
  const Tensor x = card.FromHost(Numbers({70, 100}, 1), {70, 100});
  const Tensor w = card.FromHost(Numbers({100, 90}, 2), {100, 90}, DType::kBfp8);
  const Tensor q = card.FromHost(Numbers({1, 3, 4, 32}, 3), {1, 3, 4, 32});
  const Tensor cache = card.FromHost(Numbers({3, 2, 64, 32}, 4), {3, 2, 64, 32});
  const Tensor row = card.FromHost(Numbers({1, 2, 3, 32}, 5), {1, 2, 3, 32});
  const Tensor at = card.FromHost(std::vector<uint32_t>{40, 0, 63}, {3});
  std::vector<Tensor> made;
  const auto model = [&] {
    const Tensor product = Matmul(x, w, {.activation = "silu"});
    const Tensor normed = RmsNorm(Permute(Softmax(product), {1, 0}), 1e-5f);
    UpdateCache(cache, row, at);
    const Tensor seen = ScaledDotProductAttentionDecode(q, cache, cache, {.positions = at});
    made = {product,     Sum(normed), Argmax(normed),
            Add(at, at), seen,        Exp(Slice(normed, {3, 2}, {50, 60}, {1, 1}))};
  };
  const auto read = [&] {
    std::vector<std::vector<float>> all;
    for (const Tensor& tensor : made) {
      if (tensor.dtype() == DType::kUInt32) {
        const std::vector<uint32_t> integers = *tensor.ToHost<uint32_t>();
        all.emplace_back(integers.begin(), integers.end());
      } else {
        all.push_back(*tensor.ToHost());
      }
    }
    all.push_back(*cache.ToHost());
    return all;
  };
  model();
  const std::vector<std::vector<float>> wanted = read();
  graph::Graph graph(card.session());
  const Result<TaskRecording> tasks = card.RecordTasks(&graph, model);
  ASSERT_TRUE(tasks.ok()) << tasks.status().ToString();
  EXPECT_GT(tasks->tasks(), 50u);
  EXPECT_EQ(tasks->tasks(), graph.tasks());
  for (int run = 0; run < 2; ++run) {
    const Status status = graph.Run(card.queue());
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(read(), wanted);
  }
  EXPECT_EQ(card.RecordTasks(&graph, [] {}).status().code(), Code::kFailedPrecondition);
  Card other = Open();
  graph::Graph foreign(other.session());
  EXPECT_EQ(card.RecordTasks(&foreign, [&] { Exp(x); }).status().message(),
            "the graph is in another session than the card");
  EXPECT_EQ(card.EndRecordingAsTasks(&graph).status().message(), "no recording is under way");
}

TEST_F(TensorDaemon, ARecordingFailsWithItsFirstError) {
  Card card = Open();
  const Tensor x = card.FromHost(Numbers({64, 64}, 1), {64, 64});
  const Tensor row = card.FromHost(Numbers({7}, 1), {7});
  const auto failed = card.Record([&] { Exp(Add(Exp(x), row)); });
  EXPECT_EQ(failed.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(card.Record([] {}).status().code(), Code::kFailedPrecondition);
  const auto nested = card.Record([&] {
    EXPECT_FALSE(card.Record([] {}).ok());
    EXPECT_TRUE(Exp(x).ok());
  });
  EXPECT_TRUE(nested.ok()) << nested.status().ToString();
  EXPECT_EQ(*Abs(x).ToHost(), *Maximum(x, Neg(x)).ToHost());  // runs again
}

TEST_F(TensorDaemon, AnErrorOfTheCardComesWithTheResult) {
  Card card = Open();
  const Tensor x = card.FromHost(Numbers({64, 64}, 1), {64, 64});
  ASSERT_TRUE(card.Finish().ok());
  daemon_.Kill();
  const Tensor y = Exp(x);
  const Result<std::vector<float>> numbers = y.ToHost();
  EXPECT_EQ(numbers.status().code(), Code::kUnavailable) << numbers.status().ToString();
}

TEST_F(TensorDaemon, MemoryThatIsUsedUpIsAnErrorThatNamesTheLimit) {
  Card card = Open();
  std::vector<Tensor> tensors;
  const std::vector<float> row(16384);
  Tensor tensor = card.FromHost(row, {1, 16384});
  const Tensor column = card.FromHost(row, {16384, 1});
  while (tensor.ok() && tensors.size() < 100) {
    tensors.push_back(tensor);
    tensor = Add(column, tensors[0]);  // 512 MiB; nothing waits for it
  }
  EXPECT_EQ(tensor.status().code(), Code::kResourceExhausted) << tensors.size();
  EXPECT_NE(tensor.status().error().limit, "");
}

}  // namespace
}  // namespace ttfd::tensor::tensor_daemon_test
