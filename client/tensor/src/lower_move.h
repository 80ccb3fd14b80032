// Operations that move elements as launches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client/tensor/src/lowering.h"
#include "firmware/ops/move_words.h"
#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

inline constexpr uint32_t kTileExtent = 32;  // rows and columns of a tile

// Part of a source in one level: digits of the output from begin to end (not included), and how far one of them moves
// in the source.
struct MoveLevel {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint64_t stride = 0;  // modulo 2^32 as all of this
};

struct MoveSource {
  uint32_t input = 0;
  uint64_t offset = 0;
  std::vector<MoveLevel> levels = {};  // as many as sizes of the operation
};

// The operation that move_words.h describes, before levels are merged and tensors have words.
struct MoveOperation {
  std::vector<uint32_t> sizes = {};  // of the levels; their product is that of the output's shape
  std::vector<MoveSource> sources = {};
  ops::MoveFilling filling = ops::MoveFilling::kNone;
  uint32_t value = 0;  // of an element

  struct PageTable {
    uint32_t input = 0;
    uint32_t offset = 0;
  };
  struct Index {
    static constexpr uint32_t kNoInput = UINT32_MAX;

    ops::MoveIndexUse use = ops::MoveIndexUse::kNone;
    uint32_t input = 0;
    uint32_t level = 0;
    uint32_t limit = 0;
    uint32_t matrices = 1;
    std::optional<PageTable> pages = {};
  };
  std::optional<Index> index = {};

  // Which blocks of the output there are; none: all.
  struct Part {
    uint32_t first_matrix = 0;
    uint32_t matrices = 0;
    uint32_t first_row = 0;
    uint32_t rows = 0;
  };
  std::optional<Part> part = {};
};

// `inputs` and `output` have one type, but for the index. INVALID_ARGUMENT: the elements of bfp8 do not move as whole
// tiles, there are more levels than the kernel has, or more elements than 2^32.
client::Status CheckMove(const MoveOperation& operation, std::span<const TensorSpec> inputs,
                         const TensorSpec& output);

// Errors of CheckMove. REQUIRES at most ops::kMaxMoveSources sources.
client::Result<Lowering> LowerMove(const MoveOperation& operation,
                                   std::span<const TensorSpec> inputs, const TensorSpec& output,
                                   const CardLimits& limits);

// Strides of the elements of a tensor in its logical order, one an extent.
std::vector<uint64_t> StridesOf(const Shape& shape);

}  // namespace ttfd::tensor
