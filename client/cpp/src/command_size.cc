// Sizes of commands in a message.
#include "client/cpp/src/command_size.h"

namespace ttfd::client {
namespace {

constexpr size_t kFixedBytes = 48;  // tags, lengths and varints of a message with few fields
constexpr size_t kWordBytes = 4;
constexpr size_t kBufferArgumentBytes = 40;
constexpr MessageSize kLayout = {40, 0};        // Interleaved or Sharded, without its cores
constexpr MessageSize kUse = {kFixedBytes, 0};  // KernelUse, CircularBuffer, Semaphore

MessageSize SizeOf(const LaunchRequest::Arguments& arguments) {
  const size_t words = arguments.common.size() + arguments.per_core.size();
  return {kFixedBytes + kWordBytes * words + kBufferArgumentBytes * arguments.buffers.size(), 0};
}

MessageSize SizeOf(const std::vector<CoreRange>& cores) {
  return {kCoreRangeSize.bytes * cores.size(), 0};
}

template <typename Uses>
MessageSize SizeOfUses(const Uses& uses) {
  MessageSize size;
  for (const auto& use : uses) {
    size += kUse + SizeOf(use.cores);
  }
  return size;
}

}  // namespace

MessageSize SizeInTrace(const LaunchRequest& launch) {
  MessageSize size = {kFixedBytes, 0};
  for (const LaunchRequest::Arguments& arguments : launch.arguments()) {
    size += SizeOf(arguments);
  }
  return size;
}

MessageSize SizeOf(const LaunchRequest& launch) {
  return MessageSize{kFixedBytes, 1} + SizeInTrace(launch);
}

MessageSize SizeOf(const ReplayRequest& replay) {
  MessageSize size = kSmallCommand;
  for (const ReplayRequest::KernelPatch& patch : replay.patches()) {
    size += MessageSize{kFixedBytes, 0} + SizeOf(patch.arguments);
  }
  return size;
}

MessageSize SizeOf(const ProgramBuilder& builder) {
  return kSmallCommand + SizeOfUses(builder.kernels()) + SizeOfUses(builder.circular_buffers()) +
         SizeOfUses(builder.semaphores());
}

MessageSize SizeOf(const DramOptions& options) {
  return options.bank < 0 ? kSmallCommand + kLayout : kSmallCommand;
}

MessageSize SizeOf(const L1Options& options) {
  return kSmallCommand + kLayout + SizeOf(options.cores);
}

MessageSize SizeOf(const ShardOptions& options) {
  return kSmallCommand + kLayout + SizeOf(options.cores);
}

}  // namespace ttfd::client
