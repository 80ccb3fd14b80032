// The file in memory that the library and the process that runs native code share: descriptor 3 of that process.
//
// It begins with a NativeRequest and its tensors, inputs before outputs; the code and the elements lie where these say.
#pragma once

#include <cstdint>

namespace ttfd::ttmlir {

inline constexpr int kNativeFile = 3;
inline constexpr uint32_t kMaxNativeTensors = 256;
inline constexpr uint32_t kMaxNativeRank = 8;
inline constexpr uint32_t kMaxFunctionName = 255;

struct NativeTensor {
  uint32_t rank = 0;
  uint32_t unused = 0;
  int64_t sizes[kMaxNativeRank] = {};
  uint64_t offset = 0;  // of its elements of 4 bytes, row after row
};

struct NativeRequest {
  uint64_t total_bytes = 0;  // of the file
  uint64_t code_offset = 0;  // a shared library
  uint64_t code_bytes = 0;
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  // As the compiler calls its functions: since 2026 a function returns its outputs; of 2025 it has one, which it writes
  // over its last input.
  uint32_t returns_outputs = 0;
  uint32_t unused = 0;
  uint64_t memory_bytes = 0;  // that the process may map, without this file and the code
  uint64_t seconds = 0;       // of CPU time
  char function[kMaxFunctionName + 1] = {};
};

// How the process ends.
enum NativeExit : int {
  kNativeDone = 0,
  kNativeBadRequest = 10,
  kNativeNotLoaded = 11,
  kNativeNoFunction = 12,
  kNativeBadOutput = 13,  // of another shape than it should have
};

}  // namespace ttfd::ttmlir
