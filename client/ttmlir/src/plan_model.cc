// Plans of operations of transformers: heads, caches.
#include <initializer_list>

#include "client/ttmlir/src/planner.h"

namespace ttfd::ttmlir {
namespace {

void PlanConcatHeads(Planner& p) { p.Move("nlp_concat_heads", {p.In("in")}, p.Out()); }

void PlanConcatHeadsDecode(Planner& p) {
  p.Move("nlp_concat_heads_decode", {p.In("in")}, p.Out(),
         {{"num_heads", p.fields().Integer("num_heads")}});
}

void PlanCreateHeadsDecode(Planner& p) {
  if (p.fields().Has("batch_offset") || p.fields().Has("slice_size")) {
    p.Fail("a part of the users is not supported");
  }
  p.MoveAll("nlp_create_qkv_heads_decode", {p.In("input")},
            {p.Out("q_out"), p.Out("k_out"), p.Out("v_out")},
            {{"num_heads", p.fields().Integer("num_heads")},
             {"num_kv_heads", p.fields().Integer("num_kv_heads")}});
}

void PlanRotary(Planner& p) {
  const bool has_index = p.fields().Has("token_index");
  p.Compute("rotary_embedding", {p.In("input"), p.In("cos_cache"), p.In("sin_cache")}, p.Out(),
            {{"token_index", has_index ? p.fields().Integer("token_index") : int64_t{-1}}});
}

void PlanRotaryLlama(Planner& p) {
  p.Compute("rotary_embedding_llama",
            {p.In("input"), p.In("cos_cache"), p.In("sin_cache"), p.In("trans_mat")}, p.Out(),
            {{"decode", p.fields().Integer("is_decode_mode") != 0}});
}

void PlanPagedUpdateCache(Planner& p) {
  std::vector<uint64_t> inputs = {p.In("cache"), p.In("input"), p.In("update_index")};
  if (const auto pages = p.InIf("page_table")) inputs.push_back(*pages);
  if (p.fields().Integer("share_cache") != 0) p.Fail("a shared cache is not supported");
  p.InPlace("paged_update_cache", inputs);
}

void PlanPagedFillCache(Planner& p) {
  std::vector<uint64_t> inputs = {p.In("cache"), p.In("input"), p.In("page_table")};
  if (const auto index = p.InIf("batch_idx_tensor")) inputs.push_back(*index);
  p.InPlace("paged_fill_cache", inputs);
}

void PlanConcatenateHeads(Planner& p) { p.Move("concatenate_heads", {p.In("in")}, p.Out()); }

void PlanSplitHeads(Planner& p) {
  std::vector<uint64_t> inputs = {p.In("in")};
  if (const auto key_value = p.InIf("kv_input")) inputs.push_back(*key_value);
  p.MoveAll("split_query_key_value_and_split_heads", inputs,
            {p.Out("q_out"), p.Out("k_out"), p.Out("v_out")},
            {{"num_heads", p.fields().Integer("num_heads")},
             {"num_kv_heads", p.fields().Integer("num_kv_heads")},
             {"transpose_key", p.fields().Integer("transpose_key") != 0}});
}

void PlanFillCache(Planner& p) {
  p.InPlace("fill_cache", {p.In("cache"), p.In("input")},
            {{"batch_offset", p.fields().Integer("batch_offset")}});
}

void PlanUpdateCache(Planner& p) {
  p.InPlace("update_cache", {p.In("cache"), p.In("input"), p.In("update_index")},
            {{"batch_offset", p.fields().Integer("batch_offset")}});
}

// Queries, keys and values in tiles, then a page table, positions and a mask, those that there are.
void Attention(Planner& p, std::string_view operation,
               std::initializer_list<std::string_view> integers) {
  std::vector<uint64_t> inputs;
  for (const std::string_view field : {"query", "key", "value"}) {
    inputs.push_back(p.Tiled(p.In(field)));
  }
  for (const std::string_view field : integers) {
    if (const auto input = p.InIf(field)) inputs.push_back(*input);
  }
  if (const auto mask = p.InIf("attention_mask")) inputs.push_back(p.Tiled(*mask));
  if (p.fields().Has("scale") && p.fields().Real("scale") == 0) p.Fail("its scale is 0");
  if (p.fields().Has("attention_sink")) p.Fail("an attention sink is not supported");
  p.Move(operation, inputs, p.Out(),
         {{"is_causal", p.fields().Integer("is_causal") != 0},
          {"scale", p.fields().Real("scale")},
          {"sliding_window", p.fields().Integer("sliding_window_size")}});
}

void PlanAttention(Planner& p) { Attention(p, "scaled_dot_product_attention", {}); }

void PlanAttentionDecode(Planner& p) {
  Attention(p, "scaled_dot_product_attention_decode", {"cur_pos_tensor"});
}

void PlanPagedAttentionDecode(Planner& p) {
  Attention(p, "paged_scaled_dot_product_attention_decode", {"page_table", "cur_pos_tensor"});
}

}  // namespace

std::vector<PlanRow> ModelRows() {
  return {{"ScaledDotProductAttentionOp", PlanAttention, {"scaled_dot_product_attention"}},
          {"ScaledDotProductAttentionDecodeOp",
           PlanAttentionDecode,
           {"scaled_dot_product_attention_decode"}},
          {"PagedScaledDotProductAttentionDecodeOp",
           PlanPagedAttentionDecode,
           {"paged_scaled_dot_product_attention_decode"}},
          {"ConcatenateHeadsOp", PlanConcatenateHeads, {"concatenate_heads"}},
          {"NLPConcatHeadsOp", PlanConcatHeads, {"nlp_concat_heads"}},
          {"NLPConcatHeadsDecodeOp", PlanConcatHeadsDecode, {"nlp_concat_heads_decode"}},
          {"NLPCreateQKVHeadsDecodeOp",
           PlanCreateHeadsDecode,
           {"nlp_create_qkv_heads_decode"},
           {"overlap_qk_coregrid"}},
          {"RotaryEmbeddingOp", PlanRotary, {"rotary_embedding"}},
          {"RotaryEmbeddingLlamaOp", PlanRotaryLlama, {"rotary_embedding_llama"}},
          {"PagedUpdateCacheOp", PlanPagedUpdateCache, {"paged_update_cache"}},
          {"PagedFillCacheOp", PlanPagedFillCache, {"paged_fill_cache"}},
          {"SplitQueryKeyValueAndSplitHeadsOp",
           PlanSplitHeads,
           {"split_query_key_value_and_split_heads"}},
          {"FillCacheOp", PlanFillCache, {"fill_cache"}},
          {"UpdateCacheOp", PlanUpdateCache, {"update_cache"}}};
}

}  // namespace ttfd::ttmlir
