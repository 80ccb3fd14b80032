// Names for the addresses of a program: functions, data, lines, inlined calls. Read once from its ELF file, then
// compact and constant.
//
// Files come from clients: whatever they hold, reading them takes bounded time and room and never fails.
// One without debug information still names functions; a stripped one names nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/elf/dwarf_info.h"
#include "runtime/elf/elf_file.h"

namespace ttfd {

// Limits of one table; beyond them, lines, calls and names are left out.
struct SymbolLimits {
  size_t symbols = 4096;
  size_t lines = 16'384;
  size_t name_bytes = 256 * 1024;
  DwarfLimits dwarf;
};

struct SymbolFrame {
  std::string function;  // empty: unknown
  // Without folders, but headers of the kernel SDK: "wait.cc", "ttfd/semaphore.h". Empty: unknown.
  std::string file;
  uint32_t line = 0;  // 0: unknown
};

// Where an address lies.
struct SymbolPlace {
  enum class Kind : uint8_t {
    kNowhere,  // in or behind nothing that has a name
    kCode,     // in frames.back().function
    kBehind,   // behind the end of that function
    kData,     // in the variable of that name
  };
  Kind kind = Kind::kNowhere;
  uint32_t offset = 0;              // from the beginning of that function or variable
  std::vector<SymbolFrame> frames;  // innermost first: inlined calls, then the function they are in
};

// The innermost frame that is in the user's source, not in the SDK. Null: none is known.
const SymbolFrame* UserFrame(const SymbolPlace& place);

class SymbolTable {
 public:
  static std::shared_ptr<const SymbolTable> Read(const ElfFile& elf,
                                                 const SymbolLimits& limits = SymbolLimits());

  SymbolPlace Find(uint32_t address) const;
  bool empty() const { return symbols_.empty(); }
  bool has_lines() const { return !lines_.empty(); }
  uint64_t bytes() const;  // it takes, about

 private:
  struct Symbol {
    uint32_t begin = 0;
    uint32_t end = 0;  // equal to begin: nobody said
    uint32_t name = 0;
    bool code = false;
  };

  void ReadSymbols(const ElfFile& elf, const SymbolLimits& limits, NamePool* names);
  void TakeLines(std::vector<LineSequence> sequences, const SymbolLimits& limits);
  void TakeInlined(std::vector<InlinedCode> inlined);
  // Is there code at [begin, end)? What the linker dropped is described as if it lay at address 0.
  bool IsLinked(uint32_t begin, uint32_t end) const;
  const Symbol* SymbolAt(uint32_t address) const;
  const LineRow* LineAt(uint32_t address) const;

  std::vector<Symbol> symbols_;       // by begin
  std::vector<LineRow> lines_;        // by address
  std::vector<InlinedCode> inlined_;  // by depth
  std::vector<std::string> names_;    // by number
};

}  // namespace ttfd
