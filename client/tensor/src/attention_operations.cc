// Attention of the table.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "client/tensor/src/lower_attention.h"
#include "client/tensor/src/operations.h"

namespace ttfd::tensor {
namespace {

using Outputs = Result<std::vector<Tensor>>;

constexpr size_t kQ = 0, kK = 1, kV = 2;  // inputs

// Users and heads of the queries.
struct Queries {
  uint32_t users;
  uint32_t heads;
  uint32_t rows;  // that a mask has, of each matrix
};
Queries QueriesOf(const Call& call, const AttentionOperation& operation) {
  const Shape& q = call.spec(kQ).shape;
  if (operation.is_decode) return {q[1], q[2], q[2]};
  return {q[0], q[1], q[2]};
}

Status CheckQueries(const Call& call, const AttentionOperation& operation) {
  const TensorSpec& q = call.spec(kQ);
  const char* const extents =
      operation.is_decode ? "1, users, heads, columns" : "users, heads, rows, columns";
  if (q.shape.rank() != 4 || (operation.is_decode && q.shape[0] != 1)) {
    return call.InputError(kQ, std::string("it must have four extents: ") + extents);
  }
  if (q.dtype == DType::kBfp8) return call.InputError(kQ, "the dtype must be bfloat16 or float32");
  return Status();
}

Status CheckKeysAndValues(const Call& call, const AttentionOperation& operation) {
  const Shape &k = call.spec(kK).shape, &v = call.spec(kV).shape;
  const Queries queries = QueriesOf(call, operation);
  const bool is_paged = operation.page_table.has_value();
  if (k.rank() != 4 || k[3] != call.spec(kQ).shape[3] || (!is_paged && k[0] != queries.users)) {
    const char* const extents = is_paged ? "blocks, heads, rows" : "users of q, heads, keys";
    return call.InputError(kK, std::string("it must have four extents: ") + extents +
                                   ", and the columns of q, " + call.spec(kQ).ToString());
  }
  if (queries.heads % k[1] != 0) {
    return call.InputError(kK, "its heads must divide the " + std::to_string(queries.heads) +
                                   " of q, " + call.spec(kQ).ToString());
  }
  if (is_paged && k[2] % 32 != 0) {
    return call.InputError(kK, "the rows of a block must be a multiple of 32");
  }
  if (v.rank() != 4 || v[0] != k[0] || v[1] != k[1] || v[2] != k[2]) {
    return call.InputError(
        kV, "it must be like k in all but its last extent, " + call.spec(kK).ToString());
  }
  return Status();
}

Status CheckIndices(const Call& call, const AttentionOperation& operation) {
  const uint32_t users = QueriesOf(call, operation).users;
  if (operation.page_table) {
    const TensorSpec& table = call.spec(*operation.page_table);
    if (table.dtype != DType::kUInt32 || table.shape.rank() != 2 || table.shape[0] != users) {
      return call.InputError(*operation.page_table, "it must be uint32, blocks for each of the " +
                                                        std::to_string(users) + " users");
    }
    if (uint64_t{call.spec(kK).shape[2]} * table.shape[1] > ops::kAttentionAll) {
      return call.InputError(*operation.page_table,
                             "its blocks must have at most 2^30 keys a user");
    }
  }
  if (operation.positions) {
    const TensorSpec& positions = call.spec(*operation.positions);
    const uint64_t count = positions.shape.elements();
    if (positions.dtype != DType::kUInt32 || (count != 1 && count != users)) {
      return call.Error("positions", "is " + positions.ToString() + "; it must be uint32, one or " +
                                         std::to_string(users) + " elements, as users of q");
    }
  }
  return Status();
}

Status CheckMask(const Call& call, const AttentionOperation& operation) {
  if (!operation.mask) return Status();
  const TensorSpec& mask = call.spec(*operation.mask);
  const Queries queries = QueriesOf(call, operation);
  const std::vector<TensorSpec> specs = call.specs();
  const uint32_t wanted[] = {queries.users, operation.is_decode ? 1 : queries.heads, queries.rows};
  bool matches = mask.layout == Layout::kTile && mask.dtype != DType::kUInt32 &&
                 mask.shape.rank() == 4 && mask.shape[3] == KeysOf(operation, specs);
  for (size_t i = 0; matches && i < std::size(wanted); ++i) {
    matches = mask.shape[i] == 1 || mask.shape[i] == wanted[i];
  }
  if (matches) return Status();
  return call.Error(
      "mask", "is " + mask.ToString() + "; it must be numbers in layout tile, " +
                  Shape({wanted[0], wanted[1], wanted[2], KeysOf(operation, specs)}).ToString() +
                  ", or 1 in place of an extent but the last");
}

// Checks the requirements of is_causal and sliding_window.
Status CheckVisible(const Call& call, const AttentionOperation& operation) {
  const std::string_view name = operation.is_causal ? "is_causal" : "sliding_window";
  if (operation.is_decode) {
    if (operation.is_causal && !operation.positions) {
      return call.Error(name, "is true; it needs positions");
    }
    if (!operation.is_causal && operation.sliding_window != 0) {
      return call.Error(name, "is " + std::to_string(operation.sliding_window) +
                                  "; it needs is_causal and positions");
    }
    return Status();
  }
  const uint32_t rows = call.spec(kQ).shape[2], keys = call.spec(kK).shape[2];
  if ((!operation.is_causal && operation.sliding_window == 0) || rows == keys) return Status();
  return call.Error(name, "is given; the " + std::to_string(keys) + " keys of " +
                              call.spec(kK).ToString() + " must be the " + std::to_string(rows) +
                              " rows of " + call.spec(kQ).ToString());
}

// The attributes that all of these have.
Status TakeAttributes(const Call& call, AttentionOperation* operation) {
  operation->is_causal = call.attribute<bool>("is_causal");
  const int64_t window = call.attribute<int64_t>("sliding_window");
  if (window < 0 || window > int64_t{ops::kAttentionAll}) {
    return call.Error("sliding_window", "is " + std::to_string(window) + "; it must be 0 to " +
                                            std::to_string(ops::kAttentionAll));
  }
  operation->sliding_window = static_cast<uint32_t>(window);
  const double scale = call.attribute<double>("scale");
  if (!(scale >= 0) || !std::isfinite(scale)) {
    return call.Error("scale", "is " + std::to_string(scale) + "; it must be at least 0");
  }
  operation->scale = static_cast<float>(
      scale == 0 ? 1 / std::sqrt(static_cast<double>(call.spec(kQ).shape[3])) : scale);
  return Status();
}

Outputs RunAttention(const Call& call, AttentionOperation operation) {
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (operation.positions == i || operation.page_table == i || operation.mask == i) continue;
    if (Status status = call.RequireTiles(i); !status.ok()) return status;
  }
  if (Status status = CheckQueries(call, operation); !status.ok()) return status;
  for (const auto check : {CheckKeysAndValues, CheckIndices, CheckMask}) {
    if (Status status = check(call, operation); !status.ok()) return status;
  }
  if (Status status = TakeAttributes(call, &operation); !status.ok()) return status;
  if (Status status = CheckVisible(call, operation); !status.ok()) return status;
  if (!operation.is_causal) operation.positions.reset();
  const Shape& q = call.spec(kQ).shape;
  const TensorSpec output = {{q[0], q[1], q[2], call.spec(kV).shape[3]}, call.spec(kQ).dtype};
  const std::vector<TensorSpec> specs = call.specs();
  return call.Run(output, LowerAttention(operation, specs, output, call.limits()));
}

Outputs RunPrefill(const Call& call) {
  AttentionOperation operation;
  if (call.inputs() > 3) operation.mask = 3;
  return RunAttention(call, operation);
}

// Positions and a mask follow from input `next` on; one alone is a mask unless it is uint32.
Outputs RunDecode(const Call& call, AttentionOperation operation, uint32_t next) {
  operation.is_decode = true;
  const size_t given = call.inputs() - next;
  if (given == 2 || (given == 1 && call.spec(next).dtype == DType::kUInt32)) {
    operation.positions = next++;
  }
  if (next < call.inputs()) operation.mask = next;
  return RunAttention(call, operation);
}
Outputs RunWholeDecode(const Call& call) { return RunDecode(call, {}, 3); }
Outputs RunPagedDecode(const Call& call) { return RunDecode(call, {.page_table = 3}, 4); }

std::vector<OperationInfo::AttributeInfo> AttentionAttributes(bool is_causal, const char* causal) {
  return {{"is_causal", is_causal, causal},
          {"scale", 0.0, "factor of products of queries and keys; 0: 1 / sqrt(columns)"},
          {"sliding_window", int64_t{0},
           "number of keys that are seen up to the last one; without is_causal half of it in both "
           "directions; 0: all"}};
}

}  // namespace

void AddAttentionOperations(std::vector<Operation>* operations) {
  operations->push_back(
      {{"scaled_dot_product_attention",
        {{"q"}, {"k"}, {"v"}, {"mask", true}},
        AttentionAttributes(false, "row i sees keys 0 to i"),
        "softmax(q * k^T * scale + mask) * v. q is [users, heads, rows, columns], k and v [users, "
        "heads, keys, columns], where one head of keys serves as many of q as there are."},
       RunPrefill});
  const char* const causal = "user u sees keys 0 to positions[u]; else all, and no positions";
  operations->push_back(
      {{"scaled_dot_product_attention_decode",
        {{"q"}, {"k"}, {"v"}, {"positions", true}, {"mask", true}},
        AttentionAttributes(true, causal),
        "The same for one query a head, q [1, users, heads, columns]. positions is uint32, one or "
        "one for each user; one beyond the keys is the last key."},
       RunWholeDecode});
  operations->push_back(
      {{"paged_scaled_dot_product_attention_decode",
        {{"q"}, {"k"}, {"v"}, {"page_table"}, {"positions", true}, {"mask", true}},
        AttentionAttributes(true, causal),
        "The same for k and v of [blocks, heads, rows, columns]: page_table, uint32 [users, "
        "blocks], has the blocks of each user."},
       RunPagedDecode});
}

}  // namespace ttfd::tensor
