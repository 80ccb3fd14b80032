// Functions that all lowerings have in common.
#include "client/tensor/src/lowering.h"

#include <algorithm>
#include <string_view>

#include "client/tensor/src/error.h"
#include "ttfd/tiles.h"

namespace ttfd::tensor {
namespace {

constexpr size_t kTextColumns = 100;

void AppendWords(std::string_view name, const KernelWords& kernel, std::string* text) {
  *text += name;
  for (size_t i = sizeof(ops::Cores) / sizeof(uint32_t); i < kernel.words.size(); ++i) {
    const auto address =
        std::find_if(kernel.addresses.begin(), kernel.addresses.end(),
                     [i](const KernelWords::Address& entry) { return entry.word == i; });
    if (text->size() - text->rfind('\n') > kTextColumns) *text += "\n ";
    *text += " ";
    if (address == kernel.addresses.end()) {
      *text += std::to_string(kernel.words[i]);
    } else if (address->tensor == Lowering::kOutput) {
      *text += "@output";
    } else {
      *text += "@";
      *text += std::to_string(address->tensor);
    }
  }
  *text += "\n";
}

}  // namespace

client::Status Lowering::Check(const CardLimits& limits) const {
  uint64_t bytes = 0;
  for (const CircularBufferUse& buffer : circular_buffers) {
    bytes += uint64_t{buffer.pages} * client::TileBytes(buffer.format);
  }
  if (bytes > limits.circular_buffer_bytes) {
    return Invalid("circular_buffers", "circular buffers of " + std::to_string(bytes) +
                                           " bytes are more than the " +
                                           std::to_string(limits.circular_buffer_bytes) +
                                           " that a worker has for them");
  }
  return client::Status();
}

std::string Lowering::ToText() const {
  std::string text = std::string(InfoOf(family).name) + " on " + std::to_string(cores) +
                     " cores: " + std::to_string(items) + " items, " + std::to_string(launches()) +
                     " launches of " + std::to_string(items_per_launch) + "\n";
  for (const CircularBufferUse& buffer : circular_buffers) {
    text += "buffer " + std::to_string(buffer.index) + ": " + std::to_string(buffer.pages) +
            " pages of " + std::to_string(client::TileBytes(buffer.format)) + " bytes\n";
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    AppendWords(InfoOf(family).words[i], kernels[i], &text);
  }
  return text;
}

void Divide(uint64_t items, uint64_t products, const CardLimits& limits, Lowering* lowering) {
  uint64_t per_launch = std::clamp<uint64_t>(limits.launch_products / products, 1, items);
  const uint64_t cores = std::min<uint64_t>(per_launch, limits.cores);
  if (per_launch < items) per_launch -= per_launch % cores;  // each launch has work for all cores
  lowering->items = static_cast<uint32_t>(items);
  lowering->items_per_launch = static_cast<uint32_t>(per_launch);
  lowering->cores = static_cast<uint32_t>(cores);
}

std::vector<uint32_t> LaunchWords(const Lowering& lowering, const KernelWords& kernel,
                                  uint32_t index, const CoreSet& cores) {
  std::vector<uint32_t> words = kernel.words;
  const CoreSet::Words of_cores = cores.WordsOf(lowering.cores);
  const uint32_t first = index * lowering.items_per_launch;
  const ops::Cores common = {
      .count = lowering.cores,
      .shape = of_cores.bitmap.empty() ? of_cores.shape : static_cast<uint32_t>(words.size()) << 24,
      .first = first,
      .end = std::min(lowering.items, first + lowering.items_per_launch)};
  std::memcpy(words.data(), &common, sizeof(common));
  words.insert(words.end(), of_cores.bitmap.begin(), of_cores.bitmap.end());
  return words;
}

}  // namespace ttfd::tensor
