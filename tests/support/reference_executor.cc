#include "tests/support/reference_executor.h"

#include <cstring>

#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"
#include "runtime/command/dispatch_decoder.h"
#include "runtime/command/record_text.h"
#include "runtime/hw/stream.h"

namespace ttfd::testing {
namespace {

constexpr size_t kRecent = 12;

void Extend(std::vector<std::byte>& bytes, ByteSpan more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

}  // namespace

ReferenceExecutor::ReferenceExecutor(const ReferenceLayout& layout, MemoryImage memory)
    : card_(layout, std::move(memory)), queues_(layout.dispatch_xy.size()) {
  for (Queue& queue : queues_) queue.ringbuffer.resize(layout.ringbuffer_bytes);
}

void ReferenceExecutor::Append(uint32_t queue, ByteSpan entry) {
  queues_[queue].entries.emplace_back(entry.begin(), entry.end());
}

Status ReferenceExecutor::Run() {
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (uint32_t index = 0; index < queues_.size(); ++index) {
      for (;;) {
        const auto step = StepQueue(index);
        if (!step.ok()) {
          return Annotate(step.status(), fmt::format("queue {}{}", index, Report(queues_[index])));
        }
        ASSIGN_OR_RETURN(const bool sent, DrainDispatchS(index));
        if (*step == Step::kBlocked && !sent) break;
        goes_on = true;
      }
    }
  }
  for (uint32_t index = 0; index < queues_.size(); ++index) {
    const Queue& queue = queues_[index];
    if (!queue.entries.empty() || !queue.frames.empty() || !queue.for_dispatch_s.empty() ||
        !queue.header.empty()) {
      return Internal("queue {} waits for ever{}", index, Report(queue));
    }
  }
  return OkStatus();
}

std::string ReferenceExecutor::Report(const Queue& queue) const {
  std::string text;
  for (const std::string& command : queue.recent) text += "\n  " + command;
  return text + "\n";
}

StatusOr<ReferenceExecutor::Step> ReferenceExecutor::StepQueue(uint32_t index) {
  Queue& queue = queues_[index];
  while (!queue.frames.empty() && queue.frames.back().next == queue.frames.back().commands.size()) {
    queue.frames.pop_back();
  }
  if (queue.frames.empty()) {
    if (queue.entries.empty()) return Step::kBlocked;
    Frame frame;
    frame.bytes = std::move(queue.entries.front());
    queue.entries.pop_front();
    ASSIGN_OR_RETURN(frame.commands, DecodeEntry(frame.bytes));
    queue.frames.push_back(std::move(frame));
  }
  const size_t frame = queue.frames.size() - 1;  // a deque's elements stay where they are
  const DecodedCommand& command = queue.frames[frame].commands[queue.frames[frame].next];
  std::string text = FormatCommand(command);
  if (queue.recent.empty() || queue.recent.back() != text) queue.recent.push_back(std::move(text));
  if (queue.recent.size() > kRecent) queue.recent.pop_front();
  if (queue.outcome.prefetch_ended) return Internal("a command behind TERMINATE");
  const uint32_t writes = card_.watched_writes();
  ASSIGN_OR_RETURN(const Step step, Execute(index, queue.frames[frame], command));
  const uint32_t number = queue.outcome.prefetch_commands;
  const bool wanted =
      index == watched_queue_ && number >= watched_first_ && number <= watched_last_;
  if (card_.watched_writes() != writes || (wanted && step == Step::kDone)) {
    watched_.push_back(fmt::format("queue {} command {}: {}", index, number, queue.recent.back()));
  }
  if (step == Step::kDone) {
    ++queue.frames[frame].next;
    ++queue.outcome.prefetch_commands;
    ++queue.outcome.prefetch_kinds[static_cast<size_t>(queue.frames[frame].bytes[command.offset])];
  }
  return step;
}

StatusOr<ReferenceExecutor::Step> ReferenceExecutor::Execute(uint32_t index, const Frame& frame,
                                                             const DecodedCommand& command) {
  Queue& queue = queues_[index];
  if (const auto* inlined = std::get_if<abi::RelayInline>(&command.prefetch)) {
    const ByteSpan payload =
        ByteSpan(frame.bytes).subspan(command.offset + abi::kCommandBytes, inlined->length);
    if (inlined->id == abi::PrefetchId::kRelayInlineNoflush) {
      Extend(queue.header, payload);
      return Step::kDone;
    }
    if (inlined->dispatcher == abi::DispatcherType::kDispatchS) {
      queue.for_dispatch_s.emplace_back(payload.begin(), payload.end());
      return Step::kDone;
    }
    if (!queue.header.empty()) return Internal("RELAY_INLINE behind a header without its data");
    return ExecuteDispatch(index, *command.dispatch);
  }
  if (const auto* bare = std::get_if<abi::BarePrefetch>(&command.prefetch)) {
    if (bare->id == abi::PrefetchId::kTerminate) {
      queue.outcome.prefetch_ended = true;
    } else if (!abi::CounterReached(queue.outcome.notifies, ++queue.stalls)) {
      return Internal("STALL number {} comes before its NOTIFY_PREFETCH", queue.stalls);
    }
    return Step::kDone;
  }
  if (const auto* fill = std::get_if<abi::PagedToRingbuffer>(&command.prefetch)) {
    RETURN_IF_ERROR(FillRingbuffer(queue, *fill));
    return Step::kDone;
  }
  if (const auto* set = std::get_if<abi::SetRingbufferOffset>(&command.prefetch)) {
    queue.ring_offset = set->offset;
    if (set->update_wp != 0) queue.ring_write_pointer = set->offset;
    return Step::kDone;
  }
  if (const auto* exec = std::get_if<abi::ExecBuf>(&command.prefetch)) {
    RETURN_IF_ERROR(BeginExecBuffer(queue, *exec));
    return Step::kDone;
  }
  if (std::holds_alternative<abi::DebugPrefetch>(command.prefetch)) return Step::kDone;
  ASSIGN_OR_RETURN(const std::vector<std::byte> data, Relayed(queue, command));
  Extend(queue.header, data);
  const std::vector<std::byte> payload = std::move(queue.header);
  queue.header.clear();
  ASSIGN_OR_RETURN(const DecodedDispatch dispatch,
                   DecodeDispatch(payload, abi::DispatcherType::kDispatch, false));
  return ExecuteDispatch(index, dispatch);
}

StatusOr<std::vector<std::byte>> ReferenceExecutor::Relayed(Queue& queue,
                                                            const DecodedCommand& command) {
  if (const auto* linear = std::get_if<abi::RelayLinear>(&command.prefetch)) {
    return card_.ReadLinear(linear->noc_xy, linear->address, linear->length);
  }
  if (const auto* paged = std::get_if<abi::RelayPaged>(&command.prefetch)) {
    const uint32_t adjust = paged->flags & ~abi::kRelayPagedIsDram;
    return card_.ReadPaged((paged->flags & abi::kRelayPagedIsDram) != 0, paged->start_page,
                           paged->base_address, paged->page_size,
                           uint64_t{paged->pages} * paged->page_size - adjust);
  }
  std::vector<std::byte> bytes;
  for (const auto& part : command.stretches) {
    ASSIGN_OR_RETURN(const auto more, card_.ReadPaged(true, part.start_page, part.base_address,
                                                      1u << part.log_page_size, part.length));
    Extend(bytes, more);
  }
  for (const auto& part : command.ring_stretches) {
    const uint64_t begin = uint64_t{queue.ring_offset} + part.start;
    if (begin + part.length > queue.ringbuffer.size()) {
      return InvalidArgument("RELAY_RINGBUFFER beyond the ring buffer");
    }
    Extend(bytes, ByteSpan(queue.ringbuffer).subspan(begin, part.length));
  }
  return bytes;
}

Status ReferenceExecutor::FillRingbuffer(Queue& queue, const abi::PagedToRingbuffer& command) {
  if ((command.flags & abi::kRingbufferReset) != 0) queue.ring_write_pointer = 0;
  queue.ring_offset = queue.ring_write_pointer;
  queue.ring_write_pointer += command.wp_offset_update;
  if (queue.ring_write_pointer > queue.ringbuffer.size()) {
    return InvalidArgument("PAGED_TO_RINGBUFFER beyond the ring buffer");
  }
  ASSIGN_OR_RETURN(const auto bytes, card_.ReadPaged(true, command.start_page, command.base_address,
                                                     1u << command.log2_page_size, command.length));
  std::memcpy(queue.ringbuffer.data() + queue.ring_offset, bytes.data(), bytes.size());
  return OkStatus();
}

Status ReferenceExecutor::BeginExecBuffer(Queue& queue, const abi::ExecBuf& command) {
  const uint32_t page_bytes = 1u << command.log_page_size;
  Frame frame;
  ASSIGN_OR_RETURN(frame.bytes, card_.ReadPaged(true, 0, command.base_address, page_bytes,
                                                uint64_t{command.pages} * page_bytes));
  ASSIGN_OR_RETURN(frame.commands, DecodeExecBuffer(frame.bytes));
  queue.frames.push_back(std::move(frame));
  return OkStatus();
}

}  // namespace ttfd::testing
