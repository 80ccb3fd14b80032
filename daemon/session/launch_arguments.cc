// Checks and resolves the arguments of a launch.
#include "daemon/session/launch_arguments.h"

#include <utility>

namespace ttfd {
namespace {

constexpr size_t kMaxWords = abi::kMaxArgumentWords;

std::string Field(size_t index, const char* name) {
  return fmt::format("launch.arguments[{}].{}", index, name);
}

Refusal CheckWords(const Program& program, const ArgumentsRequest& one, size_t index) {
  if (one.common.size() > kMaxWords) {
    return InvalidError(Field(index, "common"), "{} argument words; at most {} are allowed",
                        one.common.size(), kMaxWords);
  }
  if (one.words_per_core > kMaxWords) {
    return InvalidError(Field(index, "words_per_core"),
                        "{} argument words per core; at most {} are allowed", one.words_per_core,
                        kMaxWords);
  }
  const uint64_t cores = KernelCoreCount(program, one.kernel);
  if (one.per_core.size() != cores * one.words_per_core) {
    return InvalidError(Field(index, "per_core"),
                        "{} words; the kernel runs on {} cores with {} words each, which takes {}",
                        one.per_core.size(), cores, one.words_per_core, cores * one.words_per_core);
  }
  return std::nullopt;
}

Refusal PutAddress(const BufferArgumentRequest& argument, const Buffer& buffer, size_t index,
                   std::vector<uint32_t>* common) {
  if (argument.word >= common->size()) {
    return InvalidError(Field(index, "buffers.word"), "word {} of {} common words", argument.word,
                        common->size());
  }
  if (argument.offset != 0 && buffer.single_bank < 0) {
    return InvalidError(
        Field(index, "buffers.offset"),
        "offset {} into an interleaved buffer, which has no one address there; 0 is allowed",
        argument.offset);
  }
  if (argument.offset >= buffer.size_bytes) {
    return InvalidError(Field(index, "buffers.offset"), "offset {} of a buffer of {} bytes",
                        argument.offset, buffer.size_bytes);
  }
  (*common)[argument.word] = buffer.allocation.address() + static_cast<uint32_t>(argument.offset);
  return std::nullopt;
}

}  // namespace

Refusal ResolveArguments(const Program& program, std::vector<ArgumentsRequest>& arguments,
                         const std::vector<std::shared_ptr<Buffer>>& buffers,
                         std::vector<KernelArguments>* resolved) {
  const uint32_t kernels = KernelCount(program);
  resolved->assign(kernels, KernelArguments());
  std::vector<bool> given(kernels);
  size_t next_buffer = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    ArgumentsRequest& one = arguments[i];
    if (one.kernel >= kernels) {
      return InvalidError(Field(i, "kernel"), "kernel {}; the program has {}", one.kernel, kernels);
    }
    if (given[one.kernel])
      return InvalidError(Field(i, "kernel"), "kernel {} has arguments already", one.kernel);
    given[one.kernel] = true;
    if (Refusal refusal = CheckWords(program, one, i)) return refusal;
    for (const BufferArgumentRequest& argument : one.buffers) {
      if (Refusal refusal = PutAddress(argument, *buffers[next_buffer++], i, &one.common))
        return refusal;
    }
    (*resolved)[one.kernel] = {std::move(one.common), one.words_per_core, std::move(one.per_core)};
  }
  return std::nullopt;
}

}  // namespace ttfd
