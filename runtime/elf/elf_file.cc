// An ELF32 file in memory, read through libelf, every access checked.
#include "runtime/elf/elf_file.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace ttfd {
namespace {

// libelf wants to be told once which version of the format its user was written for.
void InitialiseLibelf() {
  static std::once_flag once;
  std::call_once(once, [] { elf_version(EV_CURRENT); });
}

// e_flags of RISC-V.
constexpr uint32_t kFlagCompressed = 0x1;
constexpr uint32_t kFlagFloatAbi = 0x6;
constexpr uint32_t kFlagReduced = 0x8;  // RVE

}  // namespace

bool ElfSection::allocated() const { return (flags & SHF_ALLOC) != 0; }
bool ElfSection::writable() const { return (flags & SHF_WRITE) != 0; }
bool ElfSection::no_bits() const { return type == SHT_NOBITS; }

void ElfFile::Closer::operator()(Elf* elf) const { elf_end(elf); }
ElfFile::ElfFile() = default;
ElfFile::ElfFile(ElfFile&&) noexcept = default;
ElfFile& ElfFile::operator=(ElfFile&&) noexcept = default;
ElfFile::~ElfFile() = default;

StatusOr<ElfFile> ElfFile::Parse(ByteSpan file, uint32_t max_sections) {
  InitialiseLibelf();
  ElfFile result;
  if (file.size() < sizeof(Elf32_Ehdr)) return InvalidArgument("too short to be an ELF file");
  result.copy_.assign(file.begin(), file.end());
  result.elf_.reset(elf_memory(reinterpret_cast<char*>(result.copy_.data()), result.copy_.size()));
  if (result.elf_ == nullptr || elf_kind(result.elf_.get()) != ELF_K_ELF) {
    return InvalidArgument("not an ELF file");
  }
  RETURN_IF_ERROR(result.ReadHeader());
  RETURN_IF_ERROR(result.ReadSections(max_sections));
  return result;
}

Status ElfFile::ReadHeader() {
  GElf_Ehdr header;
  if (gelf_getclass(elf_.get()) != ELFCLASS32 || gelf_getehdr(elf_.get(), &header) == nullptr ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_RISCV) {
    return InvalidArgument("not a 32-bit little-endian RISC-V ELF file");
  }
  if (header.e_type != ET_EXEC) {
    return InvalidArgument("not an executable (ELF type {}); link it with -static and no -pie",
                           header.e_type);
  }
  if ((header.e_flags & (kFlagCompressed | kFlagFloatAbi | kFlagReduced)) != 0) {
    return InvalidArgument(
        "ELF flags {:#x}: compressed instructions, a floating point ABI or RV32E; the harts run "
        "rv32im with ilp32",
        header.e_flags);
  }
  entry_ = static_cast<uint32_t>(header.e_entry);
  return OkStatus();
}

Status ElfFile::ReadSections(uint32_t max_sections) {
  size_t count = 0;
  size_t names = 0;
  if (elf_getshdrnum(elf_.get(), &count) != 0 || count == 0) {
    return InvalidArgument("no section headers; do not strip a kernel");
  }
  if (count > max_sections) {
    return InvalidArgument("{} sections; at most {} are allowed", count, max_sections);
  }
  if (elf_getshdrstrndx(elf_.get(), &names) != 0) return InvalidArgument("no section names");
  for (size_t index = 0; index < count; ++index) {
    GElf_Shdr header;
    Elf_Scn* scn = elf_getscn(elf_.get(), index);
    if (scn == nullptr || gelf_getshdr(scn, &header) == nullptr) {
      return InvalidArgument("section header {} is malformed", index);
    }
    ElfSection section;
    section.type = header.sh_type;
    section.flags = static_cast<uint32_t>(header.sh_flags);
    section.address = static_cast<uint32_t>(header.sh_addr);
    section.size = static_cast<uint32_t>(header.sh_size);
    section.alignment = static_cast<uint32_t>(header.sh_addralign);
    section.link = header.sh_link;
    section.info = header.sh_info;
    if (section.type != SHT_NOBITS && section.type != SHT_NULL && section.size > 0) {
      if (header.sh_offset > copy_.size() || header.sh_size > copy_.size() - header.sh_offset) {
        return InvalidArgument("section {} lies outside the file", index);
      }
      section.bytes = ByteSpan(copy_).subspan(header.sh_offset, header.sh_size);
    }
    if (section.address + uint64_t{section.size} > uint64_t{1} << 32) {
      return InvalidArgument("section {} leaves the address space", index);
    }
    sections_.push_back(std::move(section));
  }
  for (size_t index = 0; index < count; ++index) {
    GElf_Shdr header;
    gelf_getshdr(elf_getscn(elf_.get(), index), &header);
    ASSIGN_OR_RETURN(const std::string_view name,
                     StringAt(static_cast<uint32_t>(names), header.sh_name));
    sections_[index].name = name;
  }
  return OkStatus();
}

StatusOr<std::string_view> ElfFile::StringAt(uint32_t table, uint32_t offset) const {
  if (table >= sections_.size() || sections_[table].type != SHT_STRTAB ||
      offset >= sections_[table].bytes.size()) {
    return InvalidArgument("a name lies outside its string table");
  }
  const ByteSpan rest = sections_[table].bytes.subspan(offset);
  const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
  if (end == rest.end()) return InvalidArgument("a name is not terminated");
  return std::string_view(reinterpret_cast<const char*>(rest.data()),
                          static_cast<size_t>(end - rest.begin()));
}

StatusOr<std::vector<ElfRelocation>> ElfFile::Relocations(const ElfSection& section) const {
  if (section.type != SHT_RELA || section.bytes.size() % sizeof(Elf32_Rela) != 0) {
    return InvalidArgument("section {} holds no well-formed relocations", section.name);
  }
  std::vector<ElfRelocation> relocations;
  relocations.reserve(section.bytes.size() / sizeof(Elf32_Rela));
  for (size_t at = 0; at < section.bytes.size(); at += sizeof(Elf32_Rela)) {
    const auto entry = LoadAt<Elf32_Rela>(section.bytes.data() + at);
    relocations.push_back({ELF32_R_TYPE(entry.r_info), ELF32_R_SYM(entry.r_info), entry.r_offset});
  }
  return relocations;
}

StatusOr<ElfSymbol> ElfFile::Symbol(uint32_t table, uint32_t index) const {
  if (table >= sections_.size() || sections_[table].type != SHT_SYMTAB ||
      uint64_t{index} * sizeof(Elf32_Sym) + sizeof(Elf32_Sym) > sections_[table].bytes.size()) {
    return InvalidArgument("a relocation names symbol {}, which is not in its symbol table", index);
  }
  const auto entry =
      LoadAt<Elf32_Sym>(sections_[table].bytes.data() + size_t{index} * sizeof(Elf32_Sym));
  ElfSymbol symbol;
  symbol.value = entry.st_value;
  symbol.section = entry.st_shndx;
  ASSIGN_OR_RETURN(const std::string_view name, StringAt(sections_[table].link, entry.st_name));
  symbol.name = name;
  if (ELF32_ST_TYPE(entry.st_info) == STT_SECTION && entry.st_shndx < sections_.size()) {
    symbol.name = sections_[entry.st_shndx].name;
  }
  if (symbol.name.empty()) symbol.name = fmt::format("symbol {}", index);
  return symbol;
}

}  // namespace ttfd
