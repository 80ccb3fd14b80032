// An ELF32 file in memory, read through libelf, every access checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

struct Elf;

namespace ttfd {

struct ElfSection {
  std::string name;
  uint32_t type = 0;
  uint32_t flags = 0;
  uint32_t address = 0;
  uint32_t size = 0;
  uint32_t alignment = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  ByteSpan bytes;  // empty for NOBITS

  bool allocated() const;
  bool writable() const;
  bool no_bits() const;
};

struct ElfSymbol {
  std::string name;  // "symbol 12" if it has none
  uint32_t value = 0;
  uint16_t section = 0;  // SHN_UNDEF, SHN_ABS, or an index
};

struct ElfRelocation {
  uint32_t type = 0;
  uint32_t symbol = 0;
  uint32_t offset = 0;
};

class ElfFile {
 public:
  // A static RV32 little-endian executable. `file` must outlive the result. INVALID_ARGUMENT
  // otherwise.
  static StatusOr<ElfFile> Parse(ByteSpan file, uint32_t max_sections);
  ElfFile(ElfFile&&) noexcept;
  ElfFile& operator=(ElfFile&&) noexcept;
  ~ElfFile();

  uint32_t entry() const { return entry_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  // Entries of a SHT_RELA section.
  StatusOr<std::vector<ElfRelocation>> Relocations(const ElfSection& section) const;
  // Entry `index` of the symbol table `table`, a section index.
  StatusOr<ElfSymbol> Symbol(uint32_t table, uint32_t index) const;

 private:
  ElfFile();
  Status ReadHeader();
  Status ReadSections(uint32_t max_sections);
  StatusOr<std::string_view> StringAt(uint32_t table, uint32_t offset) const;

  struct Closer {
    void operator()(Elf* elf) const;
  };
  std::vector<std::byte> copy_;  // aligned, which the caller's bytes may not be
  std::unique_ptr<Elf, Closer> elf_;
  uint32_t entry_ = 0;
  std::vector<ElfSection> sections_;
};

}  // namespace ttfd
