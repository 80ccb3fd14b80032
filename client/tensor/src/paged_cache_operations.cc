// Operations of the table that write caches of pages, in place: a page table has the pages of each user.
#include <string>
#include <utility>
#include <vector>

#include "client/tensor/src/lower_move.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;
using ops::MoveIndexUse;

constexpr size_t kPagedCache = 0, kPagedInput = 1;             // inputs of both
constexpr size_t kPositions = 2, kPages = 3;                   // of paged_update_cache
constexpr size_t kFillPages = 2, kFillUser = 3;                // of paged_fill_cache
constexpr size_t kPage = 0, kHead = 1, kRow = 2, kColumn = 3;  // extents of the cache

// `heads` is the extent of the input that has them.
Status CheckPagedCache(const Call& call, size_t heads) {
  const TensorSpec &cache = call.spec(kPagedCache), &input = call.spec(kPagedInput);
  if (cache.shape.rank() != 4) {
    return call.InputError(kPagedCache, "it must have four extents: pages, heads, rows, columns");
  }
  const Shape& shape = input.shape;
  if (shape.rank() != 4 || shape[0] != 1 || input.dtype != cache.dtype ||
      shape[heads] != cache.shape[kHead] || shape[3] != cache.shape[kColumn]) {
    return call.InputError(
        kPagedInput, "it must be one matrix of each " + std::string(heads == 1 ? "head" : "user") +
                         " with the dtype, heads and columns of cache, " + cache.ToString());
  }
  if (call.IsSame(kPagedCache, kPagedInput))
    return call.InputError(kPagedInput, "it is the memory of cache");
  return Status();
}

// Input `i` is a matrix of pages, with rows for `users` users at least.
Status CheckPageTable(const Call& call, size_t i, uint32_t users) {
  const TensorSpec& table = call.spec(i);
  if (table.dtype == DType::kUInt32 && table.shape.rank() == 2 && table.shape[0] >= users) {
    return Status();
  }
  return call.InputError(
      i, "it must be uint32 and a matrix, a row for each of " + std::to_string(users) + " users");
}

// The levels of the cache, of which `source` is written.
MoveOperation PagedOperation(const Call& call, MoveSource source, MoveOperation::Index index,
                             const MoveOperation::Part& part) {
  const Shape& cache = call.spec(kPagedCache).shape;
  index.level = kRow;
  index.matrices = cache[kHead];
  if (index.pages) index.limit = cache[kPage];
  return {.sizes = {cache.extents().begin(), cache.extents().end()},
          .sources = {std::move(source)},
          .filling = ops::MoveFilling::kKeep,
          .index = index,
          .part = part};
}

Result<Lowering> LowerPaged(const Call& call, const MoveOperation& operation) {
  return LowerMove(operation, call.specs(), call.spec(kPagedCache), call.limits());
}

Outputs RunPagedUpdate(const Call& call) {
  if (Status status = CheckPagedCache(call, 2); !status.ok()) return status;
  const Shape &cache = call.spec(kPagedCache).shape, &input = call.spec(kPagedInput).shape;
  const uint32_t users = input[1], heads = input[2], columns = input[3];
  const TensorSpec& positions = call.spec(kPositions);
  if (positions.dtype != DType::kUInt32 || positions.shape.elements() != users) {
    return call.InputError(
        kPositions, "it must be uint32, " + std::to_string(users) + " elements, as users of input");
  }
  MoveOperation::Index index = {.use = MoveIndexUse::kPosition, .input = kPositions};
  if (call.inputs() > kPages) {
    if (Status status = CheckPageTable(call, kPages, users); !status.ok()) return status;
    index.use = MoveIndexUse::kPagedPosition;
    index.pages = {.input = kPages};
  } else if (users > cache[kPage]) {
    return call.InputError(kPagedInput, "without page_table it must have at most the " +
                                            std::to_string(cache[kPage]) + " users of cache");
  }
  const std::vector<uint64_t> strides = StridesOf(input);
  const MoveSource source = {
      .input = kPagedInput,
      .levels = {{0, users, strides[1]}, {0, heads, strides[2]}, {0, 1, 0}, {0, columns, 1}}};
  const MoveOperation::Part part = {0, users * heads, 0, 1};
  return call.RunInPlace(kPagedCache, LowerPaged(call, PagedOperation(call, source, index, part)));
}

// Pages from `first` on, `rows` rows of each.
MoveOperation FillOperation(const Call& call, uint32_t first, uint32_t pages, uint32_t rows) {
  const Shape &cache = call.spec(kPagedCache).shape, &input = call.spec(kPagedInput).shape;
  const std::vector<uint64_t> strides = StridesOf(input);
  const uint32_t heads = cache[kHead];
  MoveOperation::PageTable table = {.input = kFillPages};
  uint32_t user = MoveOperation::Index::kNoInput;
  if (call.inputs() > kFillUser) {
    user = kFillUser;
  } else {
    table.offset = static_cast<uint32_t>(call.attribute<int64_t>("batch_offset")) *
                   call.spec(kFillPages).shape.columns();
  }
  const MoveSource source = {.input = kPagedInput,
                             .levels = {{0, first + pages, cache[kRow] * strides[2]},
                                        {0, heads, strides[1]},
                                        {0, rows, strides[2]},
                                        {0, cache[kColumn], 1}}};
  return PagedOperation(call, source,
                        {.use = MoveIndexUse::kPagedMatrices, .input = user, .pages = table},
                        {first * heads, pages * heads, 0, rows});
}

Status CheckUser(const Call& call, uint32_t users) {
  if (call.inputs() > kFillUser) {
    const TensorSpec& user = call.spec(kFillUser);
    if (user.dtype == DType::kUInt32 && user.shape.elements() == 1) return Status();
    return call.InputError(kFillUser, "it must be uint32, one element");
  }
  const int64_t user = call.attribute<int64_t>("batch_offset");
  if (user >= 0 && user < users) return Status();
  return call.Error("batch_offset", "is " + std::to_string(user) + "; it must be below the " +
                                        std::to_string(users) + " rows of page_table");
}

Outputs RunPagedFill(const Call& call) {
  if (Status status = CheckPagedCache(call, 1); !status.ok()) return status;
  if (Status status = CheckPageTable(call, kFillPages, 1); !status.ok()) return status;
  const Shape& table = call.spec(kFillPages).shape;
  if (Status status = CheckUser(call, table[0]); !status.ok()) return status;
  const uint32_t rows = call.spec(kPagedInput).shape[2],
                 page_rows = call.spec(kPagedCache).shape[kRow];
  const uint32_t whole = rows / page_rows, rest = rows % page_rows;
  if (whole + (rest != 0) > table[1]) {
    return call.InputError(kPagedInput, "its rows must be at most the " +
                                            std::to_string(uint64_t{table[1]} * page_rows) +
                                            " of the pages of a user");
  }
  // Both are checked before the first is enqueued.
  std::vector<Result<Lowering>> lowerings;
  if (whole != 0) lowerings.push_back(LowerPaged(call, FillOperation(call, 0, whole, page_rows)));
  if (rest != 0) lowerings.push_back(LowerPaged(call, FillOperation(call, whole, 1, rest)));
  for (const Result<Lowering>& lowering : lowerings) {
    if (Status status = call.Check(call.spec(kPagedCache), lowering); !status.ok()) return status;
  }
  Outputs outputs = std::vector<Tensor>{call.input(kPagedCache)};
  for (const Result<Lowering>& lowering : lowerings) {
    outputs = call.RunInPlace(kPagedCache, lowering);
    if (!outputs.ok()) break;
  }
  return outputs;
}

}  // namespace

void AddPagedCacheOperations(std::vector<Operation>* operations) {
  operations->push_back(
      {{"paged_update_cache",
        {{"cache"}, {"input"}, {"update_indices"}, {"page_table", true}},
        {},
        "Writes input, [1, users, heads, columns], a row for each user and head, into cache, "
        "[pages, heads, rows, columns]; in place. Element u of update_indices is the row of user "
        "u, which is in page page_table[u, row / rows]; without page_table, in page u. A row that "
        "cache does not have is left out."},
       RunPagedUpdate});
  operations->push_back(
      {{"paged_fill_cache",
        {{"cache"}, {"input"}, {"page_table"}, {"batch_index", true}},
        {{"batch_offset", int64_t{0}, "the user, without batch_index"}},
        "Writes input, [1, heads, all rows, columns], into the pages that are row batch_index of "
        "page_table, in their order; in place. A page that cache does not have is left out."},
       RunPagedFill});
}

}  // namespace ttfd::tensor
