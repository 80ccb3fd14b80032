// Operations that decode as functions.
#include <utility>
#include <vector>

#include "client/tensor/src/apply_to.h"
#include "ttfd/tensor/decode.h"

namespace ttfd::tensor {

Tensor RotaryEmbedding(const Tensor& x, const Tensor& cos, const Tensor& sin, int64_t token_index) {
  return ApplyTo("rotary_embedding", {x, cos, sin}, {{"token_index", token_index}});
}
Tensor RotaryEmbeddingLlama(const Tensor& x, const Tensor& cos, const Tensor& sin,
                            const Tensor& trans_mat, bool decode) {
  return ApplyTo("rotary_embedding_llama", {x, cos, sin, trans_mat}, {{"decode", decode}});
}

Tensor PagedUpdateCache(const Tensor& cache, const Tensor& input, const Tensor& update_indices,
                        const Tensor& page_table) {
  return ApplyTo("paged_update_cache", {cache, input, update_indices, page_table});
}
Tensor PagedFillCache(const Tensor& cache, const Tensor& input, const Tensor& page_table,
                      uint32_t batch_offset) {
  return ApplyTo("paged_fill_cache", {cache, input, page_table},
                 {{"batch_offset", int64_t{batch_offset}}});
}
Tensor PagedFillCache(const Tensor& cache, const Tensor& input, const Tensor& page_table,
                      const Tensor& batch_index) {
  return ApplyTo("paged_fill_cache", {cache, input, page_table, batch_index});
}

DecodeHeads NlpCreateQkvHeadsDecode(const Tensor& input, uint32_t num_heads,
                                    uint32_t num_kv_heads) {
  std::vector<Tensor> outputs =
      Apply("nlp_create_qkv_heads_decode", {&input, 1},
            {{"num_heads", int64_t{num_heads}}, {"num_kv_heads", int64_t{num_kv_heads}}});
  outputs.resize(3, outputs[0]);  // an error is that of all three
  return {std::move(outputs[0]), std::move(outputs[1]), std::move(outputs[2])};
}
Tensor NlpConcatHeadsDecode(const Tensor& x, uint32_t num_heads) {
  return ApplyTo("nlp_concat_heads_decode", {x}, {{"num_heads", int64_t{num_heads}}});
}
Tensor NlpConcatHeads(const Tensor& x) { return ApplyTo("nlp_concat_heads", {x}); }

}  // namespace ttfd::tensor
