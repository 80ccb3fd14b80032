// Code as .debug_info describes it: functions, and the calls that were inlined into them. DWARF 4 and 5.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/elf/dwarf_lines.h"

namespace ttfd {

// Code that came from a function that was inlined.
struct InlinedCode {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t depth = 0;  // 0: inlined into the function itself
  uint32_t name = 0;   // numbers in the pool
  uint32_t call_file = 0;
  uint32_t call_line = 0;
};

struct DwarfInfo {
  std::vector<InlinedCode> inlined;
  std::vector<LineSequence> sequences;  // of all compilation units
};

struct DwarfLimits {
  uint64_t entries = 200'000;       // of .debug_info, in all
  uint64_t operations = 1'000'000;  // of line programs, abbreviations and range lists
  size_t inlined = 16'384;          // kept
};

// Reads what it understands and leaves out the rest.
DwarfInfo ReadDwarf(const DwarfSections& sections, const DwarfLimits& limits, NamePool* names);

}  // namespace ttfd
