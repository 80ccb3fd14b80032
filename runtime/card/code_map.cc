// Which code lies at an address of a tile.
#include "runtime/card/code_map.h"

#include "runtime/abi/l1_map.h"
#include "runtime/base/utf8.h"
#include "runtime/boot/hart_state.h"
#include "runtime/boot/kernel_elf.h"

namespace ttfd {
namespace {

std::string FirmwareName(abi::Role role, uint32_t hart) {
  if (role == abi::kRolePrefetch) return "prefetcher firmware";
  if (role == abi::kRoleDispatch) {
    return hart == hw::kBrisc ? "dispatcher firmware" : "dispatch_s firmware";
  }
  return fmt::format("worker {} firmware", HartName(hart));
}

ByteSpan NamesOf(const FirmwareSet& names, abi::Role role, uint32_t hart) {
  if (role == abi::kRolePrefetch) return names.prefetch;
  if (role == abi::kRoleDispatch) return hart == hw::kBrisc ? names.dispatch : names.dispatch_s;
  return hart < hw::kHarts ? names.worker[hart] : ByteSpan();
}

std::string Line(const SymbolFrame& frame) {
  return frame.line == 0 ? "" : fmt::format(" at {}:{}", frame.file, frame.line);
}

}  // namespace

namespace {

std::string Unescaped(const SymbolPlace& place) {
  if (place.frames.empty()) return "";
  const SymbolFrame& function = place.frames.back();
  if (place.kind == SymbolPlace::Kind::kBehind) {
    return fmt::format("behind the end of {}, +{:#x}", function.function, place.offset);
  }
  if (place.kind == SymbolPlace::Kind::kData) {
    return fmt::format("in the data of {}+{:#x}, which is no code", function.function,
                       place.offset);
  }
  std::string text;
  for (const SymbolFrame& frame : place.frames) {
    if (&frame == &function) break;
    text += fmt::format("{}{}, inlined into ", frame.function.empty() ? "a call" : frame.function,
                        Line(frame));
  }
  return text + fmt::format("{}+{:#x}{}", function.function, place.offset, Line(function));
}

}  // namespace

std::string SymbolText(const SymbolPlace& place) { return Printable(Unescaped(place)); }

std::string ImageText(const CodePlace& place) {
  if (place.image == CodePlace::Image::kOtherKernel) return "another program's kernel";
  return place.image == CodePlace::Image::kKernel
             ? fmt::format("kernel '{}'", Printable(place.name))
             : place.name;
}

std::string ToString(const CodePlace& place) {
  if (place.image == CodePlace::Image::kNone) return "";
  const std::string image = ImageText(place);
  if (place.beyond != 0)
    return fmt::format("{:#x} bytes behind the end of {}", place.beyond, image);
  const std::string symbol = SymbolText(place.symbol);
  return symbol.empty() ? fmt::format("{}+{:#x}", image, place.offset)
                        : fmt::format("{} in {}", symbol, image);
}

const SymbolTable* CodeMap::FirmwareSymbols(abi::Role role, uint32_t hart) const {
  const auto [entry, fresh] = firmware_.try_emplace({role, hart});
  const ByteSpan file = NamesOf(names_, role, hart);
  if (fresh && !file.empty()) {
    const StatusOr<ElfFile> elf = ElfFile::Parse(file, kMaxKernelElfSections);
    if (elf.ok()) entry->second = SymbolTable::Read(*elf);
  }
  return entry->second.get();
}

CodePlace CodeMap::Find(abi::Role role, uint32_t hart, uint32_t pc, uint32_t program) const {
  CodePlace place;
  if (hart >= hw::kHarts) return place;
  const uint32_t firmware = abi::kFirmwareAddress[hart];
  if (pc >= firmware && pc - firmware < abi::kFirmwareBytes[hart]) {
    place.image = CodePlace::Image::kFirmware;
    place.name = FirmwareName(role, hart);
    place.offset = pc - firmware;
    if (const SymbolTable* const names = FirmwareSymbols(role, hart)) {
      place.symbol = names->Find(pc);
    }
    return place;
  }
  if (role != abi::kRoleWorker || pc < abi::kKernelCacheAddress) return place;
  const KernelCache::Resident kernel = kernels_->At(pc, programs_.Find(program).get());
  if (kernel.bytes == 0) return place;
  place.image =
      kernel.image == nullptr ? CodePlace::Image::kOtherKernel : CodePlace::Image::kKernel;
  place.offset = pc - kernel.address;
  const bool inside = place.offset < kernel.bytes;
  if (!inside) place.beyond = place.offset - kernel.bytes + 1;
  if (kernel.image == nullptr) return place;
  place.name = kernel.image->name;
  if (inside && kernel.image->symbols != nullptr) {
    place.symbol = kernel.image->symbols->Find(kernel.image->symbol_base + place.offset);
  }
  return place;
}

}  // namespace ttfd
