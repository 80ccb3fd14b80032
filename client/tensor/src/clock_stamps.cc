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

RecordedOperation StampOperation(uint32_t index, const Allocation& memory,
                                 const CardLimits& limits) {
  ops::Stamp words = {};
  words.index = index;
  Lowering lowering = {.family = Family::kStamp};
  lowering.circular_buffers = {{0, 1, client::DataFormat::kInt32}};  // more than enough
  lowering.kernels = {
      {WordsOf(words), {{WordOf(offsetof(ops::Stamp, address)), Lowering::kOutput}}}};
  Divide(1, 1, limits, &lowering);
  return {.name = "stamp",
          .lowering = std::move(lowering),
          .inputs = {},
          .output = memory.buffer().handle()};
}

}  // namespace

Result<ClockStamps> ClockStamps::AddTo(CardState* card,
                                       std::vector<RecordedOperation>* operations) {
  const auto count = static_cast<uint32_t>(operations->size()) + kStampsBefore;
  const TensorSpec spec = {{count, kWordsOfStamp}, DType::kUInt32, Layout::kRowMajor};
  const Result<std::shared_ptr<Allocation>> memory = card->AllocateForHost(spec);
  if (!memory.ok()) return memory.status();

  std::vector<OperationClocks> clocks;
  std::vector<RecordedOperation> stamped;
  for (uint32_t i = 0; i < count; ++i) {
    if (i >= kStampsBefore) {
      RecordedOperation& operation = (*operations)[i - kStampsBefore];
      clocks.push_back({operation.name, operation.lowering.launches(), 0});
      stamped.push_back(std::move(operation));
    }
    stamped.push_back(StampOperation(i, **memory, card->limits()));
  }
  *operations = std::move(stamped);
  return ClockStamps(std::move(clocks), Tensor(spec, std::make_shared<Storage>(*memory)));
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
  std::vector<OperationClocks> clocks = operations_;
  for (size_t i = 0; i < clocks.size(); ++i) {
    const uint64_t all = between(i + kStampsBefore);
    clocks[i].clocks = all - std::min(all, own);
  }
  return clocks;
}

}  // namespace ttfd::tensor
