// Stamps of the clock between the operations of a recording.
#include "client/tensor/src/clock_stamps.h"

#include <algorithm>
#include <cstdint>

#include "firmware/ops/stamp_words.h"
#include "ttfd/tiles.h"

namespace ttfd::tensor {
namespace {

constexpr uint32_t kStampsBefore = 2;  // the first operation
constexpr uint32_t kWordsOfStamp = ops::kStampBytes / sizeof(uint32_t);

Lowering LowerStamp(uint32_t index, const CardLimits& limits) {
  constexpr client::DataFormat kWords = client::DataFormat::kInt32;
  ops::Stamp words = {};
  words.index = index;
  Lowering lowering = {.family = Family::kStamp};
  lowering.circular_buffers = {{0, 1, kWords}};  // a page of it is more than enough
  lowering.kernels = {
      {WordsOf(words), {{WordOf(offsetof(ops::Stamp, address)), Lowering::kOutput}}}};
  Divide(1, 1, limits, &lowering);
  return lowering;
}

}  // namespace

Result<ClockStamps> ClockStamps::AddTo(CardState* card, RecordedLaunches* recorded) {
  const auto count = static_cast<uint32_t>(recorded->operations.size()) + kStampsBefore;
  const TensorSpec spec = {{count, kWordsOfStamp}, DType::kUInt32, Layout::kRowMajor};
  const Result<std::shared_ptr<Allocation>> memory = card->AllocateForHost(spec);
  if (!memory.ok()) return memory.status();

  std::vector<client::LaunchRequest> launches;
  auto next = recorded->launches.begin();
  for (uint32_t i = 0; i < count; ++i) {
    if (i >= kStampsBefore) {
      const auto end = next + recorded->operations[i - kStampsBefore].launches;
      std::move(next, end, std::back_inserter(launches));
      next = end;
    }
    Result<client::LaunchRequest> stamp = card->RequestFor(LowerStamp(i, card->limits()), **memory);
    if (!stamp.ok()) return stamp.status();
    launches.push_back(std::move(*stamp));
  }
  recorded->launches = std::move(launches);
  return ClockStamps(recorded->operations, Tensor(spec, std::make_shared<Storage>(*memory)));
}

Result<std::vector<OperationClocks>> ClockStamps::Read() const {
  const Result<std::vector<uint32_t>> words = stamps_.ToHost<uint32_t>();
  if (!words.ok()) return words.status();
  const auto between = [&](size_t stamp) {  // clocks from the stamp before it
    const auto at = [&](size_t i) {
      return uint64_t{(*words)[i * kWordsOfStamp + 1]} << 32 | (*words)[i * kWordsOfStamp];
    };
    return at(stamp) - at(stamp - 1);
  };
  const uint64_t own = between(1);
  std::vector<OperationClocks> clocks;
  for (size_t i = 0; i < operations_.size(); ++i) {
    const uint64_t all = between(i + kStampsBefore);
    clocks.push_back({.operation = operations_[i].name,
                      .launches = operations_[i].launches,
                      .clocks = all - std::min(all, own)});
  }
  return clocks;
}

}  // namespace ttfd::tensor
