// Names for the addresses of a program.
#include "runtime/elf/symbol_table.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "runtime/elf/byte_reader.h"
#include "runtime/elf/demangle.h"

namespace ttfd {
namespace {

DwarfSections FindDwarf(const ElfFile& elf) {
  DwarfSections sections;
  for (const ElfSection& section : elf.sections()) {
    if ((section.flags & SHF_COMPRESSED) != 0 || section.no_bits()) continue;
    const std::pair<std::string_view, ByteSpan*> wanted[] = {
        {".debug_info", &sections.info},         {".debug_abbrev", &sections.abbrev},
        {".debug_line", &sections.line},         {".debug_str", &sections.str},
        {".debug_line_str", &sections.line_str}, {".debug_rnglists", &sections.rnglists},
        {".debug_ranges", &sections.ranges}};
    for (const auto& [name, place] : wanted) {
      if (section.name == name && place->empty()) *place = section.bytes;
    }
  }
  return sections;
}

// Labels of the compiler and of the mapping of code and data are no names.
bool IsLabel(std::string_view name) {
  return name.empty() || name.starts_with(".L") || name.starts_with("$");
}

}  // namespace

const SymbolFrame* UserFrame(const SymbolPlace& place) {
  const auto found =
      std::find_if(place.frames.begin(), place.frames.end(), [](const SymbolFrame& frame) {
        return !frame.file.empty() && frame.file.find('/') == frame.file.npos;
      });
  return found == place.frames.end() ? nullptr : &*found;
}

std::shared_ptr<const SymbolTable> SymbolTable::Read(const ElfFile& elf,
                                                     const SymbolLimits& limits) {
  auto table = std::make_shared<SymbolTable>();
  NamePool names(limits.name_bytes);
  table->ReadSymbols(elf, limits, &names);
  DwarfInfo dwarf = ReadDwarf(FindDwarf(elf), limits.dwarf, &names);
  table->TakeLines(std::move(dwarf.sequences), limits);
  table->TakeInlined(std::move(dwarf.inlined));
  table->names_ = names.Take();
  return table;
}

void SymbolTable::ReadSymbols(const ElfFile& elf, const SymbolLimits& limits, NamePool* names) {
  const std::vector<ElfSection>& sections = elf.sections();
  const auto table = std::find_if(sections.begin(), sections.end(), [](const ElfSection& section) {
    return section.type == SHT_SYMTAB;
  });
  if (table == sections.end() || table->link >= sections.size()) return;
  const ByteSpan strings = sections[table->link].bytes;
  const size_t count = table->bytes.size() / sizeof(Elf32_Sym);
  for (size_t i = 0; i < count && symbols_.size() < limits.symbols; ++i) {
    const auto entry = LoadAt<Elf32_Sym>(table->bytes.data() + i * sizeof(Elf32_Sym));
    if (entry.st_shndx >= sections.size() || !sections[entry.st_shndx].allocated()) continue;
    const unsigned type = ELF32_ST_TYPE(entry.st_info);
    if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) continue;
    const std::string_view name = StringIn(strings, entry.st_name, kMaxSymbolNameBytes);
    if (IsLabel(name)) continue;
    Symbol symbol;
    symbol.begin = entry.st_value;
    symbol.end = entry.st_value + std::min<uint32_t>(entry.st_size, ~uint32_t{0} - entry.st_value);
    symbol.code = type == STT_FUNC ||
                  (type == STT_NOTYPE && (sections[entry.st_shndx].flags & SHF_EXECINSTR) != 0);
    // Marks of the linker script at the end of a section are no place inside it.
    if (type == STT_NOTYPE && !symbol.code) continue;
    symbol.name = names->Add(Demangle(name));
    if (symbol.name != 0) symbols_.push_back(symbol);
  }
  // The last of several symbols at one address is found: the one with a size.
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
}

bool SymbolTable::IsLinked(uint32_t begin, uint32_t end) const {
  if (begin != 0) return true;
  return std::any_of(symbols_.begin(), symbols_.end(),
                     [end](const Symbol& symbol) { return symbol.code && symbol.end == end; });
}

void SymbolTable::TakeLines(std::vector<LineSequence> sequences, const SymbolLimits& limits) {
  std::sort(sequences.begin(), sequences.end(), [](const LineSequence& a, const LineSequence& b) {
    return std::pair(a.front().address, ~a.back().address) <
           std::pair(b.front().address, ~b.back().address);
  });
  uint32_t end = 0;
  for (const LineSequence& sequence : sequences) {
    const uint32_t begin = sequence.front().address;
    if (begin < end || !IsLinked(begin, sequence.back().address)) continue;
    if (lines_.size() + sequence.size() > limits.lines) continue;
    lines_.insert(lines_.end(), sequence.begin(), sequence.end());
    end = sequence.back().address;
  }
}

void SymbolTable::TakeInlined(std::vector<InlinedCode> inlined) {
  for (const InlinedCode& code : inlined) {
    const Symbol* const symbol = SymbolAt(code.begin);
    // Inside the function it was inlined into.
    if (symbol == nullptr || !symbol->code) continue;
    if (symbol->begin != symbol->end && code.end > symbol->end) continue;
    inlined_.push_back(code);
  }
  std::stable_sort(inlined_.begin(), inlined_.end(),
                   [](const auto& a, const auto& b) { return a.depth < b.depth; });
}

const SymbolTable::Symbol* SymbolTable::SymbolAt(uint32_t address) const {
  const auto behind =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](uint32_t at, const Symbol& symbol) { return at < symbol.begin; });
  return behind == symbols_.begin() ? nullptr : &*(behind - 1);
}

const LineRow* SymbolTable::LineAt(uint32_t address) const {
  const auto behind =
      std::upper_bound(lines_.begin(), lines_.end(), address,
                       [](uint32_t at, const LineRow& row) { return at < row.address; });
  if (behind == lines_.begin() || (behind - 1)->line == 0) return nullptr;
  return &*(behind - 1);
}

SymbolPlace SymbolTable::Find(uint32_t address) const {
  SymbolPlace place;
  const Symbol* const symbol = SymbolAt(address);
  if (symbol == nullptr) return place;
  place.offset = address - symbol->begin;
  const bool inside = symbol->begin == symbol->end || address < symbol->end;
  if (!symbol->code) {
    if (!inside) return place;
    place.kind = SymbolPlace::Kind::kData;
    place.frames.push_back({names_[symbol->name], "", 0});
    return place;
  }
  place.kind = inside ? SymbolPlace::Kind::kCode : SymbolPlace::Kind::kBehind;
  // From the function inwards: each frame's line is where the next one was called.
  SymbolFrame frame{names_[symbol->name], "", 0};
  if (inside) {
    for (const InlinedCode& code : inlined_) {
      if (address < code.begin || address >= code.end) continue;
      frame.file = names_[code.call_file];
      frame.line = code.call_line;
      place.frames.push_back(std::exchange(frame, {names_[code.name], "", 0}));
    }
    if (const LineRow* const row = LineAt(address); row != nullptr) {
      frame.file = names_[row->file];
      frame.line = row->line;
    }
  }
  place.frames.push_back(std::move(frame));
  std::reverse(place.frames.begin(), place.frames.end());
  return place;
}

uint64_t SymbolTable::bytes() const {
  uint64_t bytes = sizeof(*this) + symbols_.size() * sizeof(Symbol) +
                   lines_.size() * sizeof(LineRow) + inlined_.size() * sizeof(InlinedCode);
  for (const std::string& name : names_) bytes += sizeof(name) + name.size();
  return bytes;
}

}  // namespace ttfd
