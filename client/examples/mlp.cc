// Example: two layers of a neural network, gelu(x * w1 + b1) * w2 + b2, by operations on tensors.
//
//   mlp FOLDER [REPEATS]
//
// Reads 32-bit floats from FOLDER/x, w1, b1, w2 and b2, of the shapes below, and writes y. The demo
// `mlp` makes the files with NumPy and compares y with its own result.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "check.h"
#include "stopwatch.h"
#include "ttfd/tensor/ops.h"

namespace {

namespace tt = ttfd::tensor;

constexpr uint32_t kRows = 128, kInner = 768, kHidden = 3072;

tt::Tensor Load(tt::Card& card, const std::string& path, const tt::Shape& shape) {
  std::vector<float> numbers(shape.elements());
  std::ifstream file(path, std::ios::binary);
  const auto bytes = static_cast<std::streamsize>(numbers.size() * sizeof(float));
  if (!file.read(reinterpret_cast<char*>(numbers.data()), bytes)) {
    return tt::Status(tt::Code::kNotFound, path + " has no " + shape.ToString() + " floats");
  }
  return card.FromHost(numbers, shape);
}

void Save(const std::vector<float>& numbers, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size() * sizeof(float)));
  file.close();
  Check(file ? tt::Status() : tt::Status(tt::Code::kUnavailable, "cannot write " + path), "save");
}

}  // namespace

int main(int argc, char** argv) {
  const long repeats = argc == 3 ? std::strtol(argv[2], nullptr, 10) : 1;
  if ((argc != 2 && argc != 3) || repeats < 1 || repeats > 1000) {
    std::fprintf(stderr, "usage: mlp FOLDER [REPEATS, 1 to 1000]\n");
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  tt::Card card = Check(tt::Card::Open({.connect = {.client_name = "mlp"}}), "open");
  const tt::Tensor x = Load(card, folder + "x", {kRows, kInner});
  const tt::Tensor w1 = Load(card, folder + "w1", {kInner, kHidden});
  const tt::Tensor b1 = Load(card, folder + "b1", {kHidden});
  const tt::Tensor w2 = Load(card, folder + "w2", {kHidden, kInner});
  const tt::Tensor b2 = Load(card, folder + "b2", {kInner});
  // The first run loads the kernels.
  std::vector<float> numbers;
  for (long i = 0; i <= repeats; ++i) {
    const uint64_t launches = card.counts().launches;
    Stopwatch stopwatch;
    const tt::Tensor hidden = tt::Linear(x, w1, b1, {.activation = "gelu"});
    const tt::Tensor y = tt::Linear(hidden, w2, b2);
    numbers = Check(y.ToHost(), "run");  // an error of any operation
    if (i == 0) continue;
    std::printf("mlp [%u, %u] through %u-%u-%u: %llu launches on up to %u cores, %.1f ms\n", kRows,
                kInner, kInner, kHidden, kInner,
                static_cast<unsigned long long>(card.counts().launches - launches), card.cores(),
                stopwatch.Lap());
  }
  Save(numbers, folder + "y");
  return 0;
}
