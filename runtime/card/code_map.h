// Which code lies at an address of a tile: of our firmware or of a kernel, by function and line.
//
// A kernel's image lies where the kernel cache put it, so a pc means something only together with what was
// placed there, and with the program that runs. Users who load equal images share one there: names and symbols are
// those of the program's own image, and never those of another program's.
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
#include "runtime/card/kernel_cache.h"
#include "runtime/card/program_registry.h"
#include "runtime/elf/symbol_table.h"

namespace ttfd {

struct CodePlace {
  // kOtherKernel: one that the program does not have. It has neither name nor symbol.
  enum class Image : uint8_t { kNone, kFirmware, kKernel, kOtherKernel };
  Image image = Image::kNone;
  std::string name;     // of the kernel, or of the firmware: "worker BRISC firmware"
  uint32_t offset = 0;  // from the beginning of the image
  uint32_t beyond = 0;  // bytes behind its end; 0: inside
  SymbolPlace symbol;
};

// "scale_loop+0x1c at scale.cc:42 in kernel 'scale'"; calls that were inlined are named from the inside out.
// Empty: nothing of ours is there. Names come from files of clients: unprintable characters are escaped (base/utf8.h).
std::string ToString(const CodePlace& place);
// "kernel 'scale'", "worker BRISC firmware", "another program's kernel". Empty: nothing of ours.
std::string ImageText(const CodePlace& place);
// "scale_loop+0x1c at scale.cc:42", for somebody who knows the image.
std::string SymbolText(const SymbolPlace& place);

class CodeMap {
 public:
  // `names`: for each image an ELF file with its symbols, or nothing. Read when first asked for.
  CodeMap(const FirmwareSet& names, const Staged<KernelCache>& kernels,
          const ProgramRegistry& programs)
      : names_(names), kernels_(kernels), programs_(programs) {}

  // `program`: the id of the one that runs on the tile, where it is known; else 0.
  CodePlace Find(abi::Role role, uint32_t hart, uint32_t pc, uint32_t program) const;

 private:
  const SymbolTable* FirmwareSymbols(abi::Role role, uint32_t hart) const;

  const FirmwareSet names_;
  const Staged<KernelCache>& kernels_;
  const ProgramRegistry& programs_;
  mutable std::map<std::pair<abi::Role, uint32_t>, std::shared_ptr<const SymbolTable>> firmware_;
};

}  // namespace ttfd
