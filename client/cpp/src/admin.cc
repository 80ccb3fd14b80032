// The admin and health services, one blocking call each.
#include "ttfd/admin.h"

#include <grpcpp/client_context.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include "client/cpp/src/convert.h"
#include "client/cpp/src/grpc_status.h"
#include "client/cpp/src/options.h"
#include "ttfd/v1/admin.grpc.pb.h"
#include "ttfd/v1/ttfd.grpc.pb.h"

namespace ttfd::client {

struct Admin::Impl {
  std::string address;
  std::chrono::milliseconds timeout;
  Status problem;  // why the channel cannot work
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Admin::Stub> stub;

  Status End(const grpc::Status& status, const grpc::ClientContext& context) const {
    return !status.ok() && !problem.ok() ? problem : FromGrpc(status, context, address);
  }
};

namespace {

// Beyond the time a drain may take: for the answer to arrive.
constexpr std::chrono::seconds kAnswerTimeout{10};
// A reset boots the card again.
constexpr std::chrono::seconds kResetTimeout{120};

// Beyond the time of a profile, which may be the daemon's default: for the answer to arrive.
constexpr std::chrono::seconds kProfileTimeout{30};

void SetDeadline(grpc::ClientContext* context, std::chrono::milliseconds timeout) {
  context->set_deadline(std::chrono::system_clock::now() + timeout);
}

Timeouts FromProto(const v1::Timeouts& timeouts) {
  return {timeouts.operation_ms(), timeouts.kernel_ms(), timeouts.start_ms(),
          timeouts.stalled_client_ms()};
}

template <typename Reader>
void ReadSteps(Reader* reader, const Admin::ProgressCallback& progress) {
  v1::Progress step;
  while (reader->Read(&step)) {
    if (progress) {
      progress({step.step(), step.left(), step.done()});
    }
  }
}

DaemonStatus FromProto(const v1::GetStatusResponse& response) {
  DaemonStatus status{.version = response.version(),
                      .state = response.state(),
                      .uptime_ms = response.uptime_ms(),
                      .devices = {},
                      .sessions = response.sessions(),
                      .last_hang_report = response.last_hang_report(),
                      .last_error = response.last_error(),
                      .commands_completed = response.commands_completed(),
                      .launches_completed = response.launches_completed(),
                      .bytes_written = response.bytes_written(),
                      .bytes_read = response.bytes_read(),
                      .memory = {},
                      .harts = {},
                      .device_resets = response.device_resets(),
                      .hardware_queues = {},
                      .quantum_ns = response.quantum_ns()};
  for (const v1::Device& device : response.devices()) {
    status.devices.push_back(client::FromProto(device));
  }
  for (const v1::MemoryUse& use : response.memory()) {
    status.memory.push_back(
        {use.kind(), use.used_bytes(), use.total_bytes(), use.largest_free_bytes()});
  }
  for (const v1::HartState& hart : response.harts()) {
    status.harts.push_back({hart.where(), hart.waypoint(), hart.progress(), hart.text()});
  }
  for (const v1::HardwareQueue& queue : response.hardware_queues()) {
    status.hardware_queues.push_back(
        {queue.index(), queue.in_flight(), queue.completed(), queue.waiting(), queue.device_ns()});
  }
  return status;
}

SessionInfo FromProto(const v1::SessionInfo& info) {
  SessionInfo out{.session = info.session(),
                  .client_name = info.client_name(),
                  .uid = info.uid(),
                  .pid = info.pid(),
                  .user = info.user(),
                  .state = info.state(),
                  .dram_bytes = info.dram_bytes(),
                  .l1_bytes = info.l1_bytes(),
                  .device_ns = info.device_ns(),
                  .connected_ms = info.connected_ms(),
                  .handles = info.handles(),
                  .lease = info.lease(),
                  .submitted = {},
                  .completed = {},
                  .weight = info.weight(),
                  .priority = client::FromProto(info.priority()),
                  .launches = info.launches(),
                  .bytes_written = info.bytes_written(),
                  .bytes_read = info.bytes_read(),
                  .waits = {info.waits().count(), info.waits().total_ns(), info.waits().p50_ns(),
                            info.waits().p99_ns(), info.waits().max_ns()},
                  .longest_work_ns = info.longest_work_ns(),
                  .hangs = info.hangs(),
                  .suspended = info.suspended()};
  for (const v1::QueuePosition& position : info.submitted()) {
    out.submitted.push_back(client::FromProto(position));
  }
  for (const v1::QueuePosition& position : info.completed()) {
    out.completed.push_back(client::FromProto(position));
  }
  return out;
}

}  // namespace

Admin::Admin(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Admin::Admin(Admin&&) noexcept = default;
Admin& Admin::operator=(Admin&&) noexcept = default;
Admin::~Admin() = default;

Admin Admin::Connect(const std::string& address, std::chrono::milliseconds timeout,
                     const TlsOptions& tls) {
  auto impl = std::make_unique<Impl>();
  impl->address = ResolveAddress(address);
  impl->timeout = timeout;
  impl->channel = MakeChannel(impl->address, tls, &impl->problem);
  impl->stub = v1::Admin::NewStub(impl->channel);
  return Admin(std::move(impl));
}

// The health service's two messages hold one field each: HealthCheckRequest.service (string, 1) and
// HealthCheckResponse.status (enum, 1). Debian ships no .proto of them.
Result<std::string> Admin::Health(const std::string& service) {
  constexpr size_t kMaxServiceBytes = 127;  // whose length fits one byte
  if (service.size() > kMaxServiceBytes) {
    return Status(Code::kInvalidArgument, "a service name has at most 127 characters");
  }
  std::string encoded;
  if (!service.empty()) {
    encoded = std::string{'\x0a', static_cast<char>(service.size())} + service;
  }
  const grpc::Slice slice(encoded);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                         grpc::internal::RpcMethod::NORMAL_RPC, impl_->channel);
  const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer,
                                                                grpc::ByteBuffer, grpc::ByteBuffer>(
      impl_->channel.get(), method, &context, request, &response);
  if (!status.ok()) {
    return impl_->End(status, context);
  }
  grpc::Slice answer;
  if (!response.TrySingleSlice(&answer).ok() || answer.size() < 2) {
    return std::string("UNKNOWN");
  }
  static constexpr const char* kNames[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  const uint8_t state = answer.begin()[1];
  return std::string(state < std::size(kNames) ? kNames[state] : kNames[0]);
}

Result<std::vector<DeviceInfo>> Admin::ListDevices(Limits* limits) {
  const std::unique_ptr<v1::Ttfd::Stub> stub = v1::Ttfd::NewStub(impl_->channel);
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::ListDevicesResponse response;
  const grpc::Status status = stub->ListDevices(&context, v1::ListDevicesRequest(), &response);
  if (!status.ok()) {
    return impl_->End(status, context);
  }
  std::vector<DeviceInfo> devices;
  for (const v1::Device& device : response.devices()) {
    devices.push_back(client::FromProto(device));
  }
  if (limits != nullptr) {
    *limits = client::FromProto(response.limits());
  }
  return devices;
}

Result<DaemonStatus> Admin::GetStatus() {
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::GetStatusResponse response;
  const grpc::Status status = impl_->stub->GetStatus(&context, v1::GetStatusRequest(), &response);
  if (!status.ok()) {
    return impl_->End(status, context);
  }
  return FromProto(response);
}

Result<std::vector<SessionInfo>> Admin::ListSessions() {
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::ListSessionsResponse response;
  const grpc::Status status =
      impl_->stub->ListSessions(&context, v1::ListSessionsRequest(), &response);
  if (!status.ok()) {
    return impl_->End(status, context);
  }
  std::vector<SessionInfo> sessions;
  for (const v1::SessionInfo& info : response.sessions()) {
    sessions.push_back(FromProto(info));
  }
  return sessions;
}

Result<std::vector<LeaseInfo>> Admin::ListLeases() {
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::ListLeasesResponse response;
  const grpc::Status status = impl_->stub->ListLeases(&context, v1::ListLeasesRequest(), &response);
  if (!status.ok()) {
    return FromGrpc(status, context, impl_->address);
  }
  std::vector<LeaseInfo> leases;
  for (const v1::LeaseInfo& from : response.leases()) {
    LeaseInfo& to = leases.emplace_back();
    to.lease = from.lease();
    to.state = from.state();
    to.session = from.session();
    to.client_name = from.client_name();
    to.user = from.user();
    to.uid = from.uid();
    to.pid = from.pid();
    for (const v1::CoreRange& range : from.workers()) {
      to.workers.push_back({range.x0(), range.y0(), range.x1(), range.y1()});
    }
    to.sessions = from.sessions();
    to.since_ms = from.since_ms();
    to.left_ms = from.left_ms();
    to.position = from.position();
    to.holder = from.holder();
    to.expected_wait_ms = from.expected_wait_ms();
  }
  return leases;
}

Result<LimitsReport> Admin::GetLimits() {
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::GetLimitsResponse response;
  const grpc::Status status = impl_->stub->GetLimits(&context, v1::GetLimitsRequest(), &response);
  if (!status.ok()) {
    return FromGrpc(status, context, impl_->address);
  }
  LimitsReport report;
  for (const v1::LimitInfo& limit : response.limits()) {
    report.limits.push_back({limit.name(), limit.value(), limit.of(), limit.text()});
  }
  for (const v1::LimitUses& from : response.uses()) {
    LimitUses& to = report.uses.emplace_back();
    to.session = from.session();
    to.uid = from.uid();
    to.user = from.user();
    to.client_name = from.client_name();
    for (const v1::LimitUse& use : from.uses()) {
      to.uses.push_back({use.name(), use.value(), use.used()});
    }
  }
  return report;
}

Result<Timeouts> Admin::GetTimeouts(uint64_t session) {
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::GetTimeoutsRequest request;
  request.set_session(session);
  v1::Timeouts response;
  const grpc::Status status = impl_->stub->GetTimeouts(&context, request, &response);
  if (!status.ok()) {
    return impl_->End(status, context);
  }
  return FromProto(response);
}

Result<Timeouts> Admin::SetTimeouts(const Timeouts& timeouts, uint64_t session) {
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::SetTimeoutsRequest request;
  request.set_session(session);
  request.mutable_timeouts()->set_operation_ms(timeouts.operation_ms);
  request.mutable_timeouts()->set_kernel_ms(timeouts.kernel_ms);
  request.mutable_timeouts()->set_start_ms(timeouts.start_ms);
  request.mutable_timeouts()->set_stalled_client_ms(timeouts.stalled_client_ms);
  v1::Timeouts response;
  const grpc::Status status = impl_->stub->SetTimeouts(&context, request, &response);
  if (!status.ok()) {
    return impl_->End(status, context);
  }
  return FromProto(response);
}

Status Admin::EndSession(uint64_t session, const std::string& reason) {
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::EndSessionRequest request;
  request.set_session(session);
  request.set_reason(reason);
  v1::EndSessionResponse response;
  return impl_->End(impl_->stub->EndSession(&context, request, &response), context);
}

Status Admin::SetLogLevel(const std::string& level) {
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::SetLogLevelRequest request;
  request.set_level(level);
  v1::SetLogLevelResponse response;
  return impl_->End(impl_->stub->SetLogLevel(&context, request, &response), context);
}

Status Admin::Drain(std::chrono::milliseconds within, const ProgressCallback& progress) {
  grpc::ClientContext context;
  SetDeadline(&context, within + kAnswerTimeout);
  v1::DrainRequest request;
  request.set_within_ms(static_cast<uint32_t>(within.count()));
  const auto reader = impl_->stub->Drain(&context, request);
  ReadSteps(reader.get(), progress);
  return impl_->End(reader->Finish(), context);
}

Status Admin::ResetDevice(uint32_t device, const ProgressCallback& progress) {
  grpc::ClientContext context;
  SetDeadline(&context, kResetTimeout);
  v1::ResetDeviceRequest request;
  request.set_device(device);
  const auto reader = impl_->stub->ResetDevice(&context, request);
  ReadSteps(reader.get(), progress);
  return impl_->End(reader->Finish(), context);
}

Result<ProfileSummary> Admin::Profile(const ProfileOptions& options,
                                      const std::function<void(const std::string&)>& folded) {
  grpc::ClientContext context;
  SetDeadline(&context, options.duration + kProfileTimeout);
  v1::ProfileRequest request;
  request.set_duration_ms(static_cast<uint32_t>(options.duration.count()));
  request.set_interval_clocks(options.interval_clocks);
  request.set_interval_us(options.interval_us);
  request.set_program_counters(options.program_counters);
  request.set_idle(options.idle);
  for (const CoreRange& range : options.cores) {
    v1::CoreRange* const core = request.add_cores();
    core->set_x0(range.x0);
    core->set_y0(range.y0);
    core->set_x1(range.x1);
    core->set_y1(range.y1);
  }
  const auto reader = impl_->stub->Profile(&context, request);
  ProfileSummary summary;
  v1::ProfilePart part;
  while (reader->Read(&part)) {
    if (!part.folded().empty()) {
      folded(part.folded());
    }
    if (part.has_summary()) {
      summary = {part.summary().samples(), part.summary().lost(), part.summary().whole_stacks(),
                 part.summary().interval_clocks()};
    }
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) {
    return impl_->End(status, context);
  }
  return summary;
}

Result<std::vector<HangReportInfo>> Admin::ListHangReports() {
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::ListHangReportsResponse response;
  const grpc::Status status = impl_->stub->ListHangReports(&context, {}, &response);
  if (!status.ok()) {
    return FromGrpc(status, context, impl_->address);
  }
  std::vector<HangReportInfo> reports;
  for (const v1::HangReportInfo& report : response.reports()) {
    reports.push_back({report.report(), report.headline(), report.text(), report.blamed(),
                       report.bytes(), report.complete()});
  }
  return reports;
}

Status Admin::ResumeSession(uint64_t session) {
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::ResumeSessionRequest request;
  request.set_session(session);
  v1::ResumeSessionResponse response;
  return FromGrpc(impl_->stub->ResumeSession(&context, request, &response), context,
                  impl_->address);
}

Status Admin::GetHangReport(
    const std::string& report,
    const std::function<void(const std::string&, const std::string&)>& part) {
  grpc::ClientContext context;
  SetDeadline(&context, impl_->timeout);
  v1::GetHangReportRequest request;
  request.set_report(report);
  const auto reader = impl_->stub->GetHangReport(&context, request);
  v1::FilePart piece;
  while (reader->Read(&piece)) {
    part(piece.name(), piece.payload());
  }
  return impl_->End(reader->Finish(), context);
}

}  // namespace ttfd::client
