// Which code lies at an address of a tile: of our firmware or of a kernel, by function and line.
//
// A kernel's image lies where the kernel cache put it, so a pc means something only together with what was
// placed there, and with the program that runs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/abi/boot_block.h"
#include "runtime/base/staged.h"
#include "runtime/boot/firmware_set.h"
#include "runtime/dispatch/kernel_cache.h"
#include "runtime/elf/symbol_table.h"

namespace ttfd {

struct CodePlace {
  enum class Image : uint8_t { kNone, kFirmware, kKernel };
  Image image = Image::kNone;
  std::string name;     // of the kernel, or of the firmware: "worker BRISC firmware"
  uint32_t offset = 0;  // from the beginning of the image
  uint32_t beyond = 0;  // bytes behind its end; 0: inside
  SymbolPlace symbol;
};

// "scale_loop+0x1c at scale.cc:42 in kernel 'scale'"; calls that were inlined are named from the inside out.
// Empty: nothing of ours is there. Names come from files of clients: unprintable characters are escaped (base/utf8.h).
std::string ToString(const CodePlace& place);
// "scale_loop+0x1c at scale.cc:42", for somebody who knows the image.
std::string SymbolText(const SymbolPlace& place);

class CodeMap {
 public:
  // `names`: for each image an ELF file with its symbols, or nothing. Read when first asked for.
  CodeMap(const FirmwareSet& names, const Staged<KernelCache>& kernels)
      : names_(names), kernels_(kernels) {}

  // `program`: the one that runs on the tile, where it is known; else 0.
  CodePlace Find(abi::Role role, uint32_t hart, uint32_t pc, uint32_t program) const;

 private:
  const SymbolTable* FirmwareSymbols(abi::Role role, uint32_t hart) const;

  const FirmwareSet names_;
  const Staged<KernelCache>& kernels_;
  mutable std::map<std::pair<abi::Role, uint32_t>, std::shared_ptr<const SymbolTable>> firmware_;
};

}  // namespace ttfd
