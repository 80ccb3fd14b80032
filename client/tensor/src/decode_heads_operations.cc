// Operations of the table that split and join heads where one row of each user is decoded.
#include <string>
#include <utility>
#include <vector>

#include "client/tensor/src/composition.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;

constexpr int64_t kMaxHeads = 0xFFFF;

// The attribute `name`; `standard` where it is 0.
Result<uint32_t> HeadsAttribute(const Call& call, const char* name, int64_t standard) {
  const int64_t given = call.attribute<int64_t>(name);
  const int64_t heads = given == 0 ? standard : given;
  if (heads >= 1 && heads <= kMaxHeads) return static_cast<uint32_t>(heads);
  return call.Error(name, "is " + std::to_string(heads) + "; it must be 1 to 65535");
}

Outputs RunSplitDecodeHeads(const Call& call) {
  const Result<uint32_t> q_heads = HeadsAttribute(call, "num_heads", 0);
  if (!q_heads.ok()) return q_heads.status();
  const Result<uint32_t> kv_heads = HeadsAttribute(call, "num_kv_heads", *q_heads);
  if (!kv_heads.ok()) return kv_heads.status();
  const TensorSpec& input = call.spec(0);
  const uint32_t all = *q_heads + 2 * *kv_heads;
  if (input.shape.matrices() != 1 || input.shape.columns() % all != 0) {
    return call.InputError(0,
                           "it must be a matrix, a row for each user, and its columns those of " +
                               std::to_string(all) + " heads");
  }
  const uint32_t users = input.shape.rows(), width = input.shape.columns() / all;
  const std::pair<uint32_t, uint32_t> parts[] = {
      {0, *q_heads}, {*q_heads, *kv_heads}, {*q_heads + *kv_heads, *kv_heads}};
  // All are checked before the first is enqueued.
  std::vector<TensorSpec> specs;
  std::vector<Result<Lowering>> lowerings;
  for (const auto& [first, heads] : parts) {
    specs.push_back({{1, users, heads, width}, input.dtype, input.layout});
    const MoveSource source = {
        .offset = first * width,
        .levels = {{0, users, input.shape.columns()}, {0, heads, width}, {0, width, 1}}};
    lowerings.push_back(LowerMove({.sizes = {users, heads, width}, .sources = {source}},
                                  call.specs(), specs.back(), call.limits()));
  }
  return call.RunAll(specs, lowerings);
}

Outputs RunJoinDecodeHeads(const Call& call) {
  const TensorSpec& x = call.spec(0);
  const Shape& shape = x.shape;
  if (shape.rank() != 4 || shape[0] != 1) {
    return call.InputError(0, "it must have four extents: 1, users, heads, columns");
  }
  const Result<uint32_t> heads = HeadsAttribute(call, "num_heads", shape[2]);
  if (!heads.ok()) return heads.status();
  if (*heads > shape[2]) {
    return call.Error("num_heads", "is " + std::to_string(*heads) + "; it must be at most " +
                                       std::to_string(shape[2]) + " of " + shape.ToString());
  }
  const uint64_t columns = uint64_t{*heads} * shape[3];
  if (columns > UINT32_MAX) return call.InputError(0, "heads times columns exceeds 2^32");
  const std::vector<uint64_t> strides = StridesOf(shape);
  const MoveSource source = {
      .levels = {{0, shape[1], strides[1]}, {0, *heads, strides[2]}, {0, shape[3], 1}}};
  const TensorSpec output = {{1, 1, shape[1], static_cast<uint32_t>(columns)}, x.dtype, x.layout};
  return call.Run(output, LowerMove({.sizes = {shape[1], *heads, shape[3]}, .sources = {source}},
                                    call.specs(), output, call.limits()));
}

Outputs RunJoinPrefillHeads(const Call& call) {
  const Shape& shape = call.spec(0).shape;
  if (shape.rank() != 4) {
    return call.InputError(0, "it must have four extents: users, heads, rows, columns");
  }
  const Composition steps(call);
  const Tensor joined = steps.Run("concatenate_heads", {call.input(0)});
  if (!joined.ok()) return joined.status();
  const Shape& rows = joined.shape();
  return OutputOf(steps.Reshape(joined, {rows[0], 1, rows[1], rows[2]}));
}

}  // namespace

void AddDecodeHeadsOperations(std::vector<Operation>* operations) {
  operations->push_back({{"nlp_create_qkv_heads_decode",
                          {{"input"}},
                          {{"num_heads", int64_t{1}, "of queries"},
                           {"num_kv_heads", int64_t{0}, "of keys, and of values; 0: num_heads"}},
                          "Queries, keys and values, [1, users, heads, columns], of a row for each "
                          "user with all columns."},
                         RunSplitDecodeHeads});
  operations->push_back(
      {{"nlp_concat_heads_decode",
        {{"x"}},
        {{"num_heads", int64_t{0}, "heads that are joined, the first ones; 0: all"}},
        "[1, 1, users, heads * columns] of [1, users, heads, columns]."},
       RunJoinDecodeHeads});
  operations->push_back({{"nlp_concat_heads",
                          {{"x"}},
                          {},
                          "[users, 1, rows, heads * columns] of [users, heads, rows, columns]."},
                         RunJoinPrefillHeads});
}

}  // namespace ttfd::tensor
