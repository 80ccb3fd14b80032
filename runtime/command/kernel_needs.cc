// Checks that programs and launches give what their kernels need.
#include "runtime/command/kernel_needs.h"

#include "runtime/base/first_line.h"
#include "runtime/command/program_layout.h"

namespace ttfd {

std::string_view ResourceName(abi::Resource resource) {
  switch (resource) {
    case abi::kCircularBuffer:
      return "circular buffer";
    case abi::kSemaphore:
      return "semaphore";
    case abi::kArgument:
      return "argument";
    case abi::kCommonArgument:
      return "common argument";
    case abi::kCallable:
      return "callable kernel";
  }
  return "resource";
}

Status NotGiven(const KernelImage& image, const KernelNeed& need, std::string_view given) {
  const std::string use =
      fmt::format(" uses {} {}{}, which it is not given", ResourceName(need.resource), need.index,
                  need.place.empty() ? "" : " at " + need.place);
  return InvalidArgument("{}\n{}", KernelFirstLine(image.name, use), given);
}

Status CheckArgumentNeeds(const Program& program, uint32_t kernel,
                          const KernelArguments& arguments) {
  if (program.kernels[kernel].callable) return OkStatus();
  const KernelImage& image = *program.images[program.kernels[kernel].image].image;
  for (const KernelNeed& need : image.needs) {
    const bool common = need.resource == abi::kCommonArgument;
    if (!common && need.resource != abi::kArgument) continue;
    const size_t given = common ? arguments.common.size() : arguments.words_per_core;
    if (need.index < given) continue;
    return NotGiven(image, need,
                    fmt::format("the launch has {} {}", given == 0 ? "no" : std::to_string(given),
                                common ? "common words" : "words per core"));
  }
  return OkStatus();
}

}  // namespace ttfd
