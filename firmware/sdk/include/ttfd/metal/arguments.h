// Arguments of kernels by TT-Metalium's names. What <ttfd/metal/argument.h> shows comes before this header.
#pragma once

#include <ttfd/arguments.h>
#include <ttfd/metal/argument.h>

namespace ttfd::metal {

template <uint32_t kIndex>
constexpr uint32_t CompileTimeArgumentAt() {
  static_assert(kIndex < sizeof(kCompileTimeArguments) / sizeof(kCompileTimeArguments[0]) - 1,
                "the kernel has no such compile-time argument");
  constexpr CompileTimeArgument kArgument = kCompileTimeArguments[kIndex];
  if constexpr (kArgument.is_in_word) {
    return kernel::CommonArgument(kArgument.value);
  } else {
    return kArgument.value;
  }
}

consteval bool HaveSameText(const char* a, const char* b) {
  for (; *a != 0 && *a == *b; ++a) ++b;
  return *a == *b;
}
consteval uint32_t ValueOfName(const char* name) {
  for (const NamedArgument& argument : kNamedArguments) {
    if (argument.name != nullptr && HaveSameText(argument.name, name)) return argument.value;
  }
  __builtin_unreachable();  // the kernel has no argument of this name: no constant expression
}

template <typename T>
T ArgumentAs(uint32_t word) {
  static_assert(sizeof(T) == sizeof(uint32_t), "arguments are words");
  return __builtin_bit_cast(T, word);
}

}  // namespace ttfd::metal

#define get_compile_time_arg_val(index) (::ttfd::metal::CompileTimeArgumentAt<(index)>())
#define get_named_compile_time_arg_val(name) (::ttfd::metal::ValueOfName(name))

// Arguments that are the same on every tile, and those of the kernel's tiles, which tt-mlir gives all the same: both
// are common words.
template <typename T>
T get_common_arg_val(int index) {
  return ttfd::metal::ArgumentAs<T>(
      ttfd::kernel::CommonArgument(ttfd::metal::kFirstCommonArgument + index));
}
template <typename T>
T get_arg_val(int index) {
  return ttfd::metal::ArgumentAs<T>(
      ttfd::kernel::CommonArgument(ttfd::metal::kFirstRuntimeArgument + index));
}
