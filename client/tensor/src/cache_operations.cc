// Operations of the table for attention: caches that are changed in place, heads.
#include <string>
#include <utility>
#include <vector>

#include "client/tensor/src/lower_move.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;

constexpr size_t kCache = 0, kInput = 1, kIndex = 2;  // inputs

// Part of the cache that an operation writes: rows of `input` replace those from `row` on of the heads of users from
// `user` on.
struct CachePart {
  uint32_t user = 0;
  uint32_t users = 0;
  uint32_t row = 0;
  uint32_t rows = 0;
};

Status CheckCache(const Call& call) {
  const TensorSpec &cache = call.spec(kCache), &input = call.spec(kInput);
  if (cache.shape.rank() != 4) {
    return call.InputError(kCache, "it must have four extents: users, heads, rows, columns");
  }
  if (input.shape.rank() != 4 || input.dtype != cache.dtype || input.shape[1] != cache.shape[1] ||
      input.shape[3] != cache.shape[3]) {
    return call.InputError(
        kInput, "it must have the dtype, heads and columns of cache, " + cache.ToString());
  }
  if (call.IsSame(kCache, kInput)) return call.InputError(kInput, "it is the memory of cache");
  return Status();
}

// The attribute `name` as an index below `extent` - `count` + 1.
Result<uint32_t> IndexAttribute(const Call& call, const char* name, uint32_t count,
                                uint32_t extent) {
  const int64_t value = call.attribute<int64_t>(name);
  if (value >= 0 && count <= extent && value <= int64_t{extent} - count) {
    return static_cast<uint32_t>(value);
  }
  return call.Error(name, "is " + std::to_string(value) + "; with the " + std::to_string(count) +
                              " of input it must be at most " + std::to_string(extent) + " of " +
                              call.spec(kCache).shape.ToString());
}

// `strides` of a user, head and row of the input.
Outputs RunCache(const Call& call, const CachePart& part, const uint64_t (&strides)[3],
                 std::optional<MoveOperation::Index> index) {
  const TensorSpec& cache = call.spec(kCache);
  const uint32_t heads = cache.shape[1], columns = cache.shape[3];
  MoveSource source = {.input = kInput,
                       .levels = {{part.user, part.user + part.users, strides[0]},
                                  {0, heads, strides[1]},
                                  {part.row, part.row + part.rows, strides[2]},
                                  {0, columns, 1}}};
  source.offset = 0 - part.user * strides[0] - part.row * strides[2];
  const MoveOperation operation = {
      .sizes = {cache.shape.extents().begin(), cache.shape.extents().end()},
      .sources = {std::move(source)},
      .filling = ops::MoveFilling::kKeep,
      .index = index,
      .part = MoveOperation::Part{part.user * heads, part.users * heads, part.row, part.rows}};
  return call.RunInPlace(kCache, LowerMove(operation, call.specs(), cache, call.limits()));
}

Outputs RunFillCache(const Call& call) {
  if (Status status = CheckCache(call); !status.ok()) return status;
  const Shape &cache = call.spec(kCache).shape, &input = call.spec(kInput).shape;
  const Result<uint32_t> user = IndexAttribute(call, "batch_offset", input[0], cache[0]);
  if (!user.ok()) return user.status();
  const Result<uint32_t> row = IndexAttribute(call, "update_index", input[2], cache[2]);
  if (!row.ok()) return row.status();
  const std::vector<uint64_t> strides = StridesOf(input);
  return RunCache(call, {*user, input[0], *row, input[2]}, {strides[0], strides[1], strides[2]},
                  std::nullopt);
}

Outputs RunUpdateCache(const Call& call) {
  if (Status status = CheckCache(call); !status.ok()) return status;
  const Shape &cache = call.spec(kCache).shape, &input = call.spec(kInput).shape;
  if (input[0] != 1) {
    return call.InputError(kInput, "its first extent must be 1; users are the third one");
  }
  const uint32_t users = input[2];
  const Result<uint32_t> user = IndexAttribute(call, "batch_offset", users, cache[0]);
  if (!user.ok()) return user.status();
  const Result<uint32_t> row = IndexAttribute(call, "update_index", 1, cache[2]);
  if (!row.ok()) return row.status();
  const std::vector<uint64_t> strides = StridesOf(input);
  CachePart part = {*user, users, *row, 1};
  std::optional<MoveOperation::Index> index;
  if (call.inputs() > kIndex) {
    const TensorSpec& positions = call.spec(kIndex);
    const uint64_t count = positions.shape.elements();
    if (positions.dtype != DType::kUInt32 || (count != 1 && count != users)) {
      return call.InputError(kIndex, "it must be uint32, one or " + std::to_string(users) +
                                         " elements, as users of input");
    }
    part.row = 0;
    index = {.use = ops::MoveIndexUse::kPosition,
             .input = kIndex,
             .level = 2,
             .limit = 0,
             .matrices = cache[1] * (count == 1 ? users : 1)};
  }
  return RunCache(call, part, {strides[2], strides[1], 0}, index);
}

// Elements of input `i`, [users, rows, columns] or [users, 1, rows, columns], from column `first` on, as heads: [users,
// heads, rows, width], or with rows and width exchanged.
struct HeadsPart {
  uint32_t input = 0;
  uint32_t first = 0;
  uint32_t heads = 0;
  uint32_t width = 0;
  bool transposed = false;
};

TensorSpec HeadsSpec(const Call& call, const HeadsPart& part) {
  const TensorSpec& input = call.spec(part.input);
  const uint32_t rows = input.shape.rows();
  return {{input.shape[0], part.heads, part.transposed ? part.width : rows,
           part.transposed ? rows : part.width},
          input.dtype,
          input.layout};
}

Result<Lowering> SplitHeads(const Call& call, const HeadsPart& part, const TensorSpec& output) {
  const Shape& input = call.spec(part.input).shape;
  const std::vector<uint64_t> strides = StridesOf(input);
  MoveLevel down = {0, input.rows(), input.columns()}, across = {0, part.width, 1};
  if (part.transposed) std::swap(down, across);
  const MoveSource source = {
      .input = part.input,
      .offset = part.first,
      .levels = {{0, input[0], strides[0]}, {0, part.heads, part.width}, down, across}};
  const MoveOperation operation = {.sizes = {input[0], part.heads, down.end, across.end},
                                   .sources = {source}};
  return LowerMove(operation, call.specs(), output, call.limits());
}

// Width of a head, if the columns of the inputs are those of `heads` and `kv_heads` heads.
Result<uint32_t> HeadWidth(const Call& call, uint32_t heads, uint32_t kv_heads) {
  const bool is_fused = call.inputs() == 1;
  const Shape& input = call.spec(0).shape;
  if (input.rank() != 3 && (input.rank() != 4 || input[1] != 1)) {
    return call.InputError(0, "it must have three extents, or 1 as the second of four");
  }
  const uint32_t all = is_fused ? heads + 2 * kv_heads : heads;
  if (input.columns() % all != 0) {
    return call.InputError(0, "its last extent must be that of " + std::to_string(all) + " heads");
  }
  const uint32_t width = input.columns() / all;
  if (is_fused) return width;
  const TensorSpec& kv = call.spec(1);
  std::vector<uint32_t> extents = {input.extents().begin(), input.extents().end()};
  extents.back() = 2 * kv_heads * width;
  const Shape wanted(std::move(extents));
  if (kv.shape == wanted && kv.dtype == call.spec(0).dtype) return width;
  return call.InputError(
      1, "it must be " + TensorSpec{wanted, call.spec(0).dtype, kv.layout}.ToString());
}

Outputs RunSplitHeads(const Call& call) {
  const int64_t heads = call.attribute<int64_t>("num_heads");
  const int64_t given = call.attribute<int64_t>("num_kv_heads");
  const int64_t kv_heads = given == 0 ? heads : given;
  for (const auto& [name, value] : {std::pair("num_heads", heads), {"num_kv_heads", kv_heads}}) {
    if (value < 1 || value > 0xFFFF) {
      return call.Error(name, "is " + std::to_string(value) + "; it must be 1 to 65535");
    }
  }
  const auto q_count = static_cast<uint32_t>(heads), kv_count = static_cast<uint32_t>(kv_heads);
  const Result<uint32_t> width = HeadWidth(call, q_count, kv_count);
  if (!width.ok()) return width.status();
  const uint32_t input = call.inputs() == 1 ? 0 : 1;
  const uint32_t key = input == 0 ? q_count * *width : 0;
  const HeadsPart parts[] = {{0, 0, q_count, *width, false},
                             {input, key, kv_count, *width, call.attribute<bool>("transpose_key")},
                             {input, key + kv_count * *width, kv_count, *width, false}};
  // All are checked before the first is enqueued.
  std::vector<TensorSpec> specs;
  std::vector<Result<Lowering>> lowerings;
  for (const HeadsPart& part : parts) {
    specs.push_back(HeadsSpec(call, part));
    lowerings.push_back(SplitHeads(call, part, specs.back()));
  }
  return call.RunAll(specs, lowerings);
}

Outputs RunConcatenateHeads(const Call& call) {
  const TensorSpec& input = call.spec(0);
  const Shape& shape = input.shape;
  if (shape.rank() != 4) {
    return call.InputError(0, "it must have four extents: users, heads, rows, columns");
  }
  const std::vector<uint64_t> strides = StridesOf(shape);
  const MoveSource source = {.levels = {{0, shape[0], strides[0]},
                                        {0, shape[2], strides[2]},
                                        {0, shape[1], strides[1]},
                                        {0, shape[3], 1}}};
  const uint64_t columns = uint64_t{shape[1]} * shape[3];
  if (columns > UINT32_MAX) return call.InputError(0, "heads times columns exceeds 2^32");
  const TensorSpec output = {
      {shape[0], shape[2], static_cast<uint32_t>(columns)}, input.dtype, input.layout};
  const MoveOperation operation = {.sizes = {shape[0], shape[2], shape[1], shape[3]},
                                   .sources = {source}};
  return call.Run(output, LowerMove(operation, call.specs(), output, call.limits()));
}

}  // namespace

void AddCacheOperations(std::vector<Operation>* operations) {
  const auto add = [operations](OperationInfo info, auto run) {
    operations->push_back({std::move(info), run});
  };
  const OperationInfo::AttributeInfo batch_offset = {"batch_offset", int64_t{0},
                                                     "first user of cache that is written"};
  const OperationInfo::AttributeInfo update_index = {"update_index", int64_t{0},
                                                     "first row of cache that is written"};
  add({"fill_cache",
       {{"cache"}, {"input"}},
       {batch_offset, update_index},
       "Writes input, [users, heads, rows, columns], into cache; in place."},
      RunFillCache);
  add({"update_cache",
       {{"cache"}, {"input"}, {"update_indices", true}},
       {batch_offset, update_index},
       "Writes input, [1, heads, users, columns], a row for each user, into cache; in place. The "
       "row is update_index, or that of update_indices, one for all users or for each; a row that "
       "cache does not have is left out."},
      RunUpdateCache);
  add({"split_query_key_value_and_split_heads",
       {{"input"}, {"kv_input", true}},
       {{"num_heads", int64_t{1}, "of queries"},
        {"num_kv_heads", int64_t{0}, "of keys, and of values; 0: num_heads"},
        {"transpose_key", true, "keys are [users, heads, columns, rows]"}},
       "Queries, keys and values, [users, heads, rows, columns], of [users, rows, all columns] or "
       "[users, 1, rows, all columns]; with kv_input input has the queries alone."},
      RunSplitHeads);
  add({"concatenate_heads",
       {{"x"}},
       {},
       "[users, rows, heads * columns] of [users, heads, rows, columns]."},
      RunConcatenateHeads);
}

}  // namespace ttfd::tensor
