// Checks and resolves the arguments of a launch.
#include "daemon/session/launch_arguments.h"

#include <utility>

#include "runtime/command/kernel_needs.h"

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
        "offset {} into a buffer that is not in one bank, which has no one address there; 0 is "
        "allowed",
        argument.offset);
  }
  if (argument.offset >= buffer.size_bytes) {
    return InvalidError(Field(index, "buffers.offset"), "offset {} of a buffer of {} bytes",
                        argument.offset, buffer.size_bytes);
  }
  const uint64_t slot = argument.offset / buffer.page_bytes;
  const uint64_t in_bank =
      slot * StrideOf(buffer.memory, buffer.page_bytes) + argument.offset % buffer.page_bytes;
  (*common)[argument.word] = buffer.allocation.address() + static_cast<uint32_t>(in_bank);
  return std::nullopt;
}

bool HasWords(const ArgumentsRequest& one) {
  return !one.common.empty() || !one.per_core.empty() || !one.buffers.empty();
}

Refusal NoWords(std::string field, const ArgumentsRequest& one) {
  return InvalidError(std::move(field), "no words for kernel {}; leave the entry out", one.kernel);
}

// `name`: returns the name of the launch's field.
template <typename Name>
Refusal CheckEntries(const LaunchRequest& launch, Name&& name) {
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    if (HasWords(launch.arguments[i])) continue;
    return NoWords(fmt::format("{}.arguments[{}]", name(), i), launch.arguments[i]);
  }
  return std::nullopt;
}

}  // namespace

Refusal CheckAnyWords(const Request& request) {
  if (const auto* launch = std::get_if<LaunchRequest>(&request)) {
    return CheckEntries(*launch, [] { return "launch"; });
  }
  if (const auto* record = std::get_if<RecordTraceRequest>(&request)) {
    for (size_t i = 0; i < record->launches.size(); ++i) {
      Refusal refusal = CheckEntries(record->launches[i],
                                     [i] { return fmt::format("record_trace.launches[{}]", i); });
      if (refusal) return refusal;
    }
  }
  const auto* replay = std::get_if<ReplayTraceRequest>(&request);
  if (replay == nullptr) return std::nullopt;
  for (size_t i = 0; i < replay->patches.size(); ++i) {
    const ArgumentsRequest& one = replay->patches[i].arguments;
    if (!HasWords(one)) return NoWords(fmt::format("replay_trace.patches[{}].arguments", i), one);
  }
  return std::nullopt;
}

Refusal ResolveKernel(const Program& program, ArgumentsRequest& arguments, size_t index,
                      std::span<const std::shared_ptr<Buffer>> buffers, KernelArguments* resolved) {
  const uint32_t kernels = KernelCount(program);
  if (arguments.kernel >= kernels) {
    return InvalidError(Field(index, "kernel"), "kernel {}; the program has {}", arguments.kernel,
                        kernels);
  }
  if (IsCallable(program, arguments.kernel)) {
    return InvalidError(Field(index, "kernel"),
                        "kernel {} is callable; its caller gives it arguments, a launch gives none",
                        arguments.kernel);
  }
  if (Refusal refusal = CheckWords(program, arguments, index)) return refusal;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (Refusal refusal = PutAddress(arguments.buffers[i], *buffers[i], index, &arguments.common)) {
      return refusal;
    }
  }
  *resolved = {std::move(arguments.common), arguments.words_per_core,
               std::move(arguments.per_core)};
  return std::nullopt;
}

Refusal ResolveArguments(const Program& program, std::vector<ArgumentsRequest>& arguments,
                         const std::vector<std::shared_ptr<Buffer>>& buffers,
                         std::vector<KernelArguments>* resolved) {
  const uint32_t kernels = KernelCount(program);
  resolved->assign(kernels, KernelArguments());
  std::vector<bool> given(kernels);
  std::span left(buffers);
  for (size_t i = 0; i < arguments.size(); ++i) {
    ArgumentsRequest& one = arguments[i];
    KernelArguments words;
    if (Refusal refusal = ResolveKernel(program, one, i, left.first(one.buffers.size()), &words)) {
      return refusal;
    }
    if (given[one.kernel])
      return InvalidError(Field(i, "kernel"), "kernel {} has arguments already", one.kernel);
    given[one.kernel] = true;
    left = left.subspan(one.buffers.size());
    (*resolved)[one.kernel] = std::move(words);
  }
  for (uint32_t kernel = 0; kernel < kernels; ++kernel) {
    if (Status status = CheckArgumentNeeds(program, kernel, (*resolved)[kernel]); !status.ok()) {
      return InvalidError("launch.arguments", "{}", StatusMessage(status));
    }
  }
  return std::nullopt;
}

}  // namespace ttfd
