// Commands that lie one after the other in the command ring.
#pragma once

#include <stdint.h>

namespace ttfd::firmware::prefetch {

struct Span {
  uint32_t begin;  // addresses, multiples of abi::kEntryAlignment
  uint32_t end;
};

}  // namespace ttfd::firmware::prefetch
