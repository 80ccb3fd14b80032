// The admin, device and health services, one blocking call each.
#include "ttfd/admin.h"

#include <grpcpp/client_context.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include <utility>

#include "client/cpp/src/admin_convert.h"
#include "client/cpp/src/convert.h"
#include "client/cpp/src/grpc_status.h"
#include "client/cpp/src/options.h"
#include "ttfd/v1/admin.grpc.pb.h"
#include "ttfd/v1/ttfd.grpc.pb.h"

namespace ttfd::client {
namespace {

using Deadline = std::chrono::system_clock::time_point;

// For the daemon's answer, beyond the time a drain or a profile may take.
constexpr std::chrono::seconds kDrainAnswerTimeout{10};
constexpr std::chrono::seconds kProfileAnswerTimeout{30};
constexpr std::chrono::seconds kProfileDuration{5};  // when none is given
// A reset boots the card.
constexpr std::chrono::seconds kResetTimeout{120};
// Limits of a list: entries of a page, which is the daemon's limit, and pages.
constexpr uint32_t kPageSize = 1000;
constexpr int kMaxPages = 1000;

Deadline After(std::chrono::milliseconds timeout) {
  return std::chrono::system_clock::now() + timeout;
}

template <typename Reader>
void ReadSteps(Reader* reader, const Admin::ProgressCallback& progress) {
  v1::Progress step;
  while (reader->Read(&step)) {
    if (progress) {
      progress(FromProto(step));
    }
  }
}

}  // namespace

struct Admin::Impl {
  std::string address;
  std::chrono::milliseconds timeout;
  Status problem;  // why the channel cannot work
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::AdminService::Stub> stub;

  Status End(const grpc::Status& status) const {
    return !status.ok() && !problem.ok() ? problem : FromGrpc(status, address);
  }

  // One call of a method of `service`.
  template <typename Service, typename Request, typename Response>
  Status Call(Service* service,
              grpc::Status (Service::*method)(grpc::ClientContext*, const Request&, Response*),
              const Request& request, Response* response, Deadline deadline) {
    grpc::ClientContext context;
    context.set_deadline(deadline);
    return End((service->*method)(&context, request, response));
  }
  template <typename Request, typename Response>
  Status Call(grpc::Status (v1::AdminService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
              const Request& request, Response* response) {
    return Call(stub.get(), method, request, response, After(timeout));
  }
  // All pages of a list, each given to `use`.
  template <typename Request, typename Response, typename Use>
  Status EachPage(grpc::Status (v1::AdminService::Stub::*method)(grpc::ClientContext*,
                                                                 const Request&, Response*),
                  Use&& use) {
    const Deadline deadline = After(timeout);
    Request request;
    request.set_page_size(kPageSize);
    for (int page = 0; page < kMaxPages; ++page) {
      Response response;
      if (Status status = Call(stub.get(), method, request, &response, deadline); !status.ok()) {
        return status;
      }
      use(response);
      if (response.next_page_token().empty()) {
        return Status();
      }
      request.set_page_token(response.next_page_token());
    }
    return Status(Code::kResourceExhausted,
                  "the daemon's list has more than " + std::to_string(kMaxPages) + " pages");
  }
};

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
  impl->stub = v1::AdminService::NewStub(impl->channel);
  return Admin(std::move(impl));
}

// The health service's two messages hold one field each: HealthCheckRequest.service (string, 1) and
// HealthCheckResponse.status (enum, 1). Debian ships no .proto of them.
Result<std::string> Admin::Health(const std::string& service) {
  constexpr size_t kMaxServiceBytes = 127;  // whose length fits one byte
  if (service.size() > kMaxServiceBytes) {
    return Status(Code::kInvalidArgument, "a service name has at most 127 bytes, this one has " +
                                              std::to_string(service.size()));
  }
  std::string encoded;
  if (!service.empty()) {
    encoded = std::string{'\x0a', static_cast<char>(service.size())} + service;
  }
  const grpc::Slice slice(encoded);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::ClientContext context;
  context.set_deadline(After(impl_->timeout));
  const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                         grpc::internal::RpcMethod::NORMAL_RPC, impl_->channel);
  const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer,
                                                                grpc::ByteBuffer, grpc::ByteBuffer>(
      impl_->channel.get(), method, &context, request, &response);
  if (!status.ok()) {
    return impl_->End(status);
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
  const auto stub = v1::DeviceService::NewStub(impl_->channel);
  v1::ListDevicesResponse response;
  const Status status = impl_->Call(stub.get(), &v1::DeviceService::Stub::ListDevices,
                                    v1::ListDevicesRequest(), &response, After(impl_->timeout));
  if (!status.ok()) {
    return status;
  }
  std::vector<DeviceInfo> devices;
  for (const v1::Device& device : response.devices()) {
    devices.push_back(FromProto(device));
  }
  if (limits != nullptr) {
    *limits = FromProto(response.limits());
  }
  return devices;
}

Result<DaemonStatus> Admin::GetStatus() {
  v1::DaemonStatus response;
  const Status status =
      impl_->Call(&v1::AdminService::Stub::GetStatus, v1::GetStatusRequest(), &response);
  return status.ok() ? Result<DaemonStatus>(FromProto(response)) : Result<DaemonStatus>(status);
}

Status Admin::WatchStatus(std::chrono::milliseconds interval, std::chrono::milliseconds duration,
                          const std::function<bool(const DaemonStatus&)>& changed) {
  grpc::ClientContext context;
  context.set_deadline(After(duration));
  v1::WatchStatusRequest request;
  request.set_interval_ms(Milliseconds(interval));
  const auto reader = impl_->stub->WatchStatus(&context, request);
  v1::DaemonStatus status;
  bool received = false;
  bool stopped = false;
  while (!stopped && reader->Read(&status)) {
    received = true;
    stopped = !changed(FromProto(status));
  }
  if (stopped) {
    context.TryCancel();
  }
  const grpc::Status end = reader->Finish();
  const bool over = received && end.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  return stopped || over ? Status() : impl_->End(end);
}

Result<std::vector<SessionInfo>> Admin::ListSessions() {
  std::vector<SessionInfo> sessions;
  const Status status =
      impl_->EachPage(&v1::AdminService::Stub::ListSessions, [&](const auto& page) {
        for (const v1::SessionInfo& info : page.sessions()) {
          sessions.push_back(FromProto(info));
        }
      });
  return status.ok() ? Result<std::vector<SessionInfo>>(std::move(sessions)) : status;
}

Result<std::vector<LeaseInfo>> Admin::ListLeases() {
  std::vector<LeaseInfo> leases;
  const Status status = impl_->EachPage(&v1::AdminService::Stub::ListLeases, [&](const auto& page) {
    for (const v1::LeaseInfo& info : page.leases()) {
      leases.push_back(FromProto(info));
    }
  });
  return status.ok() ? Result<std::vector<LeaseInfo>>(std::move(leases)) : status;
}

Result<LimitsReport> Admin::GetLimits() {
  LimitsReport report;
  const Status status = impl_->EachPage(&v1::AdminService::Stub::GetLimits, [&](const auto& page) {
    for (const v1::LimitInfo& limit : page.limits()) {
      report.limits.push_back(FromProto(limit));
    }
    for (const v1::LimitUsage& usage : page.usage()) {
      report.usage.push_back(FromProto(usage));
    }
  });
  return status.ok() ? Result<LimitsReport>(std::move(report)) : status;
}

Result<Timeouts> Admin::GetTimeouts(std::optional<uint64_t> session) {
  v1::GetTimeoutsRequest request;
  if (session) {
    request.set_session(*session);
  }
  v1::Timeouts response;
  const Status status = impl_->Call(&v1::AdminService::Stub::GetTimeouts, request, &response);
  return status.ok() ? Result<Timeouts>(FromProto(response)) : status;
}

Result<Timeouts> Admin::SetTimeouts(const Timeouts& timeouts, std::optional<uint64_t> session) {
  v1::SetTimeoutsRequest request;
  if (session) {
    request.set_session(*session);
  }
  ToProto(timeouts, request.mutable_timeouts());
  v1::Timeouts response;
  const Status status = impl_->Call(&v1::AdminService::Stub::SetTimeouts, request, &response);
  return status.ok() ? Result<Timeouts>(FromProto(response)) : status;
}

Status Admin::TerminateSession(uint64_t session, const std::string& reason) {
  v1::TerminateSessionRequest request;
  request.set_session(session);
  request.set_reason(reason);
  v1::TerminateSessionResponse response;
  return impl_->Call(&v1::AdminService::Stub::TerminateSession, request, &response);
}

Status Admin::ReleaseSession(uint64_t session) {
  v1::ReleaseSessionRequest request;
  request.set_session(session);
  v1::ReleaseSessionResponse response;
  return impl_->Call(&v1::AdminService::Stub::ReleaseSession, request, &response);
}

Status Admin::SetLogLevel(LogLevel level) {
  v1::SetLogLevelRequest request;
  request.set_level(static_cast<v1::LogLevel>(level));
  v1::SetLogLevelResponse response;
  return impl_->Call(&v1::AdminService::Stub::SetLogLevel, request, &response);
}

Status Admin::Drain(std::chrono::milliseconds within, const ProgressCallback& progress) {
  grpc::ClientContext context;
  context.set_deadline(After(within + kDrainAnswerTimeout));
  v1::DrainRequest request;
  request.set_within_ms(Milliseconds(within));
  const auto reader = impl_->stub->Drain(&context, request);
  ReadSteps(reader.get(), progress);
  return impl_->End(reader->Finish());
}

Status Admin::Undrain() {
  v1::UndrainResponse response;
  return impl_->Call(&v1::AdminService::Stub::Undrain, v1::UndrainRequest(), &response);
}

Status Admin::ResetDevice(uint32_t device, const ProgressCallback& progress) {
  grpc::ClientContext context;
  context.set_deadline(After(kResetTimeout));
  v1::ResetDeviceRequest request;
  request.set_device(device);
  const auto reader = impl_->stub->ResetDevice(&context, request);
  ReadSteps(reader.get(), progress);
  return impl_->End(reader->Finish());
}

Result<ProfileSummary> Admin::Profile(const ProfileOptions& options,
                                      const std::function<void(const std::string&)>& folded) {
  grpc::ClientContext context;
  context.set_deadline(After(options.duration.value_or(kProfileDuration) + kProfileAnswerTimeout));
  v1::ProfileRequest request;
  request.set_device(options.device);
  if (options.duration) {
    request.set_duration_ms(Milliseconds(*options.duration));
  }
  if (options.interval_clocks) {
    request.set_interval_clocks(*options.interval_clocks);
  }
  if (options.interval_us) {
    request.set_interval_us(*options.interval_us);
  }
  request.set_program_counters(options.program_counters);
  request.set_idle(options.idle);
  for (const CoreRange& range : options.cores) {
    ToProto(range, request.add_cores());
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
  const Status status = impl_->End(reader->Finish());
  return status.ok() ? Result<ProfileSummary>(summary) : status;
}

Result<std::vector<HangReportInfo>> Admin::ListHangReports() {
  std::vector<HangReportInfo> reports;
  const Status status =
      impl_->EachPage(&v1::AdminService::Stub::ListHangReports, [&](const auto& page) {
        for (const v1::HangReportInfo& info : page.reports()) {
          reports.push_back(FromProto(info));
        }
      });
  return status.ok() ? Result<std::vector<HangReportInfo>>(std::move(reports)) : status;
}

Status Admin::GetHangReport(
    const std::optional<std::string>& report,
    const std::function<void(const std::string&, const std::string&)>& part) {
  grpc::ClientContext context;
  context.set_deadline(After(impl_->timeout));
  v1::GetHangReportRequest request;
  if (report) {
    request.set_report(*report);
  }
  const auto reader = impl_->stub->GetHangReport(&context, request);
  v1::FilePart piece;
  while (reader->Read(&piece)) {
    part(piece.name(), piece.payload());
  }
  return impl_->End(reader->Finish());
}

}  // namespace ttfd::client
