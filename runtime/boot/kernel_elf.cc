// Turns a kernel's ELF file into the image that lies in a worker's kernel cache.
#include "runtime/boot/kernel_elf.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/abi/kernel_image.h"
#include "runtime/base/bits.h"
#include "runtime/base/utf8.h"
#include "runtime/boot/kernel_needs_reader.h"
#include "runtime/boot/relocation_check.h"
#include "runtime/elf/elf_file.h"
#include "runtime/elf/symbol_table.h"

namespace ttfd {
namespace {

// The block starts behind the header, at a 16 byte boundary of L1.
constexpr uint32_t kBlockAlignment = 16;

Status CheckSection(const ElfSection& section) {
  constexpr std::array<std::string_view, 6> kConstructors = {
      ".init_array", ".fini_array", ".preinit_array", ".ctors", ".dtors", ".init_array."};
  if (!section.allocated() || section.size == 0) return OkStatus();
  const bool constructors =
      section.type == SHT_INIT_ARRAY || section.type == SHT_FINI_ARRAY ||
      section.type == SHT_PREINIT_ARRAY ||
      std::any_of(kConstructors.begin(), kConstructors.end(), [&](std::string_view prefix) {
        return section.name == prefix || section.name.starts_with(std::string(prefix) + ".");
      });
  if (constructors) {
    return InvalidArgument("section {}: constructors; initialise in kernel_main", section.name);
  }
  if ((section.flags & SHF_TLS) != 0) {
    return InvalidArgument("section {}: thread-local data; a kernel has one thread", section.name);
  }
  if (section.name == ".got" || section.name.starts_with(".got.")) {
    return InvalidArgument("section {}: a global offset table; do not compile with -fpie or -fpic",
                           section.name);
  }
  if (section.type == SHT_DYNAMIC || section.type == SHT_DYNSYM || section.name == ".interp") {
    return InvalidArgument("section {}: dynamic linking; link with -static", section.name);
  }
  if (section.alignment > kBlockAlignment) {
    return InvalidArgument("section {} wants alignment {}; a kernel is placed at multiples of {}",
                           section.name, section.alignment, kBlockAlignment);
  }
  return OkStatus();
}

// Address ranges of the block's parts.
struct Layout {
  uint32_t begin = 0;
  uint32_t data_begin = 0;  // initialised and writable
  uint32_t data_end = 0;
  uint32_t bss_begin = 0;
  uint32_t end = 0;
};

// Properties of a kernel that absolute symbols give.
struct Marks {
  bool prints = false;  // ttfd_prints, which code that prints defines (<ttfd/print.h>)
  std::optional<uint32_t>
      hart;  // __ttfd_hart, from the linker's command line (cmake/TtfdKernel.cmake)
};

Marks ReadMarks(const ElfFile& elf) {
  Marks marks;
  const auto& sections = elf.sections();
  for (uint32_t table = 0; table < sections.size(); ++table) {
    if (sections[table].type != SHT_SYMTAB) continue;
    const auto count = static_cast<uint32_t>(sections[table].bytes.size() / sizeof(Elf32_Sym));
    for (uint32_t index = 0; index < count; ++index) {
      const StatusOr<ElfSymbol> symbol = elf.Symbol(table, index);
      if (!symbol.ok() || symbol->section != SHN_ABS) continue;
      if (symbol->name == "ttfd_prints") marks.prints = true;
      if (symbol->name == "__ttfd_hart") marks.hart = symbol->value;
    }
  }
  return marks;
}

Status CheckHart(const Marks& marks) {
  constexpr const char* kKnown = "0 (BRISC), 1 (NCRISC), 2, 3 or 4 (TRISC0 to TRISC2)";
  if (!marks.hart) {
    return InvalidArgument(
        "it does not say which processor it was built for; link with --defsym=__ttfd_hart={}, as "
        "ttfd_add_kernel does",
        kKnown);
  }
  if (*marks.hart < hw::kHarts) return OkStatus();
  return InvalidArgument("symbol __ttfd_hart is {}; {} are known", *marks.hart, kKnown);
}

// Sections in address order, without overlaps, gaps no larger than alignment makes them, and in the
// order read-only, data, bss.
StatusOr<Layout> LayOut(std::vector<const ElfSection*> parts) {
  std::sort(parts.begin(), parts.end(),
            [](const auto* a, const auto* b) { return a->address < b->address; });
  Layout layout;
  layout.begin = parts.front()->address;
  layout.end = layout.begin;
  if (layout.begin % kBlockAlignment != 0) {
    return InvalidArgument("the block begins at {:#x}, which is not a multiple of {}", layout.begin,
                           kBlockAlignment);
  }
  int rank = 0;
  for (const ElfSection* part : parts) {
    const int own = part->no_bits() ? 2 : (part->writable() ? 1 : 0);
    if (part->address < layout.end || part->address - layout.end >= kBlockAlignment || own < rank) {
      return InvalidArgument(
          "section {} at {:#x}: text, read-only data, data and bss must form one block in this "
          "order",
          part->name, part->address);
    }
    if (own >= 1 && rank < 1) layout.data_begin = layout.data_end = part->address;
    if (own == 1) layout.data_end = part->address + part->size;
    if (own == 2 && rank < 2) layout.bss_begin = part->address;
    rank = own;
    layout.end = part->address + part->size;
  }
  // Constants may end anywhere; data and bss that are not there begin on a word behind them.
  if (rank < 2) layout.bss_begin = layout.end = AlignUp<uint32_t>(layout.end, 4);
  if (rank < 1) layout.data_begin = layout.data_end = layout.end;
  return layout;
}

// Words are zeroed and restored whole; sections start on words.
Status CheckWords(const Layout& layout) {
  if (layout.data_begin % 4 != 0 || layout.bss_begin % 4 != 0) {
    return InvalidArgument("data at {:#x} and bss at {:#x} must be multiples of 4",
                           layout.data_begin, layout.bss_begin);
  }
  return OkStatus();
}

StatusOr<std::shared_ptr<const KernelImage>> Build(const ElfFile& elf,
                                                   const std::vector<const ElfSection*>& parts,
                                                   const Layout& layout, const Marks& marks,
                                                   const std::string& name) {
  constexpr uint32_t kHeader = sizeof(abi::KernelImageHeader);
  const auto offset_of = [&layout](uint32_t address) { return kHeader + address - layout.begin; };
  abi::KernelImageHeader header{};
  const uint32_t block_end = AlignUp<uint32_t>(offset_of(layout.end), 16);
  header.entry_offset = offset_of(elf.entry());
  header.data_offset = offset_of(layout.data_begin);
  header.data_bytes = AlignUp<uint32_t>(layout.data_end - layout.data_begin, 4);
  header.pristine_offset = block_end;
  header.bss_offset = offset_of(layout.bss_begin);
  header.bss_bytes = AlignUp<uint32_t>(layout.end - layout.bss_begin, 4);
  header.image_bytes = AlignUp<uint32_t>(block_end + header.data_bytes, 16);

  auto image = std::make_shared<KernelImage>();
  image->name = name;
  image->prints = marks.prints;
  image->hart = static_cast<hw::Hart>(*marks.hart);
  image->bytes.resize(header.image_bytes);
  StoreAt(image->bytes.data(), header);
  for (const ElfSection* part : parts) {
    if (part->no_bits() || part->bytes.empty()) continue;
    std::memcpy(image->bytes.data() + offset_of(part->address), part->bytes.data(),
                part->bytes.size());
  }
  std::memcpy(image->bytes.data() + header.pristine_offset,
              image->bytes.data() + header.data_offset, header.data_bytes);
  image->symbols = SymbolTable::Read(elf);
  ASSIGN_OR_RETURN(image->needs, ReadKernelNeeds(elf, *image->symbols));
  image->symbol_base = layout.begin - kHeader;
  return std::shared_ptr<const KernelImage>(std::move(image));
}

StatusOr<std::shared_ptr<const KernelImage>> Load(ByteSpan file, const std::string& name) {
  if (file.size() > kMaxKernelElfBytes) {
    return InvalidArgument("{} bytes; at most {} are allowed", file.size(), kMaxKernelElfBytes);
  }
  ASSIGN_OR_RETURN(const ElfFile elf, ElfFile::Parse(file, kMaxKernelElfSections));
  // Relocations first: they can name the symbol that brought a bad section in.
  RETURN_IF_ERROR(CheckRelocations(elf));
  std::vector<const ElfSection*> parts;
  for (const ElfSection& section : elf.sections()) {
    RETURN_IF_ERROR(CheckSection(section));
    if (section.allocated() && section.size > 0) parts.push_back(&section);
  }
  if (parts.empty()) return InvalidArgument("nothing to load");
  uint64_t total = sizeof(abi::KernelImageHeader);
  for (const ElfSection* part : parts) {
    total += part->size;
    if (part->writable() && !part->no_bits()) total += part->size;
  }
  if (total > abi::kMaxKernelImageBytes) {
    return InvalidArgument("{} bytes of code and data; at most {} are allowed", total,
                           abi::kMaxKernelImageBytes);
  }
  ASSIGN_OR_RETURN(const Layout layout, LayOut(parts));
  RETURN_IF_ERROR(CheckWords(layout));
  const bool entry_in_code =
      elf.entry() % 4 == 0 && std::any_of(parts.begin(), parts.end(), [&elf](const auto* part) {
        return (part->flags & SHF_EXECINSTR) != 0 && elf.entry() >= part->address &&
               elf.entry() - part->address < part->size;
      });
  if (!entry_in_code) {
    return InvalidArgument("the entry point {:#x} is not in the kernel's code", elf.entry());
  }
  const Marks marks = ReadMarks(elf);
  RETURN_IF_ERROR(CheckHart(marks));
  ASSIGN_OR_RETURN(std::shared_ptr<const KernelImage> image,
                   Build(elf, parts, layout, marks, name));
  if (image->bytes.size() > abi::kMaxKernelImageBytes) {
    return InvalidArgument("an image of {} bytes; at most {} are allowed", image->bytes.size(),
                           abi::kMaxKernelImageBytes);
  }
  return image;
}

}  // namespace

StatusOr<std::shared_ptr<const KernelImage>> LoadKernel(ByteSpan elf, const std::string& name) {
  StatusOr<std::shared_ptr<const KernelImage>> image = Load(elf, name);
  // The message names sections and symbols of the file.
  if (!image.ok()) {
    const std::string who = name.empty() ? "kernel" : "kernel " + name;
    return MakeStatus(image.status().code(),
                      Printable(fmt::format("{}: {}", who, StatusMessage(image.status()))));
  }
  return image;
}

}  // namespace ttfd
