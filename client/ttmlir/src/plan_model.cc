// Plans of operations of transformers: heads, caches.
#include <initializer_list>

#include "client/ttmlir/src/planner.h"

namespace ttfd::ttmlir {
namespace {

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
          {"NLPConcatHeadsOp", PlanConcatenateHeads, {"concatenate_heads"}},
          {"SplitQueryKeyValueAndSplitHeadsOp",
           PlanSplitHeads,
           {"split_query_key_value_and_split_heads"}},
          {"FillCacheOp", PlanFillCache, {"fill_cache"}},
          {"UpdateCacheOp", PlanUpdateCache, {"update_cache"}}};
}

}  // namespace ttfd::ttmlir
