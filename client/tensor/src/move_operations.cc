// Operations of the table that move elements.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "client/tensor/src/composition.h"
#include "client/tensor/src/lower_move.h"
#include "client/tensor/src/operations.h"
#include "ttfd/tiles.h"

namespace ttfd::tensor {
namespace {

using Integers = std::vector<int64_t>;
using Outputs = Result<std::vector<Tensor>>;

Outputs Run(const Call& call, const TensorSpec& output, const MoveOperation& operation) {
  return call.Run(output, LowerMove(operation, call.specs(), output, call.limits()));
}

// The attribute `name`, an extent of a shape; negative ones count from the end.
Result<size_t> ExtentOf(const Call& call, const char* name, const Shape& shape) {
  const int64_t given = call.attribute<int64_t>(name);
  const auto rank = static_cast<int64_t>(shape.rank());
  if (given >= -rank && given < rank) return static_cast<size_t>(given < 0 ? given + rank : given);
  return call.Error(name, "is " + std::to_string(given) + "; it must be an extent of " +
                              shape.ToString() + ", " + std::to_string(-rank) + " to " +
                              std::to_string(rank - 1));
}

// A list with a number for each extent of input 0.
Result<Integers> ListOf(const Call& call, const char* name, size_t numbers) {
  const auto& list = call.attribute<Integers>(name);
  if (list.size() == numbers) return list;
  return call.Error(name, "is " + ListText(list) + "; it must have " + std::to_string(numbers) +
                              " numbers, for " + call.spec(0).shape.ToString());
}

Result<Layout> LayoutAttribute(const Call& call, Layout standard) {
  const auto& name = call.attribute<std::string>("layout");
  if (name.empty()) return standard;
  for (const Layout layout : {Layout::kTile, Layout::kRowMajor}) {
    if (name == LayoutName(layout)) return layout;
  }
  return call.Error("layout", "is \"" + name + "\"; it must be tile or row_major");
}

Outputs RunToLayout(const Call& call) {
  const TensorSpec& input = call.spec(0);
  const Result<Layout> layout = LayoutAttribute(call, input.layout);
  if (!layout.ok()) return layout.status();
  const TensorSpec output = {input.shape, input.dtype, *layout};
  if (Status status = output.Check(); !status.ok()) return call.InputError(0, status.message());
  return Run(call, output,
             {.sizes = ExtentsOf(input.shape),
              .sources = {WholeSource(0, input.shape, StridesOf(input.shape))}});
}

Outputs RunCopyInto(const Call& call) {
  constexpr size_t kTarget = 0, kSource = 1;
  const TensorSpec &target = call.spec(kTarget), &input = call.spec(kSource);
  if (input.shape != target.shape || input.dtype != target.dtype) {
    return call.InputError(kSource,
                           "it must have the shape and dtype of target, " + target.ToString());
  }
  if (call.IsSame(kTarget, kSource)) {
    return call.InputError(kSource, "it is the memory of target");
  }
  const MoveOperation operation = {
      .sizes = ExtentsOf(target.shape),
      .sources = {WholeSource(kSource, target.shape, StridesOf(target.shape))}};
  return call.RunInPlace(kTarget, LowerMove(operation, call.specs(), target, call.limits()));
}

// The attribute `shape`, where one extent may be -1: what the others leave.
Result<Shape> ShapeAttribute(const Call& call) {
  const auto& given = call.attribute<Integers>("shape");
  const uint64_t elements = call.spec(0).shape.elements();
  const auto error = [&](const std::string& rule) {
    return call.Error("shape", "is " + ListText(given) + "; " + rule);
  };
  if (given.empty() || given.size() > Shape::kMaxRank) {
    return error("it must have 1 to " + std::to_string(Shape::kMaxRank) + " extents");
  }
  uint64_t known = 1;
  size_t unknown = given.size();
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] == -1 && unknown == given.size()) {
      unknown = i;
    } else if (given[i] < 1 || static_cast<uint64_t>(given[i]) > elements / known) {
      return error("its extents must have the " + std::to_string(elements) + " elements of " +
                   call.spec(0).shape.ToString());
    } else {
      known *= static_cast<uint64_t>(given[i]);
    }
  }
  if (unknown == given.size() ? known != elements : elements % known != 0) {
    return error("its extents must have the " + std::to_string(elements) + " elements of " +
                 call.spec(0).shape.ToString());
  }
  std::vector<uint32_t> extents(given.begin(), given.end());
  if (unknown != given.size()) extents[unknown] = static_cast<uint32_t>(elements / known);
  return Shape(std::move(extents));
}

Outputs RunReshape(const Call& call) {
  Result<Shape> shape = ShapeAttribute(call);
  if (!shape.ok()) return shape.status();
  const TensorSpec output = {*shape, call.spec(0).dtype, call.spec(0).layout};
  return Run(call, output,
             {.sizes = ExtentsOf(*shape), .sources = {WholeSource(0, *shape, StridesOf(*shape))}});
}

MoveOperation PermuteOperation(const Shape& input, const std::vector<size_t>& dims, Shape* output) {
  const std::vector<uint64_t> of_input = StridesOf(input);
  std::vector<uint32_t> extents;
  std::vector<uint64_t> strides;
  for (const size_t dim : dims) {
    extents.push_back(input[dim]);
    strides.push_back(of_input[dim]);
  }
  *output = Shape(std::move(extents));
  return {.sizes = ExtentsOf(*output), .sources = {WholeSource(0, *output, strides)}};
}

// Elements that are neighbours in the input stay in a row or a column of tiles, or blocks, of the output: else each is
// read by itself, and two permutations are faster.
Outputs Permute(const Call& call, const std::vector<size_t>& dims) {
  const TensorSpec& input = call.spec(0);
  const size_t rank = dims.size(), last = rank - 1;
  const auto at = static_cast<size_t>(std::find(dims.begin(), dims.end(), last) - dims.begin());
  if (rank > 2 && at + 2 < rank && input.shape.columns() != 1 && ElementBytes(input.dtype) != 0) {
    std::vector<size_t> first = dims;
    first.erase(first.begin() + static_cast<ptrdiff_t>(at));
    first.insert(first.end() - 1, last);
    Integers second(rank);
    std::iota(second.begin(), second.end(), 0);
    second.erase(second.end() - 2);
    second.insert(second.begin() + static_cast<ptrdiff_t>(at), static_cast<int64_t>(rank) - 2);
    Outputs halfway = Permute(call, first);
    if (!halfway.ok()) return halfway;
    std::vector<Tensor> outputs = Apply("permute", *halfway, {{"dims", second}});
    if (!outputs[0].ok()) return outputs[0].status();
    return outputs;
  }
  TensorSpec output = {{}, input.dtype, input.layout};
  const MoveOperation operation = PermuteOperation(input.shape, dims, &output.shape);
  return Run(call, output, operation);
}

Outputs RunPermute(const Call& call) {
  const Shape& shape = call.spec(0).shape;
  const Result<Integers> given = ListOf(call, "dims", shape.rank());
  if (!given.ok()) return given.status();
  const auto rank = static_cast<int64_t>(shape.rank());
  std::vector<size_t> dims;
  for (const int64_t dim : *given) {
    const auto index = static_cast<size_t>(dim < 0 ? dim + rank : dim);
    if (dim < -rank || dim >= rank || std::find(dims.begin(), dims.end(), index) != dims.end()) {
      return call.Error("dims", "is " + ListText(*given) + "; it must have each extent of " +
                                    shape.ToString() + " once");
    }
    dims.push_back(index);
  }
  return Permute(call, dims);
}

Outputs RunTranspose(const Call& call) {
  const Shape& shape = call.spec(0).shape;
  const Result<size_t> a = ExtentOf(call, "dim0", shape);
  if (!a.ok()) return a.status();
  const Result<size_t> b = ExtentOf(call, "dim1", shape);
  if (!b.ok()) return b.status();
  std::vector<size_t> dims(shape.rank());
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[*a], dims[*b]);
  return Permute(call, dims);
}

Outputs RunSlice(const Call& call) {
  const Shape& shape = call.spec(0).shape;
  const Result<Integers> begins = ListOf(call, "begins", shape.rank());
  if (!begins.ok()) return begins.status();
  const Result<Integers> ends = ListOf(call, "ends", shape.rank());
  if (!ends.ok()) return ends.status();
  const bool has_steps = !call.attribute<Integers>("steps").empty();
  const Result<Integers> steps =
      has_steps ? ListOf(call, "steps", shape.rank()) : Integers(shape.rank(), 1);
  if (!steps.ok()) return steps.status();
  std::vector<uint64_t> strides = StridesOf(shape);
  std::vector<uint32_t> extents;
  uint64_t offset = 0;
  for (size_t d = 0; d < shape.rank(); ++d) {
    const int64_t extent = shape[d], step = (*steps)[d];
    const int64_t begin = (*begins)[d] < 0 ? (*begins)[d] + extent : (*begins)[d];
    const int64_t end = (*ends)[d] < 0 ? (*ends)[d] + extent : (*ends)[d];
    if (begin < 0 || begin >= end || end > extent) {
      return call.Error("ends", "is " + ListText(*ends) + "; from begins " + ListText(*begins) +
                                    " on there must be elements in each extent of " +
                                    shape.ToString());
    }
    if (step < 1) return call.Error("steps", "is " + ListText(*steps) + "; steps are at least 1");
    offset += static_cast<uint64_t>(begin) * strides[d];
    extents.push_back(static_cast<uint32_t>((end - begin - 1) / step + 1));
    strides[d] *= static_cast<uint64_t>(step);
  }
  const TensorSpec output = {Shape(extents), call.spec(0).dtype, call.spec(0).layout};
  MoveSource source = WholeSource(0, output.shape, strides);
  source.offset = offset;
  return Run(call, output, {.sizes = ExtentsOf(output.shape), .sources = {std::move(source)}});
}

// The shape of all inputs along extent `dim`; an error if they do not match.
Result<TensorSpec> ConcatSpec(const Call& call, size_t dim) {
  TensorSpec output = call.spec(0);
  std::vector<uint32_t> extents = ExtentsOf(output.shape);
  for (size_t i = 1; i < call.inputs(); ++i) {
    const TensorSpec& input = call.spec(i);
    bool matches = input.shape.rank() == extents.size() && input.dtype == output.dtype &&
                   input.layout == output.layout;
    for (size_t d = 0; matches && d < extents.size(); ++d) {
      matches = d == dim || input.shape[d] == extents[d];
    }
    if (!matches) {
      return call.InputError(i, "it must be like " + call.spec(0).ToString() +
                                    " in all but extent " + std::to_string(dim));
    }
    if (input.shape[dim] > UINT32_MAX - extents[dim]) {
      return call.InputError(i, "the sum of extents " + std::to_string(dim) + " exceeds 2^32");
    }
    extents[dim] += input.shape[dim];
  }
  output.shape = Shape(std::move(extents));
  return output;
}

// More inputs than a launch has sources: some of them first.
Outputs ConcatMany(const Call& call, size_t dim) {
  std::vector<Tensor> parts;
  const Attributes attributes = {{"dim", static_cast<int64_t>(dim)}};
  for (size_t i = 0; i < call.inputs(); i += ops::kMaxMoveSources) {
    std::vector<Tensor> group;
    for (size_t j = i; j < std::min<size_t>(call.inputs(), i + ops::kMaxMoveSources); ++j) {
      group.push_back(call.input(j));
    }
    parts.push_back(group.size() == 1 ? group[0] : Apply("concat", group, attributes)[0]);
  }
  std::vector<Tensor> outputs = Apply("concat", parts, attributes);
  if (!outputs[0].ok()) return outputs[0].status();
  return outputs;
}

Outputs RunConcat(const Call& call) {
  const Result<size_t> dim = ExtentOf(call, "dim", call.spec(0).shape);
  if (!dim.ok()) return dim.status();
  const Result<TensorSpec> output = ConcatSpec(call, *dim);
  if (!output.ok()) return output.status();
  MoveOperation operation = {.sizes = ExtentsOf(output->shape)};
  uint32_t begin = 0;
  for (uint32_t i = 0; i < call.inputs(); ++i) {
    const Shape& shape = call.spec(i).shape;
    const std::vector<uint64_t> strides = StridesOf(shape);
    MoveSource source = WholeSource(i, shape, strides);
    source.levels[*dim].begin = begin;
    source.levels[*dim].end = begin += shape[*dim];
    source.offset = 0 - source.levels[*dim].begin * strides[*dim];
    operation.sources.push_back(std::move(source));
  }
  if (call.inputs() <= ops::kMaxMoveSources) return Run(call, *output, operation);
  Status status = output->Check();
  if (status.ok()) status = CheckMove(operation, call.specs(), *output);
  if (!status.ok()) return call.Error("output", "cannot be made: " + status.message());
  return ConcatMany(call, *dim);
}

Outputs RunRepeat(const Call& call) {
  const TensorSpec& input = call.spec(0);
  const Result<Integers> repeats = ListOf(call, "repeats", input.shape.rank());
  if (!repeats.ok()) return repeats.status();
  const std::vector<uint64_t> strides = StridesOf(input.shape);
  std::vector<uint32_t> extents;
  MoveOperation operation = {.sources = {{}}};
  const auto add = [&operation](uint32_t size, uint64_t stride) {
    operation.sizes.push_back(size);
    operation.sources[0].levels.push_back({0, size, stride});
  };
  for (size_t d = 0; d < input.shape.rank(); ++d) {
    const int64_t times = (*repeats)[d];
    if (times < 1 || times > UINT32_MAX / input.shape[d]) {
      return call.Error("repeats", "is " + ListText(*repeats) + "; numbers are at least 1, and " +
                                       input.shape.ToString() + " times them below 2^32");
    }
    if (times != 1) add(static_cast<uint32_t>(times), 0);
    add(input.shape[d], strides[d]);
    extents.push_back(input.shape[d] * static_cast<uint32_t>(times));
  }
  return Run(call, {Shape(std::move(extents)), input.dtype, input.layout}, operation);
}

// The bits of an element of `dtype`.
Result<uint32_t> BitsOf(const Call& call, const char* name, DType dtype) {
  const double value = call.attribute<double>(name);
  if (dtype == DType::kUInt32) {
    if (value >= 0 && value <= UINT32_MAX && value == std::floor(value)) {
      return static_cast<uint32_t>(value);
    }
    return call.Error(name, "is " + std::to_string(value) + "; it must be an integer of uint32");
  }
  const auto number = static_cast<float>(value);
  if (dtype != DType::kBFloat16) return std::bit_cast<uint32_t>(number);
  const auto bytes = client::ToElements({&number, 1}, client::DataFormat::kFloat16B);
  uint16_t bits = 0;
  std::memcpy(&bits, bytes->data(), sizeof(bits));
  return bits;
}

Outputs RunPad(const Call& call) {
  const TensorSpec& input = call.spec(0);
  const Result<Integers> padding = ListOf(call, "padding", 2 * input.shape.rank());
  if (!padding.ok()) return padding.status();
  const Result<uint32_t> value = BitsOf(call, "value", input.dtype);
  if (!value.ok()) return value.status();
  MoveSource source = WholeSource(0, input.shape, StridesOf(input.shape));
  std::vector<uint32_t> extents;
  for (size_t d = 0; d < input.shape.rank(); ++d) {
    const int64_t before = (*padding)[2 * d], after = (*padding)[2 * d + 1];
    const int64_t limit = UINT32_MAX - int64_t{input.shape[d]};
    if (before < 0 || after < 0 || before > limit || after > limit - before) {
      return call.Error("padding", "is " + ListText(*padding) +
                                       "; numbers are at least 0, and the " + "extents of " +
                                       input.shape.ToString() + " with them below 2^32");
    }
    MoveLevel& level = source.levels[d];
    level.begin = static_cast<uint32_t>(before);
    level.end += level.begin;
    source.offset -= level.begin * level.stride;
    extents.push_back(level.end + static_cast<uint32_t>(after));
  }
  const TensorSpec output = {Shape(std::move(extents)), input.dtype, input.layout};
  return Run(call, output,
             {.sizes = ExtentsOf(output.shape),
              .sources = {std::move(source)},
              .filling = ops::MoveFilling::kValue,
              .value = *value});
}

Status RequireIndices(const Call& call, size_t i) {
  if (call.spec(i).dtype == DType::kUInt32) return Status();
  return call.InputError(i, "the dtype must be uint32");
}

Outputs RunEmbedding(const Call& call) {
  constexpr size_t kIndices = 0, kWeight = 1;
  const TensorSpec &indices = call.spec(kIndices), &weight = call.spec(kWeight);
  if (Status status = RequireIndices(call, kIndices); !status.ok()) return status;
  if (weight.shape.rank() < 2 || weight.shape.matrices() != 1) {
    return call.InputError(kWeight, "it must be a matrix, a row for each index");
  }
  const Result<Layout> layout = LayoutAttribute(call, weight.layout);
  if (!layout.ok()) return layout.status();
  std::vector<uint32_t> extents = ExtentsOf(indices.shape);
  extents.push_back(weight.shape.columns());
  const TensorSpec output = {Shape(std::move(extents)), weight.dtype, *layout};
  if (Status status = output.Check(); !status.ok()) {
    return call.Error("output", "cannot be made: " + status.message());
  }
  const auto rows = static_cast<uint32_t>(indices.shape.elements());
  const uint32_t columns = weight.shape.columns();
  const MoveSource source = {.input = kWeight, .levels = {{0, rows, columns}, {0, columns, 1}}};
  return Run(call, output,
             {.sizes = {rows, columns},
              .sources = {source},
              .filling = ops::MoveFilling::kValue,
              .index = MoveOperation::Index{.use = ops::MoveIndexUse::kGather,
                                            .input = kIndices,
                                            .level = 0,
                                            .limit = weight.shape.rows()}});
}

}  // namespace

void AddMoveOperations(std::vector<Operation>* operations) {
  const auto add = [operations](OperationInfo info, auto run) {
    operations->push_back({std::move(info), run});
  };
  const OperationInfo::AttributeInfo layout = {
      "layout", std::string(), "of the output: tile or row_major; empty: the input's"};
  add({"to_layout", {{"x"}}, {layout}, "The same elements in another layout."}, RunToLayout);
  add({"copy_into", {{"target"}, {"x"}}, {}, "Writes x into target; in place."}, RunCopyInto);
  add({"reshape",
       {{"x"}},
       {{"shape", Integers(), "of the output; one extent may be -1, what the others leave"}},
       "The same elements in their order, in another shape."},
      RunReshape);
  add({"permute",
       {{"x"}},
       {{"dims", Integers(), "the extents of x in the order of the output"}},
       "Extents in another order."},
      RunPermute);
  add({"transpose",
       {{"x"}},
       {{"dim0", int64_t{-2}, "an extent"}, {"dim1", int64_t{-1}, "another one"}},
       "Two extents exchanged."},
      RunTranspose);
  add({"slice",
       {{"x"}},
       {{"begins", Integers(), "first index in each extent; negative: from the end"},
        {"ends", Integers(), "index after the last one"},
        {"steps", Integers(), "from index to index; empty: 1"}},
       "Part of each extent."},
      RunSlice);
  add({"concat",
       {{.name = "tensors", .repeated = true}},
       {{"dim", int64_t{0}, "the extent"}},
       "Tensors after one another along an extent."},
      RunConcat);
  add({"repeat",
       {{"x"}},
       {{"repeats", Integers(), "how often, for each extent"}},
       "The tensor repeated along extents."},
      RunRepeat);
  add({"pad",
       {{"x"}},
       {{"padding", Integers(), "elements before and after those of each extent"},
        {"value", 0.0, "of these elements"}},
       "More elements around those of x."},
      RunPad);
  add({"embedding",
       {{"indices"}, {"weight"}},
       {layout},
       "The row of weight for each index; 0 for an index that has none."},
      RunEmbedding);
}

}  // namespace ttfd::tensor
