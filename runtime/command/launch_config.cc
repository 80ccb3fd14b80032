// Where the words of a launch lie in its block of the config ring.
#include "runtime/command/launch_config.h"

#include <algorithm>
#include <cstring>

#include "runtime/abi/l1_map.h"
#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"

namespace ttfd {

LaunchConfig LayOutConfig(const Program& program, std::span<const KernelArguments> arguments) {
  LaunchConfig config;
  std::array<uint32_t, hw::kHarts> common_words{};
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    const hw::Hart hart = program.kernels[i].hart;
    common_words[hart] =
        std::max(common_words[hart], static_cast<uint32_t>(arguments[i].common.size()));
    config.per_core_words[hart] =
        std::max(config.per_core_words[hart], arguments[i].words_per_core);
  }
  uint32_t end = program.circular_buffer_count * uint32_t{sizeof(abi::CircularBufferConfig)};
  config.semaphore_offset = end;
  end += program.semaphore_count * uint32_t{sizeof(abi::SemaphoreWord)};
  config.callable_offset = end;
  end += AlignUp<uint32_t>(static_cast<uint32_t>(program.callables.size()) * 4, hw::kL1Alignment);
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    config.common_offset[hart] = end;
    end += AlignUp<uint32_t>(common_words[hart] * 4, hw::kL1Alignment);
  }
  config.group_bytes = end;
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    config.per_core_offset[hart] = end;
    end += AlignUp<uint32_t>(config.per_core_words[hart] * 4, hw::kL1Alignment);
  }
  config.bytes = end;
  return config;
}

Status CheckArguments(const Program& program, std::span<const KernelArguments> arguments) {
  if (arguments.size() != program.kernels.size()) {
    return InvalidArgument("the launch has arguments for {} kernels; the program has {}",
                           arguments.size(), program.kernels.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const KernelArguments& given = arguments[i];
    if (given.common.size() > abi::kMaxArgumentWords ||
        given.words_per_core > abi::kMaxArgumentWords) {
      return InvalidArgument(
          "kernel {} gets {} common and {} per-core words; at most {} of each are allowed", i,
          given.common.size(), given.words_per_core, abi::kMaxArgumentWords);
    }
    if (program.kernels[i].callable && given.common.size() + given.words_per_core != 0) {
      return InvalidArgument("kernel {} is callable; a launch gives it no arguments", i);
    }
    const uint64_t expected = uint64_t{given.words_per_core} * program.kernels[i].workers.size();
    if (given.per_core.size() != expected) {
      return InvalidArgument("kernel {} gets {} per-core words; {} cores of {} words need {}", i,
                             given.per_core.size(), program.kernels[i].workers.size(),
                             given.words_per_core, expected);
    }
  }
  const uint32_t bytes = LayOutConfig(program, arguments).bytes;
  if (bytes > abi::kConfigRingBytes) {
    return InvalidArgument("the launch's configuration takes {} bytes; {} are allowed", bytes,
                           abi::kConfigRingBytes);
  }
  return OkStatus();
}

void FillGroupConfig(const ProgramGroup& group, const LaunchConfig& config, MutableByteSpan to) {
  std::memset(to.data(), 0, to.size());
  const auto copy = [&to](uint32_t offset, const auto& values) {
    if (values.empty()) return;
    std::memcpy(to.data() + offset, values.data(), values.size() * sizeof(values[0]));
  };
  copy(0, group.circular_buffers);
  copy(config.semaphore_offset, group.semaphores);
}

std::vector<HartSpan> CutPerCoreWords(const LaunchConfig& config, uint32_t max_record_bytes) {
  const uint32_t max_bytes = std::min(abi::kDispatchPageBytes, max_record_bytes - 64);
  std::vector<HartSpan> spans;
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    if (config.per_core_words[hart] == 0) continue;
    const uint32_t end = config.per_core_offset[hart] + config.per_core_words[hart] * 4;
    if (!spans.empty() && end - config.per_core_offset[spans.back().first] <= max_bytes) {
      spans.back().last = hart + 1;
      spans.back().bytes = end - config.per_core_offset[spans.back().first];
    } else {
      spans.push_back({hart, hart + 1, config.per_core_words[hart] * 4});
    }
  }
  return spans;
}

std::vector<uint32_t> TilesWithWords(const Program& program,
                                     std::span<const KernelArguments> arguments,
                                     const HartSpan& harts) {
  std::vector<uint32_t> tiles;
  for (uint32_t tile = 0; tile < program.workers.size(); ++tile) {
    for (uint32_t hart = harts.first; hart < harts.last; ++hart) {
      const int16_t kernel = program.places[tile][hart].kernel;
      if (kernel != kNoKernel && arguments[static_cast<size_t>(kernel)].words_per_core > 0) {
        tiles.push_back(tile);
        break;
      }
    }
  }
  return tiles;
}

}  // namespace ttfd
