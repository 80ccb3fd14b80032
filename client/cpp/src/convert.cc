// Protobuf messages to plain values and back.
#include "client/cpp/src/convert.h"

#include <array>

namespace ttfd::client {
namespace {

constexpr size_t kFixedBytes = 40;  // tags, lengths and varints of a message with few fields

void ToProto(const LaunchRequest::Arguments& arguments, v1::Arguments* proto) {
  proto->set_kernel(arguments.kernel);
  proto->set_words_per_core(arguments.words_per_core);
  proto->mutable_common()->Add(arguments.common.begin(), arguments.common.end());
  proto->mutable_per_core()->Add(arguments.per_core.begin(), arguments.per_core.end());
  for (const LaunchRequest::BufferArgument& buffer : arguments.buffers) {
    v1::BufferArgument* out = proto->add_buffers();
    out->set_word(buffer.word);
    out->set_buffer(buffer.buffer);
    out->set_offset(buffer.offset);
  }
}

size_t EncodedBytes(const LaunchRequest::Arguments& arguments) {
  constexpr size_t kPerBuffer = 32;
  return kFixedBytes + 4 * (arguments.common.size() + arguments.per_core.size()) +
         kPerBuffer * arguments.buffers.size();
}

}  // namespace

Status FromProto(const v1::Error& error) {
  const int code = error.code() == 0 ? static_cast<int>(Code::kUnknown) : error.code();
  return Status(ErrorInfo{.code = static_cast<Code>(code),
                          .message = error.message(),
                          .reason = error.reason(),
                          .field = error.field(),
                          .cause = FromProto(error.cause()),
                          .limit = error.limit(),
                          .limit_value = error.limit_value(),
                          .limit_used = error.limit_used(),
                          .hang_report = error.hang_report(),
                          .retryable = error.retryable()});
}

Position FromProto(const v1::QueuePosition& position) {
  return {position.queue(), position.value()};
}

DeviceInfo FromProto(const v1::Device& device) {
  return {.index = device.index(),
          .board = device.board(),
          .backend = device.backend(),
          .grid_x = device.grid_x(),
          .grid_y = device.grid_y(),
          .dram_banks = device.dram_banks(),
          .dram_bank_bytes = device.dram_bank_bytes(),
          .dram_alignment = device.dram_alignment(),
          .l1_bytes = device.l1_bytes(),
          .l1_alignment = device.l1_alignment(),
          .clock_hz = device.clock_hz(),
          .circular_buffers = device.circular_buffers(),
          .semaphores = device.semaphores(),
          .argument_words = device.argument_words(),
          .circular_buffer_bytes = device.circular_buffer_bytes(),
          .transfer_alignment = device.transfer_alignment(),
          .kernel_bytes = device.kernel_bytes(),
          .iommu = device.iommu()};
}

Limits FromProto(const v1::Limits& limits) {
  return {.message_bytes = limits.message_bytes(),
          .chunk_bytes = limits.chunk_bytes(),
          .inline_bytes = limits.inline_bytes(),
          .commands_per_batch = limits.commands_per_batch(),
          .waits_per_batch = limits.waits_per_batch(),
          .queues = limits.queues(),
          .handles = limits.handles(),
          .dram_bytes = limits.dram_bytes(),
          .l1_bytes = limits.l1_bytes(),
          .transfer_bytes = limits.transfer_bytes(),
          .kernel_elf_bytes = limits.kernel_elf_bytes(),
          .sessions_per_user = limits.sessions_per_user(),
          .client_name_bytes = limits.client_name_bytes(),
          .trace_bytes = limits.trace_bytes(),
          .buffers = limits.buffers(),
          .kernels = limits.kernels(),
          .programs = limits.programs(),
          .kernel_bytes = limits.kernel_bytes(),
          .idle_ms = limits.idle_ms(),
          .lease_ms = limits.lease_ms(),
          .lease_idle_ms = limits.lease_idle_ms(),
          .lease_wait_ms = limits.lease_wait_ms(),
          .weight = limits.weight(),
          .priority = FromProto(limits.priority())};
}

Priority FromProto(v1::Priority priority) {
  if (priority == v1::PRIORITY_LOW) return Priority::kLow;
  return priority == v1::PRIORITY_HIGH ? Priority::kHigh : Priority::kNormal;
}

v1::Priority ToProto(Priority priority) {
  if (priority == Priority::kLow) return v1::PRIORITY_LOW;
  return priority == Priority::kHigh ? v1::PRIORITY_HIGH : v1::PRIORITY_NORMAL;
}

const char* ProcessorName(Processor processor) {
  constexpr std::array<const char*, 5> kNames = {"brisc", "ncrisc", "trisc0", "trisc1", "trisc2"};
  const size_t index = static_cast<size_t>(processor) - 1;
  return index < kNames.size() ? kNames[index] : "unknown processor";
}

KernelPrint FromProto(const v1::KernelPrint& print) {
  return {.position = {print.queue(), print.value()},
          .launch = print.launch(),
          .kernel = print.kernel(),
          .core = {print.x(), print.y()},
          .processor = static_cast<Processor>(print.processor()),
          .text = print.text(),
          .lost = print.lost()};
}

void ToProto(const CoreRange& range, v1::CoreRange* proto) {
  proto->set_x0(range.x0);
  proto->set_y0(range.y0);
  proto->set_x1(range.x1);
  proto->set_y1(range.y1);
}

void ToProto(const ProgramBuilder& builder, v1::CreateProgram* proto) {
  for (const ProgramBuilder::KernelUse& use : builder.kernels()) {
    v1::KernelUse* out = proto->add_kernels();
    out->set_kernel(use.kernel);
    out->set_processor(static_cast<v1::Processor>(use.processor));
    for (const CoreRange& range : use.cores) {
      ToProto(range, out->add_cores());
    }
  }
  for (const ProgramBuilder::CircularBuffer& use : builder.circular_buffers()) {
    v1::CircularBuffer* out = proto->add_circular_buffers();
    out->set_index(use.index);
    out->set_pages(use.pages);
    out->set_page_bytes(use.page_bytes);
    out->set_buffer(use.buffer);
    for (const CoreRange& range : use.cores) {
      ToProto(range, out->add_cores());
    }
  }
  for (const ProgramBuilder::Semaphore& use : builder.semaphores()) {
    v1::Semaphore* out = proto->add_semaphores();
    out->set_index(use.index);
    out->set_initial(use.initial);
    for (const CoreRange& range : use.cores) {
      ToProto(range, out->add_cores());
    }
  }
}

void ToProto(const LaunchRequest& launch, v1::Launch* proto) {
  proto->set_program(launch.program());
  proto->set_timeout_ms(launch.timeout_ms());
  for (const LaunchRequest::Arguments& arguments : launch.arguments()) {
    ToProto(arguments, proto->add_arguments());
  }
}

void ToProto(const ReplayRequest& replay, v1::ReplayTrace* proto) {
  proto->set_trace(replay.trace());
  for (const ReplayRequest::KernelPatch& patch : replay.patches()) {
    v1::TracePatch* out = proto->add_patches();
    out->set_launch(patch.launch);
    ToProto(patch.arguments, out->mutable_arguments());
  }
}

size_t EncodedBytes(const LaunchRequest& launch) {
  size_t bytes = kFixedBytes;
  for (const LaunchRequest::Arguments& arguments : launch.arguments()) {
    bytes += EncodedBytes(arguments);
  }
  return bytes;
}

size_t EncodedBytes(const ReplayRequest& replay) {
  size_t bytes = kFixedBytes;
  for (const ReplayRequest::KernelPatch& patch : replay.patches()) {
    bytes += kFixedBytes + EncodedBytes(patch.arguments);
  }
  return bytes;
}

}  // namespace ttfd::client
