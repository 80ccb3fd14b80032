// Protobuf to values, field by field.
#include "daemon/rpc/request_conversion.h"

#include <algorithm>
#include <span>
#include <utility>

namespace ttfd {
namespace {

using Ranges = google::protobuf::RepeatedPtrField<v1::CoreRange>;

// How many of `count` elements to convert: see the header.
int Bounded(int count, uint32_t limit) {
  return static_cast<int>(std::min<uint64_t>(static_cast<uint64_t>(count), uint64_t{limit} + 1));
}

std::vector<CoreRange> RangesFromProto(const Ranges& ranges) {
  std::vector<CoreRange> values;
  values.reserve(static_cast<size_t>(ranges.size()));
  for (const v1::CoreRange& range : ranges) {
    values.push_back({range.x0(), range.y0(), range.x1(), range.y1()});
  }
  return values;
}

AllocateRequest FromProto(const v1::Allocate& from) {
  AllocateRequest to;
  to.handle = from.handle();
  to.size_bytes = from.size_bytes();
  to.page_bytes = from.page_bytes();
  switch (from.place_case()) {
    case v1::Allocate::kDram:
      to.place = BufferPlace::kDramInterleaved;
      to.cores = RangesFromProto(from.dram().cores());
      break;
    case v1::Allocate::kL1:
      to.place = BufferPlace::kL1Interleaved;
      to.cores = RangesFromProto(from.l1().cores());
      break;
    case v1::Allocate::kL1Sharded:
      to.place = BufferPlace::kL1Sharded;
      to.cores = RangesFromProto(from.l1_sharded().cores());
      to.row_pages = from.l1_sharded().row_pages();
      to.shard_rows = from.l1_sharded().shard_rows();
      to.shard_row_pages = from.l1_sharded().shard_row_pages();
      break;
    case v1::Allocate::kDramBank:
      to.place = BufferPlace::kDramBank;
      to.dram_bank = from.dram_bank();
      break;
    case v1::Allocate::PLACE_NOT_SET:
      break;
  }
  return to;
}

LoadKernelRequest FromProto(v1::LoadKernel& from) {
  LoadKernelRequest to;
  to.handle = from.handle();
  to.sha256 = from.sha256();
  to.size = from.size();
  to.is_inline = from.from_case() == v1::LoadKernel::kInline;
  if (to.is_inline) to.inline_bytes = std::move(*from.mutable_inline_());
  to.streamed = from.streamed();
  to.unstreamed = from.has_streamed() && !from.streamed();
  to.name = from.name();
  return to;
}

KernelUseRequest FromProto(const v1::KernelUse& from) {
  KernelUseRequest to;
  to.kernel = from.kernel();
  to.cores = RangesFromProto(from.cores());
  // PROCESSOR_BRISC is 1, hw::kBrisc 0; the order is the same.
  const int number = from.processor();
  to.processor_known = number >= v1::PROCESSOR_BRISC && number <= v1::PROCESSOR_TRISC2;
  if (to.processor_known) to.hart = static_cast<hw::Hart>(number - v1::PROCESSOR_BRISC);
  to.callable = from.callable();
  to.configured = from.configured();
  return to;
}

CreateProgramRequest FromProto(const v1::CreateProgram& from) {
  CreateProgramRequest to;
  to.handle = from.handle();
  to.kernels.reserve(static_cast<size_t>(from.kernels_size()));
  to.circular_buffers.reserve(static_cast<size_t>(from.circular_buffers_size()));
  to.semaphores.reserve(static_cast<size_t>(from.semaphores_size()));
  for (const v1::KernelUse& kernel : from.kernels()) to.kernels.push_back(FromProto(kernel));
  for (const v1::CircularBuffer& one : from.circular_buffers()) {
    CircularBufferRequest& use = to.circular_buffers.emplace_back();
    use = {one.index(), one.pages(), one.page_bytes(), RangesFromProto(one.cores()),
           static_cast<uint32_t>(one.format())};
    if (one.has_buffer()) use.buffer = one.buffer();
  }
  for (const v1::Semaphore& semaphore : from.semaphores()) {
    to.semaphores.push_back(
        {semaphore.index(), semaphore.initial(), RangesFromProto(semaphore.cores())});
  }
  return to;
}

OpenQueueRequest FromProto(const v1::OpenQueue& from) {
  return {from.queue(), from.has_device() ? std::optional(from.device()) : std::nullopt,
          static_cast<uint32_t>(from.kind()), RangesFromProto(from.workers())};
}

WriteRequest FromProto(v1::Write& from) {
  WriteRequest to;
  to.buffer = from.buffer();
  to.offset = from.offset();
  to.size = from.size();
  to.is_inline = from.from_case() == v1::Write::kInline;
  if (to.is_inline) to.inline_bytes = std::move(*from.mutable_inline_());
  to.streamed = from.streamed();
  to.unstreamed = from.has_streamed() && !from.streamed();
  return to;
}

ArgumentsRequest FromProto(const v1::Arguments& from) {
  ArgumentsRequest to;
  to.kernel = from.kernel();
  to.common.assign(from.common().begin(), from.common().end());
  to.per_core.assign(from.per_core().begin(), from.per_core().end());
  to.words_per_core = from.words_per_core();
  to.buffers.reserve(static_cast<size_t>(from.buffers_size()));
  for (const v1::BufferArgument& buffer : from.buffers()) {
    to.buffers.push_back({buffer.word(), buffer.buffer(), buffer.offset()});
  }
  return to;
}

LaunchRequest FromProto(const v1::Launch& from) {
  LaunchRequest to;
  to.program = from.program();
  if (from.has_timeout_ms()) to.timeout_ms = from.timeout_ms();
  to.arguments.reserve(static_cast<size_t>(from.arguments_size()));
  for (const v1::Arguments& arguments : from.arguments()) {
    to.arguments.push_back(FromProto(arguments));
  }
  return to;
}

RecordTraceRequest FromProto(const v1::RecordTrace& from) {
  RecordTraceRequest to;
  to.handle = from.handle();
  to.more = from.more();
  // One beyond the limit is enough for the session to refuse it.
  const int count = Bounded(from.launches_size(), kMaxTraceLaunches);
  to.launches.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) to.launches.push_back(FromProto(from.launches(i)));
  return to;
}

ReplayTraceRequest FromProto(const v1::ReplayTrace& from) {
  ReplayTraceRequest to;
  to.trace = from.trace();
  to.patches.reserve(static_cast<size_t>(from.patches_size()));
  for (const v1::TracePatch& patch : from.patches()) {
    to.patches.push_back({patch.launch(), FromProto(patch.arguments())});
  }
  return to;
}

LinkEndRequest FromProto(const v1::LinkPlace& from) {
  return {from.device(), from.channel(), from.x(), from.y(), from.end()};
}

// One more than allowed is refused.
ConnectLinksRequest FromProto(const v1::ConnectLinks& from) {
  ConnectLinksRequest to;
  for (const v1::LinkConnection& one : from.connections()) {
    if (to.connections.size() > kMostLinkConnections) break;
    to.connections.push_back({FromProto(one.a()), FromProto(one.b())});
  }
  return to;
}

FreeRequest FromProto(const v1::Free& from, const SessionLimits& limits) {
  const int count = Bounded(from.handles_size(), limits.handles);
  return {{from.handles().begin(), from.handles().begin() + count}};
}

void AddCommand(v1::Command& command, const SessionLimits& limits, std::vector<Request>* to) {
  switch (command.op_case()) {
    case v1::Command::kBarrier:
      to->emplace_back(BarrierRequest{});
      return;
    case v1::Command::kLaunch:
      to->emplace_back(FromProto(command.launch()));
      return;
    case v1::Command::kWrite:
      to->emplace_back(FromProto(*command.mutable_write()));
      return;
    case v1::Command::kRead:
      to->emplace_back(
          ReadRequest{command.read().buffer(), command.read().offset(), command.read().size()});
      return;
    case v1::Command::kFill:
      to->emplace_back(FillRequest{command.fill().buffer(), command.fill().offset(),
                                   command.fill().size(), command.fill().word()});
      return;
    case v1::Command::kCopy:
      to->emplace_back(CopyRequest{command.copy().from(), command.copy().from_offset(),
                                   command.copy().to(), command.copy().to_offset(),
                                   command.copy().size()});
      return;
    case v1::Command::kAllocate:
      to->emplace_back(FromProto(command.allocate()));
      return;
    case v1::Command::kFree:
      to->emplace_back(FromProto(command.free(), limits));
      return;
    case v1::Command::kLoadKernel:
      to->emplace_back(FromProto(*command.mutable_load_kernel()));
      return;
    case v1::Command::kCreateProgram:
      to->emplace_back(FromProto(command.create_program()));
      return;
    case v1::Command::kRecordTrace:
      to->emplace_back(FromProto(command.record_trace()));
      return;
    case v1::Command::kReplayTrace:
      to->emplace_back(FromProto(command.replay_trace()));
      break;
    case v1::Command::kConnectLinks:
      to->emplace_back(FromProto(command.connect_links()));
      return;
    case v1::Command::OP_NOT_SET:
      to->emplace_back(UnknownRequest{});
      return;
  }
}

// `costs`: of its commands.
BatchRequest FromProto(v1::Batch& batch, std::span<const uint32_t> costs,
                       const SessionLimits& limits) {
  BatchRequest to;
  to.queue = batch.queue();
  to.first_value = batch.first_value();
  if (batch.has_start_within_ms()) to.start_within_ms = batch.start_within_ms();
  to.clears_error = batch.clears_error();
  const int waits = Bounded(batch.waits_size(), limits.waits_per_batch);
  to.waits.reserve(static_cast<size_t>(waits));
  for (int i = 0; i < waits; ++i) to.waits.push_back(PositionFromProto(batch.waits(i)));
  // All of a batch with too many commands are refused: each has its value, but nothing else of it matters.
  const int commands = Bounded(batch.commands_size(), limits.commands_per_batch);
  to.commands.reserve(static_cast<size_t>(batch.commands_size()));
  for (int i = 0; i < commands; ++i) AddCommand(*batch.mutable_commands(i), limits, &to.commands);
  for (int i = commands; i < batch.commands_size(); ++i) to.commands.emplace_back(UnknownRequest{});
  to.costs.assign(costs.begin(), costs.end());
  return to;
}

DataChunk FromProto(v1::Data& data, uint32_t cost) {
  return {data.queue(), data.value(), data.offset(), std::move(*data.mutable_payload()), cost};
}

}  // namespace

HelloRequest HelloFromProto(const v1::Hello& hello) {
  HelloRequest to;
  to.min_revision = hello.min_revision();
  to.max_revision = hello.max_revision();
  to.client_name = hello.client_name();
  if (hello.has_device()) to.device = hello.device();
  if (hello.has_weight()) to.weight = hello.weight();
  switch (hello.priority()) {
    case v1::PRIORITY_UNSPECIFIED:
    case v1::PRIORITY_NORMAL:
      break;
    case v1::PRIORITY_LOW:
      to.priority = Priority::kLow;
      break;
    case v1::PRIORITY_HIGH:
      to.priority = Priority::kHigh;
      break;
    default:
      to.priority_known = false;
  }
  to.reconnect_timeout_ms = hello.reconnect_timeout_ms();
  switch (hello.attach_case()) {
    case v1::Hello::kResume:
      to.attach = AttachKind::kResume;
      to.resume.session = hello.resume().session();
      to.resume.token = hello.resume().token();
      break;
    case v1::Hello::kLease:
      to.attach = AttachKind::kLease;
      if (hello.lease().has_wait_ms()) to.lease.wait_ms = hello.lease().wait_ms();
      to.lease.workers = RangesFromProto(hello.lease().workers());
      to.lease.devices.assign(hello.lease().devices().begin(), hello.lease().devices().end());
      break;
    case v1::Hello::kLeaseToken:
      to.attach = AttachKind::kLeaseToken;
      to.lease_token = hello.lease_token();
      break;
    case v1::Hello::ATTACH_NOT_SET:
      break;
  }
  return to;
}

MessageRequest MessageFromProto(v1::ClientMessage& message, const MessageScan& scan,
                                const SessionLimits& limits) {
  MessageRequest to;
  to.cost = scan.cost;
  for (const v1::OpenQueue& open : message.open_queues()) to.open_queues.push_back(FromProto(open));
  std::span<const uint32_t> costs(scan.commands);
  for (v1::Batch& batch : *message.mutable_batches()) {
    const auto count = static_cast<size_t>(batch.commands_size());
    to.batches.push_back(FromProto(batch, costs.first(count), limits));
    costs = costs.subspan(count);
  }
  for (int i = 0; i < message.data_size(); ++i) {
    to.data.push_back(FromProto(*message.mutable_data(i), scan.data[static_cast<size_t>(i)]));
  }
  for (const v1::Cancel& cancel : message.cancels()) {
    to.cancels.push_back({cancel.queue(), cancel.from_value()});
  }
  to.finish = message.has_finish();
  to.leave = message.has_leave();
  return to;
}

}  // namespace ttfd
