// Words of chains and of padding.
#include "client/tensor/src/chain.h"

#include <bit>

namespace ttfd::tensor {

ops::Chain ChainWords(const ChainSteps& steps, DType output) {
  ops::Chain chain = {};
  uint32_t index = 0;
  const auto add = [&](const ChainStep& step) {
    chain.codes |= static_cast<uint32_t>(step.code) << 8 * index;
    chain.operands[index++] = std::bit_cast<uint32_t>(step.operand);
  };
  for (const ChainStep& step : steps) add(step);
  if (output == DType::kBfp8) add({ops::Unary::kRound});
  return chain;
}

ops::Padding PaddingWords(const TensorSpec& output) {
  const auto last = [](uint32_t extent) { return (extent - 1) % 32 + 1; };
  return {.last_rows = last(output.shape.rows()),
          .last_columns = last(output.shape.columns()),
          .tile_rows = output.tile_rows(),
          .tile_columns = output.tile_columns()};
}

}  // namespace ttfd::tensor
