// ttfdctl op: arrays from files become tensors, an operation runs, its outputs become files.
#include "client/cli/op_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/npy.h"
#include "client/cli/printing.h"
#include "client/cli/progress_bar.h"
#include "client/cli/table.h"
#include "client/cli/tensor_files.h"
#include "ttfd/tensor/apply.h"
#include "ttfd/tensor/card.h"

namespace ttfd::cli {
namespace {

using client::Result;
using client::Status;
using tensor::Attribute;

std::string Signature(const tensor::OperationInfo& operation) {
  std::string text = std::string(operation.name);
  for (const tensor::OperationInfo::Argument& input : operation.inputs) {
    text += input.optional ? fmt::format(" [{}]", input.name) : fmt::format(" {}", input.name);
  }
  return text;
}

std::string TextOf(const Attribute& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return fmt::format("{}", fmt::join(std::get<std::vector<int64_t>>(value), ","));
}

template <typename Number>
std::optional<Number> NumberOf(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::vector<int64_t>> ListOf(std::string_view text) {
  std::vector<int64_t> list;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const auto number = NumberOf<int64_t>(text.substr(0, comma));
    if (!number) return std::nullopt;
    list.push_back(*number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

// The text as an attribute of the type of `standard`.
std::optional<Attribute> AttributeOf(const std::string& text, const Attribute& standard) {
  if (std::holds_alternative<std::string>(standard)) return text;
  if (std::holds_alternative<bool>(standard)) {
    if (text == "true" || text == "false") return text == "true";
    return std::nullopt;
  }
  if (std::holds_alternative<int64_t>(standard)) return NumberOf<int64_t>(text);
  if (std::holds_alternative<double>(standard)) return NumberOf<double>(text);
  return ListOf(text);
}

Result<tensor::Attributes> AttributesOf(const tensor::OperationInfo& operation,
                                        const std::vector<std::string>& words) {
  tensor::Attributes attributes;
  for (const std::string& word : words) {
    const size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equals);
    const auto known =
        std::find_if(operation.attributes.begin(), operation.attributes.end(),
                     [&name](const auto& attribute) { return attribute.name == name; });
    if (known == operation.attributes.end() || equals == word.size()) {
      return UsageError(fmt::format("--set takes NAME=VALUE with an attribute of {}, not {}",
                                    operation.name, word));
    }
    std::optional<Attribute> value = AttributeOf(word.substr(equals + 1), known->standard);
    if (!value) {
      return UsageError(
          fmt::format("--set {}: the value must be like {}", word, TextOf(known->standard)));
    }
    attributes.insert_or_assign(name, *std::move(value));
  }
  return attributes;
}

Result<tensor::DType> DTypeNamed(const std::string& name) {
  for (const tensor::DType dtype : tensor::kDTypes) {
    if (name == tensor::DTypeName(dtype) && dtype != tensor::DType::kUInt32) return dtype;
  }
  return UsageError("--dtype is bfloat16, float32 or bfp8 (an array of uint32 stays that), not " +
                    name);
}

Result<Ran> RunOn(tensor::Card& card, const tensor::OperationInfo& operation,
                  const OpArguments& arguments, const tensor::Attributes& attributes) {
  const Result<tensor::DType> dtype = DTypeNamed(arguments.dtype);
  if (!dtype.ok()) return dtype.status();
  std::vector<tensor::Tensor> inputs;
  for (const std::string& path : arguments.inputs) {
    Result<NpyArray> array = ReadNpy(path);
    if (!array.ok()) return array.status();
    tensor::Shape shape(array->shape);
    inputs.push_back(array->integers.empty()
                         ? card.FromHost(array->numbers, std::move(shape), *dtype)
                         : card.FromHost(array->integers, std::move(shape)));
    if (!inputs.back().ok()) return inputs.back().status();
  }
  return Timed(card, [&] { return tensor::Apply(operation.name, inputs, attributes); });
}

int ListOperations(const Common& common) {
  const auto operations = tensor::Operations();
  if (common.json) {
    PrintJson(JsonList(operations, [](const tensor::OperationInfo& one) -> Json {
      return {{"name", one.name},
              {"inputs", JsonList(one.inputs,
                                  [](const tensor::OperationInfo::Argument& input) -> Json {
                                    return {{"name", input.name},
                                            {"optional", input.optional},
                                            {"repeated", input.repeated}};
                                  })},
              {"attributes",
               JsonList(one.attributes,
                        [](const tensor::OperationInfo::AttributeInfo& attribute) -> Json {
                          return {{"name", attribute.name},
                                  {"type", tensor::TypeName(attribute.standard)},
                                  {"standard", TextOf(attribute.standard)},
                                  {"description", attribute.doc}};
                        })},
              {"description", one.doc}};
    }));
    return kOk;
  }
  std::vector<std::vector<std::string>> rows = {{"OPERATION", "ATTRIBUTES", "DESCRIPTION"}};
  for (const tensor::OperationInfo& one : operations) {
    std::string attributes;
    for (const auto& attribute : one.attributes) {
      attributes += fmt::format("{}{}={}", attributes.empty() ? "" : " ", attribute.name,
                                TextOf(attribute.standard));
    }
    rows.push_back({Signature(one), attributes, std::string(one.doc)});
  }
  PrintTable(rows);
  return kOk;
}

int RunOperation(const Common& common, const OpArguments& arguments) {
  if (arguments.name.empty()) return Fail(UsageError("op takes an operation, or --list"));
  const auto operations = tensor::Operations();
  const auto operation = std::find_if(operations.begin(), operations.end(),
                                      [&](const auto& one) { return one.name == arguments.name; });
  if (operation == operations.end()) {
    return Fail(UsageError("there is no operation " + arguments.name + "; see ttfdctl op --list"));
  }
  const Result<tensor::Attributes> attributes = AttributesOf(*operation, arguments.attributes);
  if (!attributes.ok()) return Fail(attributes.status());
  Result<tensor::Card> card =
      tensor::Card::Open({.connect = {.address = common.address,
                                      .client_name = "ttfdctl op",
                                      .connect_timeout = common.timeout()}});
  if (!card.ok()) return Fail(card.status());
  const Result<Ran> ran = RunOn(*card, *operation, arguments, *attributes);
  if (!ran.ok()) return Fail(ran.status());
  if (Status status = Save(*ran, arguments.outputs); !status.ok()) return Fail(status);
  Report(common, "operation", arguments.name, arguments.outputs, *ran);
  return kOk;
}

}  // namespace

int Operate(const Common& common, const OpArguments& arguments) {
  return arguments.list ? ListOperations(common) : RunOperation(common, arguments);
}

}  // namespace ttfd::cli
