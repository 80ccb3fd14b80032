// One operation of a file being planned.
#include "client/ttmlir/src/planner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "client/ttmlir/src/listing.h"
#include "client/ttmlir/src/plan_integers.h"

namespace ttfd::ttmlir {
namespace {

using tensor::DType;
using tensor::Layout;
using tensor::Shape;
using tensor::TensorSpec;

constexpr int64_t kMaxExtent = int64_t{1} << 31;

std::optional<DType> DTypeOf(std::string_view name) {
  if (name == "Float32") return DType::kFloat32;
  if (name == "BFloat16") return DType::kBFloat16;
  if (name == "BFP_BFloat8") return DType::kBfp8;
  if (name == "UInt32" || name == "Int32" || name == "UInt16" || name == "UInt8") {
    return DType::kUInt32;
  }
  return std::nullopt;
}

}  // namespace

bool Fields::InSchema(std::string_view field) const {
  return record_ && record_.definition().FieldNamed(field) != nullptr;
}

std::string_view Fields::Unread() const {
  if (!record_) return "";
  for (const Field& field : record_.definition().fields) {
    const bool is_device =
        field.type.definition != nullptr && field.type.definition->name == "DeviceRef";
    if (!record_.PlaceOf(field) || read_.contains(field.name) || is_device) continue;
    const bool is_default =
        IsNumber(field.type) && !field.optional && record_.Real(field.name) == field.standard;
    const bool is_empty = field.type.list && record_.Items(field.name).empty();
    if (!is_default && !is_empty) return field.name;
  }
  return "";
}

void Planner::Fail(const std::string& problem) {
  if (problem_.empty()) problem_ = problem;
}

Value Planner::ValueOf(const Record& ref) {
  const Record desc = ref.Child("desc");
  const Record memory = desc.Child("layout").Child("memory_desc");
  const List list = desc.Items("shape");
  std::vector<uint32_t> extents;
  for (uint32_t i = 0; i < list.size(); ++i) {
    const int64_t extent = list.Integer(i);
    if (extent < 1 || extent >= kMaxExtent) Fail(fmt::format("an extent is {}", extent));
    extents.push_back(static_cast<uint32_t>(extent));
  }
  if (extents.empty()) extents.push_back(1);
  const std::string_view name = memory.Name("data_type");
  const std::optional<DType> dtype = DTypeOf(name);
  if (!dtype) Fail(fmt::format("its data type is {}", name.empty() ? "not known" : name));
  const Record tile = memory.Child("tile_shape");
  const bool tiled = tile && tile.Integer("x") == 32 && tile.Integer("y") == 32;
  Value value = {static_cast<uint32_t>(ref.Integer("global_id")),
                 {.shape = Shape(std::move(extents)),
                  .dtype = dtype.value_or(DType::kFloat32),
                  .layout = tiled ? Layout::kTile : Layout::kRowMajor},
                 name == "Int32"};
  if (tensor::Status status = value.spec.Check(); !status.ok()) Fail(status.message());
  return value;
}

uint64_t Planner::Defined(const Record& ref) {
  const auto id = static_cast<uint64_t>(static_cast<uint32_t>(ref.Integer("global_id")));
  if (!values_.contains(id)) Fail(fmt::format("%{} is used before it is defined", id));
  return id;
}

uint64_t Planner::In(const Record& record, std::string_view field) {
  static_cast<void>(fields_.Has(field));
  const Record ref = record.Child(field);
  if (!ref) Fail(fmt::format("it has no {}", field));
  return ref ? Defined(ref) : 0;
}

uint64_t Planner::In(std::initializer_list<std::string_view> fields) {
  const auto* const known = std::find_if(fields.begin(), fields.end(), [&](std::string_view field) {
    return fields_.InSchema(field);
  });
  return In(known == fields.end() ? *fields.begin() : *known);
}

std::optional<uint64_t> Planner::InIf(std::string_view field) {
  const Record ref = fields_.Child(field);
  if (!ref) return std::nullopt;
  return Defined(ref);
}

std::vector<uint64_t> Planner::Ins(std::string_view field) {
  std::vector<uint64_t> ids;
  const List list = fields_.Items(field);
  for (uint32_t i = 0; i < list.size(); ++i) ids.push_back(Defined(list.Child(i)));
  return ids;
}

const TensorSpec& Planner::spec(uint64_t id) const {
  static const TensorSpec kNone = {.shape = Shape({1})};
  const auto found = values_.find(id);
  return found == values_.end() ? kNone : found->second.spec;
}

Value Planner::ValueAt(uint64_t id) const {
  const auto found = values_.find(id);
  return found == values_.end() ? Value{id, spec(id), false} : found->second;
}

bool Planner::IsSigned(uint64_t id) const {
  const auto found = values_.find(id);
  return found != values_.end() && found->second.is_signed;
}

Value Planner::Out(std::string_view field) {
  const Record ref = fields_.Child(field);
  if (!ref) Fail(fmt::format("it has no {}", field));
  return ValueOf(ref);
}

std::vector<Value> Planner::Outs(std::string_view field) {
  std::vector<Value> values;
  const List list = fields_.Items(field);
  for (uint32_t i = 0; i < list.size(); ++i) values.push_back(ValueOf(list.Child(i)));
  return values;
}

Value Planner::Temporary(TensorSpec spec) {
  Value value = {next_id_++, std::move(spec), false};
  Define(value);
  return value;
}

void Planner::Add(Step step) {
  if (problem_.empty()) steps_.push_back(std::move(step));
}

const tensor::OperationInfo* Planner::OperationNamed(std::string_view name) {
  const auto operations = tensor::Operations();
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [&](const auto& one) { return one.name == name; });
  if (found != operations.end()) return &*found;
  Fail(fmt::format("the table of operations has no {}", name));
  return nullptr;
}

uint64_t Planner::Tiled(uint64_t id) {
  TensorSpec wanted = spec(id);
  if (wanted.layout == Layout::kTile) return id;
  wanted.layout = Layout::kTile;
  const Value tiles = Temporary(wanted);
  Add(CopyStep{id, tiles});
  return tiles.id;
}

void Planner::Compute(std::string_view operation, std::vector<uint64_t> inputs, const Value& result,
                      tensor::Attributes attributes) {
  if (AreIntegers(*this, inputs)) return PlanOfIntegers(*this, operation, inputs, result);
  for (uint64_t& id : inputs) {
    if (spec(id).dtype == DType::kUInt32) {
      Fail(fmt::format("{} of numbers and integers", operation));
    }
    id = Tiled(id);
  }
  const tensor::OperationInfo* const info = OperationNamed(operation);
  if (info == nullptr) return;
  // The result has the type of the output, where numbers can be computed with it.
  Value made = result;
  if (result.spec.dtype == DType::kUInt32) {
    made = Temporary({.shape = result.spec.shape, .dtype = DType::kFloat32});
  }
  const bool has_type = std::any_of(info->attributes.begin(), info->attributes.end(),
                                    [](const auto& one) { return one.name == "dtype"; });
  if (has_type) attributes["dtype"] = std::string(tensor::DTypeName(made.spec.dtype));
  Move(operation, std::move(inputs), made, std::move(attributes));
  if (made.id != result.id) Copy(made.id, result);
}

void Planner::Move(std::string_view operation, std::vector<uint64_t> inputs, const Value& result,
                   tensor::Attributes attributes) {
  MoveAll(operation, std::move(inputs), {result}, std::move(attributes));
}

void Planner::MoveAll(std::string_view operation, std::vector<uint64_t> inputs,
                      std::vector<Value> results, tensor::Attributes attributes) {
  const tensor::OperationInfo* const info = OperationNamed(operation);
  if (info == nullptr) return;
  for (const auto& attribute : attributes) {
    const bool known =
        std::any_of(info->attributes.begin(), info->attributes.end(),
                    [&attribute](const auto& one) { return one.name == attribute.first; });
    if (!known) Fail(fmt::format("{} has no {}", operation, attribute.first));
  }
  for (const Value& result : results) Define(result);
  Add(CallStep{std::string(operation), std::move(inputs), std::move(attributes),
               std::move(results)});
}

void Planner::InPlace(std::string_view operation, std::vector<uint64_t> inputs,
                      tensor::Attributes attributes) {
  MoveAll(operation, std::move(inputs), {}, std::move(attributes));
}

void Planner::Copy(uint64_t input, const Value& result) {
  const TensorSpec& from = spec(input);
  const bool is_integer = from.dtype == DType::kUInt32;  // numbers become integers modulo 2^32
  if (from.shape.elements() != result.spec.shape.elements()) {
    Fail(fmt::format("{} becomes {}", from.ToString(), result.spec.ToString()));
  }
  if (is_integer && IsSigned(input) && result.spec.dtype != DType::kUInt32) {
    return PlanSignedToNumbers(*this, input, result);
  }
  Define(result);
  Add(CopyStep{input, result});
}

void Planner::DefineResults(std::string_view type) {
  for (const Field& field : fields_.record().definition().fields) {
    if (!RefersToTensors(field) || !IsResult(field, type)) continue;
    if (const Record ref = fields_.Child(field.name)) Define(ValueOf(ref));
    for (const Value& value : Outs(field.name)) Define(value);
  }
}

void Planner::Free(uint64_t id) {
  values_.erase(id);
  Add(FreeStep{id});
}

void Planner::RefuseUnread(const std::vector<std::string_view>& ignored) {
  // Fields that repeat the description of the result, or say where things lie and how they are divided.
  static constexpr std::array<std::string_view, 25> kHints = {"memory_config",
                                                              "memcfg",
                                                              "output_memory_config",
                                                              "compute_config",
                                                              "program_config",
                                                              "matmul_program_config",
                                                              "conv2d_config",
                                                              "conv2d_slice_config",
                                                              "device",
                                                              "dtype",
                                                              "output_dtype",
                                                              "layout",
                                                              "shape",
                                                              "mesh",
                                                              "offset",
                                                              "chip_ids",
                                                              "numeric_stable",
                                                              "use_multicore",
                                                              "reallocate_halo_output",
                                                              "in_place_halo",
                                                              "applied_shard_scheme",
                                                              "config_tensors_in_dram",
                                                              "cq_id",
                                                              "force",
                                                              "pad_value"};
  for (const std::string_view field : kHints) static_cast<void>(fields_.Has(field));
  for (const std::string_view field : ignored) static_cast<void>(fields_.Has(field));
  if (const std::string_view field = fields_.Unread(); !field.empty()) {
    Fail(fmt::format("its {} is not supported", field));
  }
}

std::vector<int64_t> Planner::Integers(std::string_view field) const {
  const List list = fields_.Items(field);
  std::vector<int64_t> numbers(list.size());
  for (uint32_t i = 0; i < list.size(); ++i) numbers[i] = list.Integer(i);
  return numbers;
}

double Planner::Number(const Record& record, std::string_view field) {
  static_cast<void>(fields_.Has(field));
  const Field* const known = record ? record.definition().FieldNamed(field) : nullptr;
  const bool is_union = known != nullptr && known->type.definition != nullptr;
  const Record child = record.Child(field);
  if (known == nullptr || (is_union && !child)) Fail(fmt::format("it has no {}", field));
  return child ? child.Real("value") : record.Real(field);
}

std::string Planner::Activation(const Record& function) {
  if (!function) return "";
  std::string name(function.Name("op_type"));
  for (char& letter : name) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  if (!function.Items("params").empty()) Fail("an activation has parameters");
  return name;
}

}  // namespace ttfd::ttmlir
