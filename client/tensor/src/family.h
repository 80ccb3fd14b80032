// Families of kernels: what a launch of an operation runs on each core.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ttfd/types.h"

namespace ttfd::tensor {

enum class Family : uint8_t {
  kEltwise,
  kMatmul,
  kReduce,
  kRows,
  kMove,
  kAttention,
  kArgmax,
  kIntegers,
  kStamp
};

struct FamilyInfo {
  struct Kernel {
    std::string_view file;  // of ops::OperationElf
    client::Processor processor;
    uint32_t words;  // index of its common words
  };
  std::string_view name;
  std::span<const std::string_view>
      words;  // names of the sets of common words, in the order of Lowering::kernels
  std::span<const Kernel> kernels;
};

const FamilyInfo& InfoOf(Family family);

}  // namespace ttfd::tensor
