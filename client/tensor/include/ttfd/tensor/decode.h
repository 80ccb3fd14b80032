// Operations of language models that decode a token at a time: rotations, caches of pages, heads. The contract is that
// of <ttfd/tensor/ops.h>.
#pragma once

#include <cstdint>

#include "ttfd/tensor/tensor.h"

namespace ttfd::tensor {

// x * cos + r * sin, where r is the second half of each row of x, negative, and then the first half. `x` is [users,
// heads, rows, columns], `cos` and `sin` are [1, 1, rows or more, columns]. All rows of x are rotated by row
// `token_index` of these, or each by its own if that is -1.
Tensor RotaryEmbedding(const Tensor& x, const Tensor& cos, const Tensor& sin,
                       int64_t token_index = -1);
// The same where r is each 32 columns of x times the first 32 rows of `trans_mat`. With `decode` x is [1, users, heads,
// columns], and cos and sin have a row for each user, [1, users, 1, columns].
Tensor RotaryEmbeddingLlama(const Tensor& x, const Tensor& cos, const Tensor& sin,
                            const Tensor& trans_mat, bool decode = false);

// A cache of pages is [pages, heads, rows, columns]; a page table, of kUInt32, has a row for each user, with the
// numbers of the user's pages in their order. Both functions write into `cache`, in place, and return it. Kernels
// read the table and the positions: a recording uses those of each replay. Pages and rows that the cache does not
// have are left out.
//
// `input` is [1, users, heads, columns], a row for each user and head; element u of `update_indices`, of kUInt32, is
// the row of user u, counted through the user's pages.
Tensor PagedUpdateCache(const Tensor& cache, const Tensor& input, const Tensor& update_indices,
                        const Tensor& page_table);
// `input` is [1, heads, all rows, columns], for the pages of user `batch_offset`; or of the user that is the only
// element of `batch_index`.
Tensor PagedFillCache(const Tensor& cache, const Tensor& input, const Tensor& page_table,
                      uint32_t batch_offset = 0);
Tensor PagedFillCache(const Tensor& cache, const Tensor& input, const Tensor& page_table,
                      const Tensor& batch_index);

struct DecodeHeads {
  Tensor query;
  Tensor key;
  Tensor value;
};
// Queries, keys and values, each [1, users, heads, columns], of a row for each user. `num_kv_heads` 0: num_heads.
DecodeHeads NlpCreateQkvHeadsDecode(const Tensor& input, uint32_t num_heads,
                                    uint32_t num_kv_heads = 0);
// [1, 1, users, heads * columns] of [1, users, heads, columns]: of the first `num_heads` heads, or of all if that is 0.
Tensor NlpConcatHeadsDecode(const Tensor& x, uint32_t num_heads = 0);
// [users, 1, rows, heads * columns] of [users, heads, rows, columns].
Tensor NlpConcatHeads(const Tensor& x);

}  // namespace ttfd::tensor
