// Results of a call on the card.
#include "client/cli/tensor_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/printing.h"

namespace ttfd::cli {
namespace {

using client::Result;
using client::Status;

Result<NpyArray> ArrayOf(const tensor::Tensor& output) {
  const auto extents = output.shape().extents();
  NpyArray array = {{extents.begin(), extents.end()}};
  const size_t count = output.shape().elements();
  const bool is_integer = output.dtype() == tensor::DType::kUInt32;
  Status status;
  if (is_integer) {
    array.integers.resize(count);
    status = output.ToHost(std::span(array.integers));
  } else {
    array.numbers.resize(count);
    status = output.ToHost(std::span(array.numbers));
  }
  return status.ok() ? Result<NpyArray>(std::move(array)) : status;
}

// The smallest and the greatest element.
std::pair<double, double> RangeOf(const NpyArray& array) {
  const auto range = [](const auto& elements) -> std::pair<double, double> {
    const auto [low, high] = std::minmax_element(elements.begin(), elements.end());
    return {static_cast<double>(*low), static_cast<double>(*high)};
  };
  return array.integers.empty() ? range(array.numbers) : range(array.integers);
}

}  // namespace

Result<Ran> Timed(tensor::Card& card,
                  const std::function<Result<std::vector<tensor::Tensor>>()>& run) {
  if (Status status = card.Finish(); !status.ok()) return status;
  const uint64_t launches = card.counts().launches;
  const auto start = std::chrono::steady_clock::now();
  Result<std::vector<tensor::Tensor>> outputs = run();
  if (!outputs.ok()) return outputs.status();
  Ran ran;
  ran.outputs = *std::move(outputs);
  for (const tensor::Tensor& output : ran.outputs) {
    Result<NpyArray> array = ArrayOf(output);
    if (!array.ok()) return array.status();
    ran.arrays.push_back(*std::move(array));
  }
  ran.ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  ran.launches = card.counts().launches - launches;
  return ran;
}

Status Save(const Ran& ran, const std::vector<std::string>& paths) {
  if (!paths.empty() && paths.size() != ran.arrays.size()) {
    return UsageError(fmt::format("there are {} outputs, and -o is given {} times",
                                  ran.arrays.size(), paths.size()));
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    if (Status status = WriteNpy(paths[i], ran.arrays[i]); !status.ok()) return status;
  }
  return Status();
}

void Report(const Common& common, const std::string& what, const std::string& name,
            const std::vector<std::string>& paths, const Ran& ran) {
  Json outputs = Json::array();
  for (size_t i = 0; i < ran.arrays.size(); ++i) {
    const NpyArray& array = ran.arrays[i];
    const auto [low, high] = RangeOf(array);
    const std::string path = i < paths.size() ? paths[i] : "";
    outputs.push_back({{"file", path},
                       {"shape", array.shape},
                       {"dtype", tensor::DTypeName(ran.outputs[i].dtype())},
                       {"minimum", low},
                       {"maximum", high}});
    if (!common.json) {
      PrintLine(fmt::format("{}: {} from {:.6g} to {:.6g}{}", name,
                            ran.outputs[i].spec().ToString(), low, high,
                            path.empty() ? "" : ", in " + path));
    }
  }
  if (common.json) {
    PrintJson({{what, name}, {"outputs", outputs}, {"launches", ran.launches}, {"ms", ran.ms}});
  } else {
    PrintLine(fmt::format("{} launch{}, {:.1f} ms with the transfer of the result", ran.launches,
                          ran.launches == 1 ? "" : "es", ran.ms));
  }
}

}  // namespace ttfd::cli
