// Attention as launches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "client/tensor/src/lowering.h"
#include "firmware/ops/attention_words.h"
#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

// Inputs 0, 1 and 2 are queries, keys and values. Queries are [users, heads, rows, columns], or with `is_decode`
// [1, users, heads, columns]: a query of each user and head. Keys and values are [users, heads, keys, columns], with a
// page table [blocks, heads, keys of a block, columns].
struct AttentionOperation {
  bool is_decode = false;
  bool is_causal = false;
  uint32_t sliding_window = 0;  // 0: none
  float scale = 1;
  // Numbers of inputs.
  std::optional<uint32_t> page_table = {};  // [users, blocks of a user]
  std::optional<uint32_t> positions = {};   // one or one a user; none: the last key
  std::optional<uint32_t> mask = {};
};

// Keys of a user.
uint32_t KeysOf(const AttentionOperation& operation, std::span<const TensorSpec> inputs);

// REQUIRES shapes that match, and with is_causal or sliding_window as many rows as keys, but for is_decode.
Lowering LowerAttention(const AttentionOperation& operation, std::span<const TensorSpec> inputs,
                        const TensorSpec& output, const CardLimits& limits);

}  // namespace ttfd::tensor
