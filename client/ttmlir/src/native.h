// Native code of the CPU that a compiled program brings, run in a process of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "client/ttmlir/src/record.h"
#include "ttfd/status.h"

namespace ttfd::ttmlir {

struct NativeLimits {
  std::chrono::milliseconds time = std::chrono::milliseconds(10'000);
  uint64_t memory_bytes = uint64_t{1} << 30;
};

// Elements of 4 bytes, the last extent runs fastest.
struct NativeArray {
  std::vector<int64_t> shape;
  std::vector<uint32_t> words;
};

struct NativeFunction {
  Bytes code;  // a shared library
  std::string name;
  bool returns_outputs = true;  // else it writes its output over the last input
};

// Why the function does not run where native code is not allowed.
std::string ProblemOfNative(const NativeFunction& function);

// Calls the function in the process ttfd-native, and fills the elements of `outputs`, which have their shapes. Errors
// say what was wrong with the code: DEADLINE_EXCEEDED: it took too long; RESOURCE_EXHAUSTED: too many tensors;
// ABORTED: it failed.
client::Status CallNative(const NativeFunction& function, const std::vector<NativeArray>& inputs,
                          std::vector<NativeArray>* outputs, const NativeLimits& limits);

}  // namespace ttfd::ttmlir
