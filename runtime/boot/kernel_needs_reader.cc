// Reads what a kernel needs from its ELF file.
#include "runtime/boot/kernel_needs_reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/command/kernel_needs.h"

namespace ttfd {
namespace {

// Limits of the indices, by resource.
constexpr uint32_t kMostIndices[abi::kResources] = {abi::kMaxCircularBuffers, abi::kMaxSemaphores,
                                                    abi::kMaxArgumentWords, abi::kMaxArgumentWords,
                                                    abi::kMaxCallables};

std::string PlaceOf(const SymbolTable& symbols, uint32_t address) {
  const SymbolPlace place = symbols.Find(address);
  const SymbolFrame* const frame = UserFrame(place);
  if (frame == nullptr || frame->line == 0) return "";
  return fmt::format("{}:{}", frame->file, frame->line);
}

Status CheckUse(const abi::ResourceUse& use) {
  if (use.resource >= abi::kResources) {
    return InvalidArgument("section {}: resource {}; {} are known", TTFD_RESOURCE_USE_SECTION,
                           use.resource, abi::kResources);
  }
  if (use.index < kMostIndices[use.resource]) return OkStatus();
  return InvalidArgument("it uses {} {}; indices below {} are allowed",
                         ResourceName(static_cast<abi::Resource>(use.resource)), use.index,
                         kMostIndices[use.resource]);
}

}  // namespace

StatusOr<std::vector<KernelNeed>> ReadKernelNeeds(const ElfFile& elf, const SymbolTable& symbols) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> uses;  // address of the first, by what it is
  for (const ElfSection& section : elf.sections()) {
    if (section.name != TTFD_RESOURCE_USE_SECTION) continue;
    if (section.bytes.size() % sizeof(abi::ResourceUse) != 0) {
      return InvalidArgument("section {} of {} bytes; entries have {}", section.name,
                             section.bytes.size(), sizeof(abi::ResourceUse));
    }
    for (size_t at = 0; at < section.bytes.size(); at += sizeof(abi::ResourceUse)) {
      const auto use = LoadAt<abi::ResourceUse>(section.bytes.data() + at);
      RETURN_IF_ERROR(CheckUse(use));
      const auto [known, added] = uses.try_emplace({use.resource, use.index}, use.address);
      if (!added) known->second = std::min(known->second, use.address);
    }
  }
  std::vector<KernelNeed> needs;
  for (const auto& [use, address] : uses) {
    needs.push_back({static_cast<abi::Resource>(use.first), use.second, PlaceOf(symbols, address)});
  }
  return needs;
}

}  // namespace ttfd
