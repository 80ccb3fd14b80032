// Definitions that the compiler of a TTMetal kernel writes for its arguments, before <ttfd/metal.h>: in namespace
// ttfd::metal
//
//   inline constexpr CompileTimeArgument kCompileTimeArguments[] = {{16, false}, {0, true}, {}};
//   inline constexpr NamedArgument kNamedArguments[] = {{"depth", 4}, {}};
//   inline constexpr uint32_t kFirstCommonArgument = 1;   // among the common words
//   inline constexpr uint32_t kFirstRuntimeArgument = 2;
//
// each array with one element more, of zeros, at its end.
#pragma once

#include <stdint.h>

namespace ttfd::metal {

// One that is an address is not known when the kernel is compiled: it is in a common word.
struct CompileTimeArgument {
  uint32_t value;   // the argument, or the index of the common word
  bool is_in_word;  // at run time
};

struct NamedArgument {
  const char* name;
  uint32_t value;
};

}  // namespace ttfd::metal
