// Golden tensors.
#include "client/ttmlir/src/golden.h"

#include <algorithm>
#include <cmath>

#include "client/ttmlir/src/elements.h"

namespace ttfd::ttmlir {
namespace {

constexpr int64_t kMaxGoldenExtent = int64_t{1} << 31;

std::optional<GoldenTensor> GoldenIn(const Record& record) {
  const std::optional<ElementType> type = ElementTypeNamed(record.Name("dtype"));
  const Bytes data = record.Items("data").Raw();
  if (!type) return std::nullopt;
  GoldenTensor tensor;
  uint64_t elements = 1;
  const List shape = record.Items("shape");
  for (uint32_t i = 0; i < shape.size(); ++i) {
    const int64_t extent = shape.Integer(i);
    if (extent < 1 || extent > kMaxGoldenExtent) return std::nullopt;
    elements *= static_cast<uint64_t>(extent);
    if (elements > data.size()) return std::nullopt;
    tensor.shape.push_back(extent);
  }
  if (elements * BytesOf(type->basic) != data.size()) return std::nullopt;
  tensor.numbers.resize(elements);
  for (uint64_t i = 0; i < elements; ++i) {
    tensor.numbers[i] = static_cast<float>(ElementOf(*type, data, i));
  }
  return tensor;
}

}  // namespace

Closeness ClosenessOf(const std::vector<float>& made, const std::vector<float>& wanted) {
  const auto count = static_cast<double>(std::max<size_t>(made.size(), 1));
  double sum_m = 0, sum_w = 0, sum_mm = 0, sum_ww = 0, sum_mw = 0, differences = 0;
  for (size_t i = 0; i < made.size(); ++i) {
    const double m = made[i];
    const double w = wanted[i];
    sum_m += m;
    sum_w += w;
    sum_mm += m * m;
    sum_ww += w * w;
    sum_mw += m * w;
    differences += (m - w) * (m - w);
  }
  const double spread_m = sum_mm - sum_m * sum_m / count;
  const double spread_w = sum_ww - sum_w * sum_w / count;
  const double together = sum_mw - sum_m * sum_w / count;
  Closeness closeness;
  closeness.relative_error = std::sqrt(differences / std::max(sum_ww, 1e-30));
  const bool constant = spread_m <= 1e-12 * sum_mm && spread_w <= 1e-12 * sum_ww;
  closeness.correlation = constant ? (differences <= 1e-12 * sum_ww ? 1 : 0)
                                   : together / std::sqrt(std::max(spread_m * spread_w, 1e-30));
  return closeness;
}

std::optional<GoldenTensor> GoldenOf(const Record& program, std::string_view key) {
  const List map = program.Child("debug_info").Child("golden_info").Items("golden_map");
  for (uint32_t i = 0; i < map.size(); ++i) {
    const Record entry = map.Child(i);
    if (entry.Text("key") != key) continue;
    return GoldenIn(entry.Items("value").Child(0).Child("value"));
  }
  return std::nullopt;
}

}  // namespace ttfd::ttmlir
