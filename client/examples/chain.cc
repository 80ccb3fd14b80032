// Example: exp(a * b + c) of a thousand tiles of bfloat16 numbers, by the Tensix engines of 64 worker tiles.
//
//   chain KERNELS_FOLDER [TILES]
//
// Three kernels work together on the five processors of a worker tile: chain_reader, chain_compute
// and chain_writer. They have common arguments only; each worker tile finds its share from its
// position. The result is compared with the host's of the same inputs in double precision. chain.py
// is the same program in Python.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "stopwatch.h"
#include "ttfd/session.h"
#include "ttfd/tiles.h"

namespace {

using ttfd::client::Buffer;
using ttfd::client::ComputeIndices;
using ttfd::client::ComputeKernel;
using ttfd::client::CoreRange;
using ttfd::client::DataFormat;
using ttfd::client::Kernel;
using ttfd::client::LaunchRequest;
using ttfd::client::Processor;
using ttfd::client::Program;
using ttfd::client::ProgramBuilder;
using ttfd::client::Queue;
using ttfd::client::Session;

using Numbers = std::vector<float>;  // of tiles below one another: rows of 32

constexpr uint32_t kTile = 32;  // rows and columns
constexpr DataFormat kFormat = DataFormat::kFloat16B;
const uint32_t kTileBytes = ttfd::client::TileBytes(kFormat);
constexpr uint32_t kBufferedTiles = 2;
constexpr uint32_t kInputs = 3;
constexpr uint32_t kWorkers = 64;
constexpr double kMaxRelativeError = 0.004;  // of rounding to bfloat16, up to 0.0039, and of exp
constexpr double kMinPcc = 0.9999;           // Pearson's correlation coefficient

std::vector<std::byte> RandomTiles(uint32_t tiles, uint32_t seed) {
  std::minstd_rand random(seed);
  std::uniform_real_distribution<float> between(-2, 2);
  Numbers numbers(size_t{tiles} * kTile * kTile);
  for (float& number : numbers) number = between(random);
  return Check(ttfd::client::ToTiles(numbers, tiles * kTile, kTile, kFormat), "to tiles");
}

Numbers NumbersOf(const std::vector<std::byte>& tiles) {
  const auto rows = static_cast<uint32_t>(tiles.size() / kTileBytes * kTile);
  return Check(ttfd::client::FromTiles(tiles, rows, kTile, kFormat), "from tiles");
}

// A program and the indices of its kernels.
struct Chain {
  Program program;
  uint32_t reader;
  ComputeIndices compute;
  uint32_t writer;
};

Chain MakeChain(Session& session, const std::string& folder, const std::vector<CoreRange>& cores) {
  const Kernel reader = Check(session.LoadKernelFile(folder + "/chain_reader.elf"), "load reader");
  const ComputeKernel compute =
      Check(session.LoadKernels(folder + "/chain_compute"), "load compute");
  const Kernel writer = Check(session.LoadKernelFile(folder + "/chain_writer.elf"), "load writer");
  Chain chain;
  ProgramBuilder builder;
  chain.reader = builder.AddKernel(reader, Processor::kNcrisc, cores);
  chain.compute = builder.AddKernels(compute, cores);
  chain.writer = builder.AddKernel(writer, Processor::kBrisc, cores);
  for (uint32_t index = 0; index <= kInputs; ++index) {
    builder.AddCircularBuffer(index, kBufferedTiles, kTileBytes, cores, kFormat);
  }
  chain.program = Check(session.CreateProgram(builder), "create program");
  return chain;
}

// The tiles of the result, and the milliseconds that the launch took.
std::pair<std::vector<std::byte>, double> Compute(
    const std::string& folder, const std::vector<std::vector<std::byte>>& inputs) {
  const auto tiles = static_cast<uint32_t>(inputs[0].size() / kTileBytes);
  Session session = Check(Session::Connect({.client_name = "chain"}), "connect");
  const uint32_t columns = session.device().grid_x;
  Queue queue = session.queue();
  std::vector<Buffer> buffers;
  for (uint32_t i = 0; i <= kInputs; ++i) {
    buffers.push_back(
        Check(session.AllocateDram(uint64_t{tiles} * kTileBytes, {.page_bytes = kTileBytes}),
              "allocate"));
  }
  for (uint32_t i = 0; i < kInputs; ++i) {
    Check(queue.Write(buffers[i], 0, inputs[i]), "write");
  }
  const Chain chain = MakeChain(session, folder, ttfd::client::FirstCores(columns, kWorkers));

  LaunchRequest launch(chain.program);
  launch.Common(chain.reader, {tiles, kWorkers, columns, kInputs, 0, 0, 0});
  for (uint32_t i = 0; i < kInputs; ++i) launch.Address(chain.reader, 4 + i, buffers[i]);
  launch.Common(chain.compute, {tiles, kWorkers, columns});
  launch.Common(chain.writer, {tiles, kWorkers, columns, kInputs, 0});
  launch.Address(chain.writer, 4, buffers[kInputs]);
  Stopwatch stopwatch;
  Check(queue.Launch(launch), "launch");
  const double elapsed_ms = stopwatch.Lap();
  std::vector<std::byte> result(inputs[0].size());
  Check(queue.Read(buffers[kInputs], 0, result), "read");
  return {std::move(result), elapsed_ms};
}

struct Comparison {
  double pcc;
  double relative_error;
};

Comparison Compare(const std::vector<Numbers>& inputs, const Numbers& result) {
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_yy = 0, sum_xy = 0, worst = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    const double x = std::exp(double{inputs[0][i]} * inputs[1][i] + inputs[2][i]);
    const double y = result[i];
    const double error = std::abs(y - x) / x;
    if (!(error <= worst)) worst = error;
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_yy += y * y;
    sum_xy += x * y;
  }
  const auto n = static_cast<double>(result.size());
  const double covariance = n * sum_xy - sum_x * sum_y;
  return {covariance / std::sqrt((n * sum_xx - sum_x * sum_x) * (n * sum_yy - sum_y * sum_y)),
          worst};
}

}  // namespace

int main(int argc, char** argv) {
  const long tiles = argc == 3 ? std::strtol(argv[2], nullptr, 10) : 1000;
  if ((argc != 2 && argc != 3) || tiles < 1 || tiles > 100'000) {
    std::fprintf(stderr, "usage: chain KERNELS_FOLDER [TILES, 1 to 100000]\n");
    return 2;
  }
  std::vector<std::vector<std::byte>> inputs;
  std::vector<Numbers> numbers;
  for (uint32_t i = 0; i < kInputs; ++i) {
    inputs.push_back(RandomTiles(static_cast<uint32_t>(tiles), i + 1));
    numbers.push_back(NumbersOf(inputs.back()));
  }
  const auto [tiles_of_result, elapsed_ms] = Compute(argv[1], inputs);
  const Numbers result = NumbersOf(tiles_of_result);
  const auto [pcc, error] = Compare(numbers, result);
  std::printf(
      "exp(a * b + c) of %ld tiles on %u worker tiles: PCC %.7f, max relative error %.5f, %.1f "
      "ms\n",
      tiles, kWorkers, pcc, error, elapsed_ms);
  if (!(pcc >= kMinPcc && error <= kMaxRelativeError)) {  // nor is it if one is no number
    std::printf("WRONG: the PCC is at least %g, the error at most %g\n", kMinPcc,
                kMaxRelativeError);
    return 1;
  }
  std::printf("verified: %zu numbers agree with the host's\n", result.size());
  return 0;
}
