// Plans of operations that move elements.
#include <fmt/format.h>

#include "client/ttmlir/src/planner.h"

namespace ttfd::ttmlir {
namespace {

using tensor::Shape;
using tensor::TensorSpec;

void PlanReshape(Planner& p) { p.Copy(p.In("in"), p.Out()); }

void PlanTranspose(Planner& p) {
  const bool early = p.fields().InSchema("dimension1");
  p.Move("transpose", {p.In("in")}, p.Out(),
         {{"dim0", p.fields().Integer(early ? "dimension1" : "dim0")},
          {"dim1", p.fields().Integer(early ? "dimension2" : "dim1")}});
}

void PlanPermute(Planner& p) {
  p.Move("permute", {p.In("in")}, p.Out(), {{"dims", p.Integers("permutation")}});
}

void PlanConcat(Planner& p) {
  p.Move("concat", p.Ins("inputs"), p.Out(), {{"dim", p.fields().Integer("dim")}});
}

void PlanSlice(Planner& p) {
  const Record params = p.fields().Child("params");
  if (p.fields().MemberName("params") != "SliceStaticOpParams") {
    return p.Fail("its bounds are tensors");
  }
  const auto list = [&params](std::string_view name) {
    const List items = params.Items(name);
    std::vector<int64_t> numbers(items.size());
    for (uint32_t i = 0; i < items.size(); ++i) numbers[i] = items.Integer(i);
    return numbers;
  };
  p.Move("slice", {p.In("in")}, p.Out(),
         {{"begins", list("begins")}, {"ends", list("ends")}, {"steps", p.Integers("step")}});
}

void PlanRepeat(Planner& p) {
  p.Move("repeat", {p.In("in")}, p.Out(), {{"repeats", p.Integers("repeat_dims")}});
}

// Each element of an extent several times: the extent gets one of 1 behind it, which is repeated.
void PlanRepeatInterleave(Planner& p) {
  const uint64_t input = p.In("input");
  const Value output = p.Out();
  const Shape shape = p.spec(input).shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  int64_t dim = p.fields().Integer("dim");
  if (dim < -rank || dim >= rank) return p.Fail(fmt::format("it has no extent {}", dim));
  if (dim < 0) dim += rank;
  const auto repeats = static_cast<uint32_t>(p.fields().Integer("repeats"));
  std::vector<uint32_t> extents(shape.extents().begin(), shape.extents().end());
  extents.insert(extents.begin() + dim + 1, 1);
  TensorSpec spec = p.spec(input);
  spec.shape = Shape(extents);
  const Value split = p.Temporary(spec);
  p.Copy(input, split);
  std::vector<int64_t> times(extents.size(), 1);
  times[static_cast<size_t>(dim) + 1] = repeats;
  extents[static_cast<size_t>(dim) + 1] = repeats;
  spec.shape = Shape(extents);
  const Value repeated = p.Temporary(spec);
  p.Move("repeat", {split.id}, repeated, {{"repeats", times}});
  p.Copy(repeated.id, output);
}

void PlanPad(Planner& p) {
  p.Move("pad", {p.In("in")}, p.Out(),
         {{"padding", p.Integers("padding")}, {"value", p.fields().Real("value")}});
}

// Indices lie in rows; the output has the layout that the file says.
void PlanEmbedding(Planner& p) {
  const bool early = p.fields().InSchema("output");
  const Value output = p.Out(early ? "output" : "out");
  p.Move("embedding", {p.In("input"), p.In("weight")}, output,
         {{"layout", std::string(tensor::LayoutName(output.spec.layout))}});
}

}  // namespace

std::vector<PlanRow> MoveRows() {
  return {{"ReshapeOp", PlanReshape, {"reshape"}},
          {"TransposeOp", PlanTranspose, {"transpose"}},
          {"PermuteOp", PlanPermute, {"permute"}},
          {"ConcatOp", PlanConcat, {"concat"}},
          {"SliceOp", PlanSlice, {"slice"}},
          {"RepeatOp", PlanRepeat, {"repeat"}},
          {"RepeatInterleaveOp", PlanRepeatInterleave, {"reshape", "repeat"}},
          {"PadOp", PlanPad, {"pad"}},
          {"EmbeddingOp", PlanEmbedding, {"embedding"}}};
}

}  // namespace ttfd::ttmlir
