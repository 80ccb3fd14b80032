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

// Elements of an extent by indices: the place of each in the whole input is its index times the elements of one, plus
// where its other extents begin.
void PlanGather(Planner& p) {
  const uint64_t input = p.In("input");
  const uint64_t given = p.In("index");
  const Value output = p.Out();
  const Shape shape = p.spec(input).shape, indices = p.spec(given).shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  int64_t dim = p.fields().Integer("dim");
  if (dim < -rank || dim >= rank || indices.rank() != shape.rank()) {
    return p.Fail(fmt::format("extent {} of {} by {}", dim, shape.ToString(), indices.ToString()));
  }
  if (p.spec(given).dtype != tensor::DType::kUInt32) return p.Fail("its indices are numbers");
  const auto chosen = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  const auto integers = [&p](const Shape& of) {
    return p.Temporary(
        {.shape = of, .dtype = tensor::DType::kUInt32, .layout = tensor::Layout::kRowMajor});
  };
  Value place = integers(indices);
  p.Copy(given, place);
  const auto apply = [&](std::string_view operation, const Shape& of, FillStep numbers) {
    numbers.result = integers(of);
    const uint64_t other = numbers.result.id;
    p.Add(std::move(numbers));
    const Value next = integers(indices);
    p.Move(operation, {place.id, other}, next);
    place = next;
  };
  std::vector<uint64_t> strides(shape.rank(), 1);
  for (size_t i = shape.rank() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
  const Shape single(std::vector<uint32_t>(shape.rank(), 1));
  apply("multiply", single, {static_cast<double>(strides[chosen]), 0, {}});
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (i == chosen) continue;
    if (indices[i] > shape[i]) {
      return p.Fail(fmt::format("indices {} of {}", indices.ToString(), shape.ToString()));
    }
    std::vector<uint32_t> extents(shape.rank(), 1);
    extents[i] = indices[i];
    apply("add", Shape(extents), {0, static_cast<double>(strides[i]), {}});
  }
  uint64_t whole = input;
  if (p.spec(input).dtype == tensor::DType::kBfp8) {  // its elements do not move one by one
    const Value numbers = p.Temporary({.shape = shape});
    p.Copy(input, numbers);
    whole = numbers.id;
  }
  const Value elements = p.Temporary({.shape = Shape({static_cast<uint32_t>(shape.elements()), 1}),
                                      .dtype = p.spec(whole).dtype,
                                      .layout = tensor::Layout::kRowMajor});
  p.Copy(whole, elements);
  p.Move("embedding", {place.id, elements.id}, output,
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
          {"EmbeddingOp", PlanEmbedding, {"embedding"}},
          {"GatherOp", PlanGather, {"add", "multiply", "embedding"}}};
}

}  // namespace ttfd::ttmlir
