// Circular buffers on buffers in L1, through libttfd and the real daemon: kernels compute with tiles that were written
// there, and leave tiles there that are read.
#include <algorithm>

#include "tests/support/client_fixture.h"

namespace ttfd::client::client_circular_buffer_test {
namespace {

class ClientCircularBuffers : public ttfd::testing::ClientFixture {
 protected:
  static constexpr uint32_t kTileBytes = 2048;
  static constexpr uint32_t kTilesPerCore = 2;
  static constexpr uint32_t kTiles = 3 * kTilesPerCore;
  using Elements = std::vector<uint16_t>;  // bfloat16

  Buffer Shards() {
    Result<Buffer> buffer =
        session_->AllocateSharded(kTiles * kTileBytes, {.page_bytes = kTileBytes,
                                                        .cores = cores_,
                                                        .row_pages = 1,
                                                        .shard_rows = kTilesPerCore,
                                                        .shard_row_pages = 1});
    EXPECT_TRUE(buffer.ok()) << buffer.status().ToString();
    return buffer.ok() ? std::move(*buffer) : Buffer();
  }
  // sum = left + right, tile by tile, on the cores that have them.
  Program Sum(const Buffer& left, const Buffer& right, const Buffer& sum) {
    const std::string path = ttfd::testing::KernelPath("present_tiles");
    Result<Kernel> reader = session_->LoadKernelFile(path);
    Result<ComputeKernel> math =
        session_->LoadKernels(path.substr(0, path.rfind('/')) + "/tile_math");
    EXPECT_TRUE(reader.ok() && math.ok()) << reader.status().ToString() << math.status().ToString();
    if (!reader.ok() || !math.ok()) {
      return {};
    }
    ProgramBuilder builder;
    builder.AddKernel(*reader, Processor::kNcrisc, cores_);
    builder.AddKernels(*math, cores_);
    uint32_t index = 0;
    for (const Buffer* buffer : {&left, &right, &sum}) {
      builder.AddCircularBuffer(index++, kTilesPerCore, kTileBytes, cores_, DataFormat::kFloat16B,
                                *buffer);
    }
    Result<Program> program = session_->CreateProgram(builder);
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return program.ok() ? std::move(*program) : Program();
  }
  static LaunchRequest LaunchOf(const Program& program) {
    LaunchRequest launch(program);
    launch.Common(0, {2, kTilesPerCore});
    launch.Common(ComputeIndices{1, 2, 3}, {kTilesPerCore, 0});
    return launch;
  }
  // Whole numbers from `first`, different in each tile, whose sums bfloat16 has exactly.
  static std::vector<float> Numbers(float first) {
    std::vector<float> numbers(kTiles * kTileBytes / 2);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const size_t tile = i / 1024;
      numbers[i] = first + static_cast<float>(i % 7 + tile);
    }
    return numbers;
  }
  static Elements ToElements(const std::vector<float>& numbers) {
    Elements elements;
    for (const float number : numbers) {
      uint32_t bits = 0;
      std::memcpy(&bits, &number, sizeof bits);
      elements.push_back(static_cast<uint16_t>(bits >> 16));
    }
    return elements;
  }
  static Elements SumOf(const std::vector<std::vector<float>>& all) {
    std::vector<float> sum(all[0].size());
    for (const std::vector<float>& one : all) {
      std::transform(sum.begin(), sum.end(), one.begin(), sum.begin(), std::plus<>());
    }
    return ToElements(sum);
  }
  void EnqueueWrite(Queue queue, const Buffer& buffer, const std::vector<float>& numbers) {
    const Elements elements = ToElements(numbers);
    const Status status =
        queue.EnqueueWrite(buffer, 0, std::as_bytes(std::span(elements))).status();
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  const std::vector<CoreRange> cores_ = {{1, 0, 2, 0}, {5, 3, 5, 3}};
};

TEST_F(ClientCircularBuffers, KernelsReadAndWriteTheShardsOfTheirCores) {
  const Buffer a = Shards(), b = Shards(), c = Shards(), d = Shards();
  const Program first = Sum(a, b, c);
  const Program second = Sum(c, b, d);
  const std::vector<float> one = Numbers(1), other = Numbers(10), third = Numbers(30);
  Queue queue = session_->queue();
  EnqueueWrite(queue, a, one);
  EnqueueWrite(queue, b, other);
  Elements c_read(kTiles * kTileBytes / 2), d_read = c_read, d_again = c_read;
  ASSERT_TRUE(queue.EnqueueLaunch(LaunchOf(first)).ok());
  ASSERT_TRUE(queue.EnqueueLaunch(LaunchOf(second)).ok());
  ASSERT_TRUE(queue.EnqueueRead(c, 0, std::as_writable_bytes(std::span(c_read))).ok());
  ASSERT_TRUE(queue.EnqueueRead(d, 0, std::as_writable_bytes(std::span(d_read))).ok());
  EnqueueWrite(queue, a, third);
  ASSERT_TRUE(queue.EnqueueLaunch(LaunchOf(first)).ok());
  ASSERT_TRUE(queue.EnqueueLaunch(LaunchOf(second)).ok());
  ASSERT_TRUE(queue.EnqueueRead(d, 0, std::as_writable_bytes(std::span(d_again))).ok());
  const Status finished = queue.Finish();
  ASSERT_TRUE(finished.ok()) << finished.ToString();
  EXPECT_EQ(c_read, SumOf({one, other}));
  EXPECT_EQ(d_read, SumOf({one, other, other}));
  EXPECT_EQ(d_again, SumOf({third, other, other}));
}

TEST_F(ClientCircularBuffers, ATraceComputesWithWhatIsThereWhenItIsReplayed) {
  const Buffer a = Shards(), b = Shards(), d = Shards();
  Buffer c = Shards();
  const Program first = Sum(a, b, c);
  const Program second = Sum(c, b, d);
  Queue queue = session_->queue();
  const std::vector<float> other = Numbers(10);
  EnqueueWrite(queue, b, other);
  const std::vector<LaunchRequest> launches = {LaunchOf(first), LaunchOf(second)};
  Result<Trace> trace = queue.RecordTrace(launches);
  ASSERT_TRUE(trace.ok()) << trace.status().ToString();
  c = Buffer();  // the trace keeps its memory
  for (const float number : {1.f, 25.f}) {
    EnqueueWrite(queue, a, Numbers(number));
    ASSERT_TRUE(queue.EnqueueReplay(ReplayRequest(*trace)).ok());
    Elements read(kTiles * kTileBytes / 2);
    const Status status = queue.Read(d, 0, std::as_writable_bytes(std::span(read)));
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(read, SumOf({Numbers(number), other, other}));
  }
  const Status refused = queue.Launch(LaunchOf(first));
  EXPECT_EQ(refused.code(), Code::kNotFound) << refused.ToString();
  EXPECT_EQ(refused.error().field, "launch.program");
}

TEST_F(ClientCircularBuffers, ACircularBufferOnNoBufferIsRefused) {
  Result<Kernel> kernel = session_->LoadKernelFile(ttfd::testing::KernelPath("empty"));
  ASSERT_TRUE(kernel.ok());
  ProgramBuilder builder;
  builder.AddKernel(*kernel, Processor::kBrisc, {CoreRange{}});
  builder.AddCircularBuffer(0, 1, 64, {CoreRange{}}, DataFormat::kNone, Buffer());
  const Status status = session_->CreateProgram(builder).status();
  EXPECT_EQ(status.code(), Code::kNotFound) << status.ToString();
  EXPECT_EQ(status.error().field, "create_program.circular_buffers[0].buffer");
}

}  // namespace
}  // namespace ttfd::client::client_circular_buffer_test
