// Protobuf messages to plain values and back.
#include "client/cpp/src/convert.h"

#include <charconv>
#include <utility>

#include "client/cpp/src/options.h"
#include "google/rpc/error_details.pb.h"

namespace ttfd::client {
namespace {

constexpr char kDomain[] = "ttfd";

using Metadata = google::protobuf::Map<std::string, std::string>;

std::string TextOf(const Metadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string() : found->second;
}

// 0: no such key, or not a number.
template <typename Number>
Number NumberOf(const Metadata& metadata, const char* key) {
  const std::string text = TextOf(metadata, key);
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

ErrorInfo ErrorOf(const google::rpc::Status& status) {
  ErrorInfo error;
  error.code = status.code() == 0 ? Code::kUnknown : static_cast<Code>(status.code());
  error.message = status.message();
  google::rpc::ErrorInfo info;
  google::rpc::QuotaFailure quota;
  for (const google::protobuf::Any& detail : status.details()) {
    if (detail.Is<google::rpc::RetryInfo>()) {
      error.retryable = true;
    } else if (detail.UnpackTo(&info) && info.domain() == kDomain) {
      const Metadata& metadata = info.metadata();
      error.reason = info.reason();
      error.field = TextOf(metadata, "field");
      error.cause = {NumberOf<uint32_t>(metadata, "cause_queue"),
                     NumberOf<uint64_t>(metadata, "cause_value")};
      error.limit = TextOf(metadata, "limit");
      error.limit_value = NumberOf<uint64_t>(metadata, "limit_value");
      error.limit_used = NumberOf<uint64_t>(metadata, "limit_used");
      error.hang_report = TextOf(metadata, "hang_report");
    } else if (detail.UnpackTo(&quota) && quota.violations_size() != 0 && error.limit.empty()) {
      error.limit = quota.violations(0).subject();
    }
  }
  return error;
}

// The API has no entries without.
bool HasWords(const LaunchRequest::Arguments& arguments) {
  return !arguments.common.empty() || !arguments.per_core.empty() || !arguments.buffers.empty();
}

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

}  // namespace

Status FromProto(const google::rpc::Status& status) { return Status(ErrorOf(status)); }

Status FromProto(const v1::CommandError& error) {
  ErrorInfo info = ErrorOf(error.status());
  info.execution_state = EnumOf<ExecutionState>(error.execution_state());
  return Status(std::move(info));
}

WelcomeInfo FromProto(const v1::Welcome& welcome) {
  WelcomeInfo info{.session = welcome.session(),
                   .daemon_version = welcome.daemon_version(),
                   .devices = {},
                   .device = welcome.device(),
                   .limits = FromProto(welcome.limits()),
                   .lease_token = TokenText(welcome.lease_token())};
  for (const v1::Device& device : welcome.devices()) {
    info.devices.push_back(FromProto(device));
  }
  return info;
}

Position FromProto(const v1::QueuePosition& position) {
  return {position.queue(), position.value()};
}

CoreRange FromProto(const v1::CoreRange& range) {
  return {range.x0(), range.y0(), range.x1(), range.y1()};
}

Coordinate FromProto(const v1::Coordinate& coordinate) { return {coordinate.x(), coordinate.y()}; }

EthernetLink FromProto(const v1::EthernetLink& link) {
  EthernetLink out{.channel = link.channel(),
                   .state = EnumOf<LinkState>(link.state()),
                   .retrains = link.retrains(),
                   .firmware_version = link.firmware_version()};
  if (link.has_peer()) {
    out.peer = LinkPeer{link.peer().board(), link.peer().asic(), link.peer().channel(),
                        link.peer().asic_location()};
  }
  return out;
}

DeviceInfo FromProto(const v1::Device& device) {
  std::vector<DramBank> banks;
  for (const v1::DramBank& bank : device.banks()) {
    banks.push_back({FromProto(bank.port()), FromProto(bank.nearest_worker())});
  }
  std::vector<EthernetLink> links;
  for (const v1::EthernetLink& link : device.links()) links.push_back(FromProto(link));
  std::vector<Neighbour> neighbours;
  for (const v1::Neighbour& one : device.neighbours()) {
    neighbours.push_back({one.channel(), one.device(), one.peer_channel(), one.system()});
  }
  return {.index = device.index(),
          .board = device.board(),
          .backend = EnumOf<Backend>(device.backend()),
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
          .iommu = device.iommu(),
          .l1_base = device.l1_base(),
          .dram_base = device.dram_base(),
          .dram_bank_size = device.dram_bank_size(),
          .worker_x = {device.worker_x().begin(), device.worker_x().end()},
          .worker_y = {device.worker_y().begin(), device.worker_y().end()},
          .banks = std::move(banks),
          .links = std::move(links),
          .board_id = device.board_id(),
          .asic_id = device.asic_id(),
          .behind = device.has_behind() ? std::optional(device.behind()) : std::nullopt,
          .neighbours = std::move(neighbours)};
}

Limits FromProto(const v1::Limits& limits) {
  const auto unless_unset = [](bool set, uint64_t value) {
    return set ? std::optional<uint64_t>(value) : std::nullopt;
  };
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
          .idle_ms = unless_unset(limits.has_idle_ms(), limits.idle_ms()),
          .lease_ms = unless_unset(limits.has_lease_ms(), limits.lease_ms()),
          .lease_idle_ms = unless_unset(limits.has_lease_idle_ms(), limits.lease_idle_ms()),
          .lease_wait_ms = limits.lease_wait_ms(),
          .weight = limits.weight(),
          .priority = FromProto(limits.priority()),
          .command_bytes = limits.command_bytes(),
          .nested_messages = limits.nested_messages(),
          .unacknowledged_bytes = limits.unacknowledged_bytes(),
          .reconnect_timeout_ms = limits.reconnect_timeout_ms()};
}

Priority FromProto(v1::Priority priority) {
  return priority == v1::PRIORITY_UNSPECIFIED ? Priority::kNormal : EnumOf<Priority>(priority);
}

v1::Priority ToProto(Priority priority) { return static_cast<v1::Priority>(priority); }

SessionClient FromProto(const v1::SessionClient& client) {
  SessionClient out{.session = client.session(),
                    .client_name = client.client_name(),
                    .user = client.user(),
                    .uid = client.uid(),
                    .pid = {}};
  if (client.has_pid()) {
    out.pid = client.pid();
  }
  return out;
}

std::vector<SessionClient> ListFromProto(
    const google::protobuf::RepeatedPtrField<v1::SessionClient>& clients) {
  std::vector<SessionClient> out;
  for (const v1::SessionClient& client : clients) {
    out.push_back(FromProto(client));
  }
  return out;
}

LeaseWait FromProto(const v1::LeaseWait& wait) {
  return {wait.position(), ListFromProto(wait.holders()), wait.more_holders(),
          std::chrono::milliseconds(wait.expected_wait_ms())};
}

void ToProto(Position position, v1::QueuePosition* proto) {
  proto->set_queue(position.queue);
  proto->set_value(position.value);
}

KernelPrint FromProto(const v1::KernelPrint& print) {
  return {.position = {print.queue(), print.value()},
          .launch = print.launch(),
          .kernel = print.kernel(),
          .core = {print.x(), print.y()},
          .processor = EnumOf<Processor>(print.processor()),
          .text = print.text(),
          .lost = print.lost()};
}

void ToProto(const LinkPlace& place, v1::LinkPlace* out) {
  out->set_device(place.device);
  out->set_channel(place.channel);
  out->set_x(place.worker.x);
  out->set_y(place.worker.y);
  out->set_end(place.end);
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
    out->set_callable(use.callable);
    out->set_configured(use.configured);
    for (const CoreRange& range : use.cores) {
      ToProto(range, out->add_cores());
    }
  }
  for (const ProgramBuilder::CircularBuffer& use : builder.circular_buffers()) {
    v1::CircularBuffer* out = proto->add_circular_buffers();
    out->set_index(use.index);
    out->set_pages(use.pages);
    out->set_page_bytes(use.page_bytes);
    for (const CoreRange& range : use.cores) {
      ToProto(range, out->add_cores());
    }
    out->set_format(static_cast<v1::DataFormat>(use.format));
    if (use.buffer) {
      out->set_buffer(*use.buffer);
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

void ToProto(const DramOptions& options, v1::Allocate* proto) {
  proto->set_page_bytes(options.page_bytes);
  if (options.bank < 0) {
    proto->mutable_dram();
  } else {
    proto->set_dram_bank(static_cast<uint32_t>(options.bank));
  }
}

void ToProto(const L1Options& options, v1::Allocate* proto) {
  proto->set_page_bytes(options.page_bytes);
  v1::Interleaved* l1 = proto->mutable_l1();
  for (const CoreRange& range : options.cores) {
    ToProto(range, l1->add_cores());
  }
}

void ToProto(const ShardOptions& options, v1::Allocate* proto) {
  proto->set_page_bytes(options.page_bytes);
  v1::Sharded* sharded = proto->mutable_l1_sharded();
  for (const CoreRange& range : options.cores) {
    ToProto(range, sharded->add_cores());
  }
  sharded->set_row_pages(options.row_pages);
  sharded->set_shard_rows(options.shard_rows);
  sharded->set_shard_row_pages(options.shard_row_pages);
}

void ToProto(const LaunchRequest& launch, v1::Launch* proto) {
  proto->set_program(launch.program());
  if (launch.timeout_ms()) {
    proto->set_timeout_ms(*launch.timeout_ms());
  }
  for (const LaunchRequest::Arguments& arguments : launch.arguments()) {
    if (HasWords(arguments)) {
      ToProto(arguments, proto->add_arguments());
    }
  }
}

void ToProto(const ReplayRequest& replay, v1::ReplayTrace* proto) {
  proto->set_trace(replay.trace());
  for (const ReplayRequest::KernelPatch& patch : replay.patches()) {
    if (!HasWords(patch.arguments)) {
      continue;
    }
    v1::TracePatch* out = proto->add_patches();
    out->set_launch(patch.launch);
    ToProto(patch.arguments, out->mutable_arguments());
  }
}

}  // namespace ttfd::client
