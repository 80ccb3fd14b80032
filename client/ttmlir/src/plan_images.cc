// Plans of operations on images: convolutions, pools, normalization, resizing.
#include <fmt/format.h>

#include "client/ttmlir/src/planner.h"

namespace ttfd::ttmlir {
namespace {

using tensor::Attributes;
using tensor::Shape;
using tensor::TensorSpec;

// A pair of numbers: a list in schemas since 2025, before it a field of each with these endings.
std::vector<int64_t> Pair(const Planner& p, const std::string& name) {
  if (p.fields().InSchema(name)) return p.Integers(name);
  const std::string early = name == "kernel_size" ? "kernel" : name;
  return {p.fields().Integer(early + "_height"), p.fields().Integer(early + "_width")};
}

Attributes WindowsOf(Planner& p) {
  for (const char* const name : {"kernel_size", "stride", "dilation"}) {
    if (Pair(p, name).size() != 2) p.Fail(fmt::format("its {} is not of two numbers", name));
  }
  return {{"batch_size", p.fields().Integer("batch_size")},
          {"input_height", p.fields().Integer("input_height")},
          {"input_width", p.fields().Integer("input_width")},
          {"kernel_size", Pair(p, "kernel_size")},
          {"stride", Pair(p, "stride")},
          {"padding", Pair(p, "padding")},
          {"dilation", Pair(p, "dilation")}};
}

// The same elements in one row.
uint64_t Flat(Planner& p, uint64_t input) {
  TensorSpec spec = p.spec(input);
  spec.shape = Shape({static_cast<uint32_t>(spec.shape.elements())});
  const Value flat = p.Temporary(spec);
  p.Copy(input, flat);
  return flat.id;
}

// [groups, output channels, elements of a window], as the table's prepared weights are.
Shape PreparedShape(Planner& p) {
  constexpr int64_t kMaxKernel = 1 << 12;
  constexpr int64_t kMaxElements = int64_t{1} << 31;
  const std::vector<int64_t> kernel = Pair(p, "kernel_size");
  const int64_t groups = std::max<int64_t>(p.fields().Integer("groups"), 1);
  const int64_t outputs = p.fields().Integer("out_channels") / groups;
  int64_t elements = p.fields().Integer("in_channels") / groups;
  bool fits = kernel.size() <= 2;
  for (size_t i = 0; fits && i < kernel.size(); ++i) {
    fits = kernel[i] >= 1 && kernel[i] <= kMaxKernel;
    elements = fits ? elements * kernel[i] : 1;
  }
  if (!fits || elements < 1 || elements > kMaxElements || outputs < 1 || outputs > kMaxElements) {
    p.Fail("its channels, groups and window are not those of weights");
    return Shape({1});
  }
  return Shape({static_cast<uint32_t>(groups), static_cast<uint32_t>(outputs),
                static_cast<uint32_t>(elements)});
}

// The file describes prepared weights in a shape of its own, which need not be that of the table: the elements lie at
// the beginning of it.
void PlanPrepareWeights(Planner& p, std::string_view operation) {
  const Value output = p.Out();
  const uint64_t input = p.Tiled(p.In("weight_tensor"));
  const TensorSpec prepared = {.shape = PreparedShape(p), .dtype = p.spec(input).dtype};
  if (!p.problem().empty()) return;
  const uint64_t missing = output.spec.shape.elements() - prepared.shape.elements();
  if (output.spec.shape.elements() < prepared.shape.elements()) {
    return p.Fail(fmt::format("prepared weights of {} elements do not fit into {}",
                              prepared.shape.elements(), output.spec.ToString()));
  }
  const Value weights = p.Temporary(prepared);
  p.Move(operation, {input}, weights, {{"groups", p.fields().Integer("groups")}});
  const uint64_t flat = Flat(p, weights.id);
  if (missing == 0) return p.Copy(flat, output);
  TensorSpec whole = p.spec(flat);
  whole.shape = Shape({static_cast<uint32_t>(output.spec.shape.elements())});
  const Value padded = p.Temporary(whole);
  p.Move("pad", {flat}, padded,
         {{"padding", std::vector<int64_t>{0, static_cast<int64_t>(missing)}}});
  p.Copy(padded.id, output);
}

void PlanPrepareConvWeights(Planner& p) { PlanPrepareWeights(p, "prepare_conv2d_weights"); }

void PlanPrepareTransposedWeights(Planner& p) {
  PlanPrepareWeights(p, "prepare_conv_transpose2d_weights");
}

void PlanPrepareBias(Planner& p) { p.Copy(p.In("bias_tensor"), p.Out()); }

// Weights as the table takes them: raw ones as they are, prepared ones as PlanPrepareWeights left them.
uint64_t WeightsOf(Planner& p, bool is_transposed) {
  const uint64_t given = p.In("weight");
  const Shape& shape = p.spec(given).shape;
  const std::vector<int64_t> kernel = Pair(p, "kernel_size");
  const int64_t outer = p.fields().Integer(is_transposed ? "in_channels" : "out_channels");
  if (shape.rank() == 4 && kernel.size() == 2 && shape[0] == outer && shape[2] == kernel[0] &&
      shape[3] == kernel[1]) {
    return p.Tiled(given);
  }
  const Shape prepared = PreparedShape(p);
  if (shape.elements() < prepared.elements()) {
    p.Fail(
        fmt::format("weights are {}, which is neither raw nor prepared", p.spec(given).ToString()));
    return given;
  }
  uint64_t flat = Flat(p, given);
  TensorSpec spec = p.spec(flat);
  if (shape.elements() > prepared.elements()) {
    spec.shape = Shape({static_cast<uint32_t>(prepared.elements())});
    const Value part = p.Temporary(spec);
    p.Move("slice", {flat}, part,
           {{"begins", std::vector<int64_t>{0}},
            {"ends", std::vector<int64_t>{static_cast<int64_t>(prepared.elements())}},
            {"steps", std::vector<int64_t>{1}}});
    flat = part.id;
  }
  const Value weights = p.Temporary({.shape = prepared, .dtype = spec.dtype});
  p.Copy(flat, weights);
  return weights.id;
}

std::string ActivationOf(Planner& p) {
  const Record config = p.fields().Child("conv2d_config");
  const std::string early(config.Text("activation"));
  return early.empty() ? p.Activation(config.Child("activation")) : early;
}

void Convolution(Planner& p, std::string_view operation, bool is_transposed) {
  const Value output = p.Out();
  std::vector<uint64_t> inputs = {p.Tiled(p.In("input")), WeightsOf(p, is_transposed)};
  if (const auto bias = p.InIf("bias")) inputs.push_back(p.Tiled(*bias));
  Attributes attributes = WindowsOf(p);
  attributes["in_channels"] = p.fields().Integer("in_channels");
  attributes["out_channels"] = p.fields().Integer("out_channels");
  attributes["groups"] = p.fields().Integer("groups");
  attributes["activation"] = ActivationOf(p);
  if (is_transposed) attributes["output_padding"] = p.Integers("output_padding");
  p.Compute(operation, inputs, output, attributes);
}

void PlanConv2d(Planner& p) { Convolution(p, "conv2d", /*is_transposed=*/false); }

void PlanConvTranspose2d(Planner& p) { Convolution(p, "conv_transpose2d", /*is_transposed=*/true); }

void PlanPool(Planner& p) {
  const bool is_average = p.fields().Name("type") == "AvgPool2d";
  Attributes attributes = WindowsOf(p);
  attributes["ceil_mode"] = p.fields().Integer("ceil_mode") != 0;
  if (is_average) {
    attributes["count_include_pad"] =
        p.fields().Child("extra_params").Integer("count_include_pad") != 0;
  }
  p.Compute(is_average ? "avg_pool2d" : "max_pool2d", {p.In("in")}, p.Out(), attributes);
}

void PlanGlobalPool(Planner& p) { p.Compute("global_avg_pool2d", {p.In("in")}, p.Out()); }

void PlanUpsample(Planner& p) {
  const Record scale = p.fields().Child("scale_factor");
  const List pair = scale.Items("scale");
  std::vector<int64_t> factors(2, scale.Integer("scale"));
  for (uint32_t i = 0; i < pair.size() && i < 2; ++i) factors[i] = pair.Integer(i);
  if (p.fields().Text("mode") != "nearest") {
    return p.Fail(fmt::format("its mode is {}; nearest is supported", p.fields().Text("mode")));
  }
  p.Move("upsample", {p.In("in")}, p.Out(), {{"scale_factor", factors}});
}

void PlanBatchNorm(Planner& p) {
  std::vector<uint64_t> inputs = {p.In("input"), p.In("running_mean"), p.In("running_var")};
  const auto weight = p.InIf("weight");
  const auto bias = p.InIf("bias");
  if (!weight && bias) return p.Fail("a normalization has a bias without a weight");
  if (weight) inputs.push_back(*weight);
  if (bias) inputs.push_back(*bias);
  p.Compute("batch_norm_inference", inputs, p.Out(), {{"epsilon", p.fields().Real("epsilon")}});
}

}  // namespace

std::vector<PlanRow> ImageRows() {
  const std::vector<std::string_view> prepared = {"input_memory_config",
                                                  "input_tensor_layout",
                                                  "weights_format",
                                                  "batch_size",
                                                  "input_height",
                                                  "input_width",
                                                  "kernel_size",
                                                  "stride",
                                                  "padding",
                                                  "dilation",
                                                  "has_bias",
                                                  "input_dtype",
                                                  "in_channels",
                                                  "out_channels",
                                                  "groups",
                                                  "output_padding"};
  return {{"Conv2dOp", PlanConv2d, {"conv2d"}},
          {"ConvTranspose2dOp", PlanConvTranspose2d, {"conv_transpose2d"}},
          {"PrepareConv2dWeightsOp", PlanPrepareConvWeights, {"prepare_conv2d_weights"}, prepared},
          {"PrepareConv2dBiasOp", PlanPrepareBias, {"reshape", "typecast", "to_layout"}, prepared},
          {"PrepareConvTranspose2dWeightsOp",
           PlanPrepareTransposedWeights,
           {"prepare_conv_transpose2d_weights"},
           prepared},
          {"PrepareConvTranspose2dBiasOp",
           PlanPrepareBias,
           {"reshape", "typecast", "to_layout"},
           prepared},
          {"Pool2dOp", PlanPool, {"avg_pool2d", "max_pool2d"}, {"channels", "extra_params"}},
          {"MaxPool2dOp", PlanPool, {"max_pool2d"}, {"channels"}},
          {"GlobalAvgPool2dOp", PlanGlobalPool, {"global_avg_pool2d"}},
          {"UpsampleOp", PlanUpsample, {"upsample"}},
          {"BatchNormInferenceOp", PlanBatchNorm, {"batch_norm_inference"}}};
}

}  // namespace ttfd::ttmlir
