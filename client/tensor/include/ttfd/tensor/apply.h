// The table of operations: all that can be done with tensors, by name. C++ and Python functions, `ttfdctl op` and
// compiled programs call the same entries.
//
// The contract of all of them:
// - Inputs are not changed, and the output is a new tensor, on the card of the inputs; but those that write into
//   their input `cache` (fill_cache, update_cache and their paged forms) or `target` (copy_into), which is their
//   output, too.
// - An input with an error makes the outputs the same error. A wrong call is INVALID_ARGUMENT: the message names the
//   operation, the argument, and both values; nothing is enqueued.
// - Padding of the output is 0, whatever the operation.
// - Equal calls have equal results, bit by bit, whatever the cores, and whether they are recorded or not.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ttfd/tensor/tensor.h"

namespace ttfd::tensor {

using Attribute = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;
// "bool", "integer", "number", "string" or "list of integers".
const char* TypeName(const Attribute& attribute);
using Attributes = std::map<std::string, Attribute, std::less<>>;

struct OperationInfo {
  struct Argument {
    std::string_view name;
    bool optional = false;
    bool repeated = false;  // the last one: any number of tensors, at least one
  };
  struct AttributeInfo {
    std::string_view name;
    Attribute standard;  // its value where a call has none; also its type
    std::string_view doc;
  };
  std::string_view name;
  std::vector<Argument> inputs;  // optional ones last
  std::vector<AttributeInfo> attributes;
  std::string_view doc;  // a sentence
};

// All operations, by name.
std::span<const OperationInfo> Operations();

// Runs an operation. An optional input that is left out is a missing last one.
std::vector<Tensor> Apply(std::string_view name, std::span<const Tensor> inputs,
                          const Attributes& attributes = {});

}  // namespace ttfd::tensor
