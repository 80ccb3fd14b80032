// Plans of operations of transformers: heads, caches.
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

}  // namespace

std::vector<PlanRow> ModelRows() {
  return {{"ConcatenateHeadsOp", PlanConcatenateHeads, {"concatenate_heads"}},
          {"NLPConcatHeadsOp", PlanConcatenateHeads, {"concatenate_heads"}},
          {"SplitQueryKeyValueAndSplitHeadsOp",
           PlanSplitHeads,
           {"split_query_key_value_and_split_heads"}},
          {"FillCacheOp", PlanFillCache, {"fill_cache"}},
          {"UpdateCacheOp", PlanUpdateCache, {"update_cache"}}};
}

}  // namespace ttfd::ttmlir
