// The line programs of .debug_line, DWARF 4 and 5: which line of which file an instruction comes from.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/elf/name_pool.h"

namespace ttfd {

// The sections names come from; empty where the file has none.
struct DwarfSections {
  ByteSpan info;
  ByteSpan abbrev;
  ByteSpan line;
  ByteSpan str;
  ByteSpan line_str;
  ByteSpan rnglists;
  ByteSpan ranges;
};

inline constexpr size_t kMaxSymbolNameBytes = 512;

struct LineRow {
  uint32_t address = 0;
  uint32_t file = 0;  // number in the pool
  uint32_t line = 0;  // 0: nothing is known from here on
};

// Rows of code that lies together, by address; the last one ends it.
using LineSequence = std::vector<LineRow>;

struct LineProgram {
  std::vector<uint32_t> files;  // as the compilation unit counts them: number in the pool
  std::vector<LineSequence> sequences;
};

// The program at `offset` of .debug_line. What is malformed is left out. `budget` is what may still be
// executed of all programs, in operations.
LineProgram ReadLineProgram(const DwarfSections& sections, uint64_t offset, NamePool* names,
                            uint64_t* budget);

// Forms of attributes, as far as names and numbers are made of them: DWARF 5, section 7.5.6.
namespace dwarf {
inline constexpr uint64_t kFormAddr = 0x01, kFormBlock2 = 0x03, kFormBlock4 = 0x04,
                          kFormData2 = 0x05, kFormData4 = 0x06, kFormData8 = 0x07,
                          kFormString = 0x08, kFormBlock = 0x09, kFormBlock1 = 0x0a,
                          kFormData1 = 0x0b, kFormFlag = 0x0c, kFormSdata = 0x0d, kFormStrp = 0x0e,
                          kFormUdata = 0x0f, kFormRefAddr = 0x10, kFormRef1 = 0x11,
                          kFormRef2 = 0x12, kFormRef4 = 0x13, kFormRef8 = 0x14,
                          kFormRefUdata = 0x15, kFormSecOffset = 0x17, kFormExprloc = 0x18,
                          kFormFlagPresent = 0x19, kFormStrx = 0x1a, kFormData16 = 0x1e,
                          kFormLineStrp = 0x1f, kFormRefSig8 = 0x20, kFormImplicitConst = 0x21,
                          kFormLoclistx = 0x22, kFormRnglistx = 0x23, kFormStrx1 = 0x25,
                          kFormStrx2 = 0x26, kFormStrx4 = 0x28, kFormAddrx = 0x1b,
                          kFormAddrx1 = 0x29, kFormAddrx2 = 0x2a, kFormAddrx4 = 0x2c;
}  // namespace dwarf

}  // namespace ttfd
