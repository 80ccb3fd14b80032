// Task graphs whose functions have kernels for all harts of a tile: a matrix product tile by tile and softmax as five
// tasks a row, equal to the operations of libttfd_tensor. TTFD_SEEDS in the environment: how many seeds, in place of
// five.
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/client_fixture.h"
#include "ttfd/graph/graph.h"
#include "ttfd/tensor/ops.h"

namespace ttfd::graph::graph_compute_test {
namespace {

using client::Buffer;
using tensor::DType;
using tensor::Tensor;

constexpr uint32_t kTileBytes = 4096;
constexpr uint32_t kTileSize = 32;
constexpr uint32_t kReportBytes = 64;

uint32_t Seeds() {
  const char* const text = std::getenv("TTFD_SEEDS");
  return text == nullptr ? 5 : static_cast<uint32_t>(std::atoi(text));
}

// Extents in tiles: softmax(a b + bias) of `rows` x `inner` and `inner` x `columns`.
struct Extents {
  uint32_t rows, inner, columns;
};

// Tiles of a buffer: the first, how many, and the step from one to the next.
struct Tiles {
  const Buffer* buffer = nullptr;
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t step = 1;
};

class ComputeTasks : public ttfd::testing::ClientFixture {
 protected:
  void SetUp() override {
    ClientFixture::SetUp();
    shared_ = std::move(session_);
    tensor::Result<tensor::Card> card = tensor::Card::In(shared_);
    ASSERT_TRUE(card.ok()) << card.status().ToString();
    card_ = *card;
    reader_ = Load("task_tile_reader");
    writer_ = Load("task_tile_writer");
    report_ = Load("task_report");
    product_ = LoadCompute("task_matmul");
    reduce_ = LoadCompute("task_row_reduce");
    expand_ = LoadCompute("task_row_expand");
    exp_ = LoadCompute("task_exp");
  }

  client::Kernel Load(const std::string& name) {
    Result<client::Kernel> kernel = shared_->LoadKernelFile(ttfd::testing::KernelPath(name));
    EXPECT_TRUE(kernel.ok()) << kernel.status().ToString();
    return *std::move(kernel);
  }
  client::ComputeKernel LoadCompute(const std::string& name) {
    const std::string path = ttfd::testing::KernelPath(name + "_trisc0");
    Result<client::ComputeKernel> kernel =
        shared_->LoadKernels(path.substr(0, path.size() - std::string("_trisc0.elf").size()));
    EXPECT_TRUE(kernel.ok()) << kernel.status().ToString();
    return *std::move(kernel);
  }
  Buffer MakeTiles(uint32_t count) {
    Result<Buffer> buffer =
        shared_->AllocateDram(uint64_t{count} * kTileBytes, {.page_bytes = kTileBytes});
    EXPECT_TRUE(buffer.ok()) << buffer.status().ToString();
    return *std::move(buffer);
  }
  Tensor MakeTensor(uint32_t rows, uint32_t columns, std::mt19937* random) {
    std::vector<float> numbers(size_t{rows} * columns);
    for (float& number : numbers) number = std::normal_distribution<float>()(*random);
    return card_->FromHost(numbers, {rows, columns}, DType::kFloat32);
  }

  Function AddFunction(Graph* graph, const char* name, const client::ComputeKernel& compute,
                       const char* on) {
    return graph->AddFunction(name, writer_,
                              {.on = on, .host = {}, .ncrisc = &reader_, .compute = &compute});
  }
  static Task AddTask(Graph* graph, Function function, std::vector<Tiles> inputs,
                      const Tiles& output, uint32_t mode, std::vector<Task> after) {
    std::vector<Argument> arguments;
    inputs.resize(3, {inputs[0].buffer});
    for (const Tiles& one : inputs) {
      arguments.insert(arguments.end(), {*one.buffer, one.first, one.count, one.step});
    }
    arguments.insert(arguments.end(), {*output.buffer, output.first, output.count, mode});
    return graph->Add(function, arguments, {.after = std::move(after), .on = {}});
  }

  // Describes softmax(a b + bias), with a plain task after each row.
  void Describe(Graph* graph, const Extents& extents, const Tensor& a, const Tensor& b,
                const Tensor& bias, const Tensor& output);

  std::shared_ptr<client::Session> shared_;
  std::optional<tensor::Card> card_;
  client::Kernel reader_, writer_, report_;
  client::ComputeKernel product_, reduce_, expand_, exp_;
  Buffer sums_, terms_, exponentials_, row_maxima_, row_sums_, reports_;
};

void ComputeTasks::Describe(Graph* graph, const Extents& extents, const Tensor& a, const Tensor& b,
                            const Tensor& bias, const Tensor& output) {
  const uint32_t rows = extents.rows, inner = extents.inner, columns = extents.columns;
  const Function product = AddFunction(graph, "matmul", product_, "MATRIX");
  const Function maximum = AddFunction(graph, "rowmax", reduce_, "MATRIX");
  const Function subtract = AddFunction(graph, "rowexpandsub", expand_, "VECTOR");
  const Function exponential = AddFunction(graph, "exp", exp_, "VECTOR");
  const Function sum = AddFunction(graph, "rowsum", reduce_, "MATRIX");
  const Function divide = AddFunction(graph, "rowexpanddiv", expand_, "VECTOR");
  const Function report = graph->AddFunction("report", report_);
  sums_ = MakeTiles(rows * columns);
  terms_ = MakeTiles(rows * columns);
  exponentials_ = MakeTiles(rows * columns);
  row_maxima_ = MakeTiles(rows);
  row_sums_ = MakeTiles(rows);
  reports_ = *shared_->AllocateDram(uint64_t{rows} * kReportBytes, {.page_bytes = kReportBytes});
  for (uint32_t row = 0; row < rows; ++row) {
    const auto all = [&](const Buffer& buffer) { return Tiles{&buffer, row * columns, columns}; };
    const auto one = [&](const Buffer& buffer) { return Tiles{&buffer, row, 1}; };
    std::vector<Task> products;
    for (uint32_t column = 0; column < columns; ++column) {
      products.push_back(AddTask(graph, product,
                                 {{a.buffer(), row * inner, inner},
                                  {b.buffer(), column, inner, columns},
                                  {bias.buffer(), column, 1}},
                                 {&sums_, row * columns + column, 1}, 0, {}));
    }
    const Task t = AddTask(graph, maximum, {all(sums_)}, one(row_maxima_), 0, products);
    const Task u = AddTask(graph, subtract, {all(sums_), one(row_maxima_)}, all(terms_), 0, {t});
    const Task v = AddTask(graph, exponential, {all(terms_)}, all(exponentials_), 0, {u});
    const Task w = AddTask(graph, sum, {all(exponentials_)}, one(row_sums_), 1, {v});
    const Task x =
        AddTask(graph, divide, {all(exponentials_), one(row_sums_)}, all(*output.buffer()), 1, {w});
    graph->Add(report, {reports_, row}, {.after = {x}, .on = {}});
  }
}

TEST_F(ComputeTasks, EqualTheOperations) {
  for (uint32_t seed = 1; seed <= Seeds(); ++seed) {
    std::mt19937 random(seed);
    const auto extent = [&random](uint32_t most) {
      return 1 + static_cast<uint32_t>(random() % most);
    };
    const Extents extents = {extent(6), extent(4), extent(4)};
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + std::to_string(extents.rows) + " x " +
                 std::to_string(extents.inner) + " x " + std::to_string(extents.columns));
    const uint32_t rows = extents.rows * kTileSize, columns = extents.columns * kTileSize;
    const Tensor a = MakeTensor(rows, extents.inner * kTileSize, &random);
    const Tensor b = MakeTensor(extents.inner * kTileSize, columns, &random);
    const Tensor bias = MakeTensor(1, columns, &random);
    const Tensor wanted = Softmax(Linear(a, b, bias));
    const Tensor found = card_->FromHost(std::vector<float>(size_t{rows} * columns),
                                         {rows, columns}, DType::kFloat32);
    GraphOptions options = {.scheduler = {0, 0},
                            .classes = {{"VECTOR", {{1, 0, 8, 1}}}, {"MATRIX", {{0, 2, 3, 2}}}},
                            .scratch = {},
                            .timeout = {}};
    for (uint32_t i = 0; i < 4; ++i) {
      options.scratch.push_back({i, 2, kTileBytes, client::DataFormat::kFloat32});
    }
    Graph graph(*shared_, options);
    Describe(&graph, extents, a, b, bias, found);
    client::Queue queue = card_->queue();
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(queue.Fill(*found.buffer(), 0, found.buffer()->size_bytes(), 0).ok());
      const Status status = graph.Run(queue);
      ASSERT_TRUE(status.ok()) << status.ToString();
      const auto numbers = found.ToHost(), expected = wanted.ToHost();
      ASSERT_TRUE(numbers.ok() && expected.ok()) << numbers.status().ToString();
      ASSERT_EQ(*numbers, *expected);
    }
    std::vector<uint32_t> reports(size_t{extents.rows} * kReportBytes / 4);
    ASSERT_TRUE(queue.Read(reports_, 0, std::as_writable_bytes(std::span(reports))).ok());
    for (uint32_t row = 0; row < extents.rows; ++row) {
      EXPECT_EQ(reports[row * kReportBytes / 4 + 1], row) << "a plain task's argument";
    }
  }
}

}  // namespace
}  // namespace ttfd::graph::graph_compute_test
