// Admin, health and reflection over a real connection.
#include <gmock/gmock.h>
#include <grp.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <thread>

#include "tests/support/rpc_test_server.h"

namespace ttfd::rpc_admin_test {
namespace {

using Code = grpc::StatusCode;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kServing = {1 << 3, 1};
const std::string kNotServing = {1 << 3, 2};

// Length-delimited fields by hand: Debian ships no generated code of health and reflection.
std::string Field(int number, const std::string& value) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(value.size()) +
         value;
}

grpc::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                     const std::string& request, std::string* response) {
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  grpc::Slice slice(request);
  grpc::ByteBuffer buffer(&slice, 1);
  grpc::ByteBuffer answer;
  grpc::Status status;
  const auto call = stub.PrepareUnaryCall(&context, method, buffer, &queue);
  call->StartCall();
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  grpc::Slice whole;
  if (status.ok() && answer.DumpToSingleSlice(&whole).ok()) {
    response->assign(reinterpret_cast<const char*>(whole.begin()), whole.size());
  }
  return status;
}

std::string Health(RpcTestServer& server, const std::string& service) {
  std::string response;
  const grpc::Status status = CallRaw(server.Connect(), "/grpc.health.v1.Health/Check",
                                      service.empty() ? "" : Field(1, service), &response);
  return status.ok() ? response : std::to_string(status.error_code());
}

TEST(RpcAdmin, StatusShowsDeviceMemoryAndPipeline) {
  RpcTestServer server;
  grpc::ClientContext context;
  v1::DaemonStatus response;
  ASSERT_TRUE(server.Admin()->GetStatus(&context, {}, &response).ok());
  EXPECT_EQ(response.state(), v1::DAEMON_STATE_READY);
  ASSERT_EQ(response.devices_size(), 1);
  const v1::DeviceStatus& device = response.devices(0);
  EXPECT_EQ(device.memory(0).kind(), v1::MEMORY_KIND_DRAM);
  EXPECT_EQ(device.device().board(), "p150");
  EXPECT_EQ(device.memory(0).total_bytes(), 2u);
  EXPECT_EQ(device.harts(0).progress(), 7u);
  EXPECT_EQ(device.reading_age_ms(), 0u);
  EXPECT_TRUE(device.has_reading_age_ms());
}

TEST(RpcAdmin, LeasesAreListed) {
  RpcTestServer server;
  grpc::ClientContext context;
  v1::ListLeasesResponse response;
  ASSERT_TRUE(server.Admin()->ListLeases(&context, {}, &response).ok());
  ASSERT_EQ(response.leases_size(), 1);
  const v1::LeaseInfo& lease = response.leases(0);
  EXPECT_EQ(lease.state(), v1::LEASE_STATE_WAITING);
  EXPECT_EQ(lease.client_name(), "suite");
  EXPECT_EQ(lease.workers(0).x1(), 3u);
  EXPECT_EQ(lease.position(), 1u);
  ASSERT_EQ(lease.holders_size(), 1);
  EXPECT_EQ(lease.holders(0).session(), 2u);
  EXPECT_EQ(lease.holders(0).client_name(), "other");
  EXPECT_EQ(lease.holders(0).user(), "bob");
  EXPECT_EQ(lease.holders(0).uid(), 1001u);
  EXPECT_FALSE(lease.holders(0).has_pid()) << "not known";
  EXPECT_EQ(lease.expected_wait_ms(), 1234u);
}

TEST(RpcAdmin, LimitsAreShownWithWhatIsUsed) {
  RpcTestServer server;
  grpc::ClientContext context;
  v1::GetLimitsResponse response;
  ASSERT_TRUE(server.Admin()->GetLimits(&context, {}, &response).ok());
  ASSERT_EQ(response.limits_size(), 3);
  EXPECT_EQ(response.limits(0).name(), "handles");
  EXPECT_EQ(response.limits(0).value(), 9u);
  EXPECT_EQ(response.limits(0).scope(), v1::LIMIT_SCOPE_SESSION);
  EXPECT_EQ(response.limits(1).name(), "connections");
  EXPECT_EQ(response.limits(1).scope(), v1::LIMIT_SCOPE_DAEMON);
  EXPECT_EQ(response.limits(2).name(), "connections_per_user");
  EXPECT_EQ(response.limits(2).value(), PeerTable::Limits().connections_per_user);
  ASSERT_EQ(response.usage_size(), 3);
  EXPECT_EQ(response.usage(0).scope(), v1::LIMIT_SCOPE_DAEMON);
  EXPECT_EQ(response.usage(0).uses(0).name(), "connections");
  EXPECT_EQ(response.usage(0).uses(0).used(), 1u);
  EXPECT_EQ(response.usage(1).scope(), v1::LIMIT_SCOPE_USER);
  EXPECT_EQ(response.usage(1).uid(), geteuid());
  EXPECT_EQ(response.usage(1).uses(0).name(), "connections_per_user");
  EXPECT_EQ(response.usage(1).uses(0).used(), 1u);
  EXPECT_EQ(response.usage(2).session(), 3u);
  EXPECT_EQ(response.usage(2).user(), "ann");
  EXPECT_EQ(response.usage(2).uses(0).used(), 4u);
}

TEST(RpcAdmin, SessionsAreListedAndEnded) {
  RpcTestServer server;
  const auto device = server.Device();
  RawCall call(*device);
  ASSERT_TRUE(call.Greet());
  const auto admin = server.Admin();
  {
    grpc::ClientContext context;
    v1::ListSessionsResponse response;
    ASSERT_TRUE(admin->ListSessions(&context, {}, &response).ok());
    ASSERT_EQ(response.sessions_size(), 1);
    EXPECT_EQ(response.sessions(0).client_name(), "raw");
    EXPECT_EQ(response.sessions(0).pid(), static_cast<uint32_t>(getpid()));
    EXPECT_EQ(response.sessions(0).submitted(0).value(), 5u);
  }
  {
    grpc::ClientContext context;
    v1::TerminateSessionRequest request;
    request.set_session(1);
    request.set_reason("maintenance");
    v1::TerminateSessionResponse response;
    ASSERT_TRUE(admin->TerminateSession(&context, request, &response).ok());
  }
  const grpc::Status status = call.End();
  EXPECT_EQ(status.error_code(), Code::ABORTED);
  EXPECT_EQ(status.error_message(), "ended by an administrator: maintenance");
  {
    grpc::ClientContext context;
    v1::TerminateSessionRequest request;
    request.set_session(77);
    v1::TerminateSessionResponse response;
    EXPECT_EQ(admin->TerminateSession(&context, request, &response).error_code(), Code::NOT_FOUND);
  }
}

TEST(RpcAdmin, TerminateSession_RefusesReasonsThatTerminalsObey) {
  RpcTestServer server;
  const auto admin = server.Admin();
  for (const std::string& reason :
       {std::string("two\nlines"), std::string("\x1B[2J"), std::string(1025, 'x')}) {
    grpc::ClientContext context;
    v1::TerminateSessionRequest request;
    request.set_session(1);
    request.set_reason(reason);
    v1::TerminateSessionResponse response;
    const grpc::Status status = admin->TerminateSession(&context, request, &response);
    EXPECT_EQ(status.error_code(), Code::INVALID_ARGUMENT);
    EXPECT_EQ(ReasonOf(status), "INVALID");
    EXPECT_EQ(MetadataOf(status, "field"), "reason");
  }
}

TEST(RpcAdmin, TimeoutsAreReadAndSetAndTheErrorCarriesItsReason) {
  RpcTestServer server;
  const auto admin = server.Admin();
  {
    grpc::ClientContext context;
    v1::SetTimeoutsRequest request;
    request.mutable_timeouts()->set_operation_ms(1234);
    v1::Timeouts response;
    ASSERT_TRUE(admin->SetTimeouts(&context, request, &response).ok());
    EXPECT_EQ(response.operation_ms(), 1234u);
    EXPECT_EQ(response.kernel_ms(), 2000u);
  }
  grpc::ClientContext context;
  v1::GetTimeoutsRequest request;
  request.set_session(9);
  v1::Timeouts response;
  const grpc::Status status = admin->GetTimeouts(&context, request, &response);
  EXPECT_EQ(status.error_code(), Code::NOT_FOUND);
  EXPECT_EQ(ReasonOf(status), "UNKNOWN_HANDLE");
  EXPECT_EQ(MetadataOf(status, "field"), "session");
}

TEST(RpcAdmin, DrainStreamsProgressAndHealthFollows) {
  RpcTestServer server;
  grpc::ClientContext context;
  v1::DrainRequest request;
  const auto reader = server.Admin()->Drain(&context, request);
  v1::Progress progress;
  bool done = false;
  while (reader->Read(&progress)) done = progress.done();
  EXPECT_TRUE(done);
  EXPECT_EQ(progress.step(), v1::PROGRESS_STEP_DRAINED);
  EXPECT_TRUE(reader->Finish().ok());
}

TEST(RpcAdmin, Undrain_ServesAgain) {
  RpcTestServer server;
  const auto undrain = [&server] {
    grpc::ClientContext context;
    v1::UndrainResponse response;
    return server.Admin()->Undrain(&context, {}, &response);
  };
  EXPECT_EQ(undrain().error_code(), Code::FAILED_PRECONDITION);
  server.daemon().state = DaemonState::kDraining;
  server.server().SetServing(false);
  EXPECT_TRUE(undrain().ok());
  EXPECT_EQ(Health(server, "ttfd.v1.DeviceService"), kServing);
}

TEST(RpcAdmin, WatchStatus_SendsChangesOnly) {
  RpcTestServer server;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  v1::WatchStatusRequest request;
  request.set_interval_ms(100);
  const auto admin = server.Admin();
  const auto reader = admin->WatchStatus(&context, request);
  v1::DaemonStatus status;
  ASSERT_TRUE(reader->Read(&status));
  EXPECT_EQ(status.state(), v1::DAEMON_STATE_READY);
  // Only the change ends this read: the same status is not sent twice.
  std::thread change([&server] {
    std::this_thread::sleep_for(std::chrono::milliseconds(350));
    server.daemon().state = DaemonState::kRecovering;
  });
  ASSERT_TRUE(reader->Read(&status));
  change.join();
  EXPECT_EQ(status.state(), v1::DAEMON_STATE_RECOVERING);
  context.TryCancel();
  while (reader->Read(&status)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), Code::CANCELLED);
}

TEST(RpcAdmin, WatchStatus_RefusesShortIntervals) {
  RpcTestServer server;
  grpc::ClientContext context;
  v1::WatchStatusRequest request;
  request.set_interval_ms(99);
  const auto admin = server.Admin();
  const grpc::Status status = admin->WatchStatus(&context, request)->Finish();
  EXPECT_EQ(status.error_code(), Code::INVALID_ARGUMENT);
  EXPECT_EQ(MetadataOf(status, "field"), "interval_ms");
}

TEST(RpcAdmin, Lists_ReturnEveryEntryOnceInPages) {
  RpcTestServer server;
  const auto device = server.Device();
  std::vector<std::unique_ptr<RawCall>> calls;
  for (int i = 0; i < 5; ++i) {
    calls.push_back(std::make_unique<RawCall>(*device));
    ASSERT_TRUE(calls.back()->Greet());
  }
  const auto admin = server.Admin();
  std::vector<uint64_t> seen;
  v1::ListSessionsRequest request;
  request.set_page_size(2);
  int pages = 0;
  do {
    grpc::ClientContext context;
    v1::ListSessionsResponse response;
    ASSERT_TRUE(admin->ListSessions(&context, request, &response).ok());
    ASSERT_LE(response.sessions_size(), 2);
    for (const v1::SessionInfo& session : response.sessions()) seen.push_back(session.session());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty() && ++pages < 10);
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4, 5));
  grpc::ClientContext context;
  request.set_page_size(1001);
  v1::ListSessionsResponse response;
  EXPECT_EQ(admin->ListSessions(&context, request, &response).error_code(), Code::INVALID_ARGUMENT);
}

TEST(RpcAdmin, ResetEndsWithDoneOrWithWhatWentWrong) {
  RpcTestServer server;
  const auto reset = [&server](uint32_t device, v1::Progress* last) {
    grpc::ClientContext context;
    v1::ResetDeviceRequest request;
    request.set_device(device);
    const auto reader = server.Admin()->ResetDevice(&context, request);
    while (reader->Read(last)) {
    }
    return reader->Finish().error_code();
  };
  v1::Progress last;
  EXPECT_EQ(reset(0, &last), Code::OK);
  EXPECT_TRUE(last.done());
  last.Clear();
  EXPECT_EQ(reset(5, &last), Code::NOT_FOUND);
  EXPECT_EQ(last.step(), v1::PROGRESS_STEP_UNSPECIFIED) << "no step of what is refused";
  server.daemon().reset_result = Error(StatusCode::kUnavailable, "the card does not boot");
  EXPECT_EQ(reset(0, &last), Code::UNAVAILABLE);
  EXPECT_FALSE(last.done());
}

TEST(RpcAdmin, HangReportsAreListedAndSentInParts) {
  RpcTestServer server;
  {
    grpc::ClientContext context;
    v1::ListHangReportsResponse response;
    ASSERT_TRUE(server.Admin()->ListHangReports(&context, {}, &response).ok());
    ASSERT_EQ(response.reports_size(), 1);
    const v1::HangReportInfo& report = response.reports(0);
    EXPECT_EQ(report.report(), "7");
    EXPECT_EQ(report.time_unix_ms(), 1234u);
    EXPECT_EQ(report.reason(), "HANG");
    EXPECT_EQ(report.headline(), "kernel 'spin' hung");
    EXPECT_EQ(report.bytes(), 9u);
    EXPECT_TRUE(report.complete());
    EXPECT_EQ(report.offender().client().session(), 3u);
    EXPECT_EQ(report.offender().client().pid(), 77u);
    EXPECT_EQ(report.offender().position().queue(), 1u);
    EXPECT_EQ(report.offender().position().value(), 12u);
    EXPECT_EQ(report.offender().kernels_size(), 2);
  }
  const auto fetch = [&server](std::optional<std::string> report,
                               std::map<std::string, size_t>* files) {
    grpc::ClientContext context;
    v1::GetHangReportRequest request;
    if (report) request.set_report(*report);
    const auto reader = server.Admin()->GetHangReport(&context, request);
    v1::FilePart part;
    bool ended = false;
    while (reader->Read(&part)) {
      EXPECT_FALSE(ended) << "nothing comes behind the empty part";
      EXPECT_LE(part.payload().size(), 256u * 1024);
      ended = part.payload().empty();
      if (!ended) (*files)[part.name()] += part.payload().size();
    }
    const grpc::Status status = reader->Finish();
    EXPECT_EQ(ended, status.ok());
    return status.error_code();
  };
  std::map<std::string, size_t> files;
  EXPECT_EQ(fetch(std::nullopt, &files), Code::OK);
  EXPECT_EQ(files, (std::map<std::string, size_t>{{"host.json", 2}, {"report.txt", 600'000}}));
  EXPECT_EQ(fetch("20200101T000000Z-000001", &files), Code::NOT_FOUND);
}

TEST(RpcAdmin, Quarantine_IsEndedByRelease) {
  RpcTestServer server;
  const auto release = [&server](uint64_t session) {
    grpc::ClientContext context;
    v1::ReleaseSessionRequest request;
    request.set_session(session);
    v1::ReleaseSessionResponse response;
    return server.Admin()->ReleaseSession(&context, request, &response).error_code();
  };
  EXPECT_EQ(release(1), Code::OK);
  EXPECT_EQ(release(2), Code::FAILED_PRECONDITION);
}

TEST(RpcAdmin, LogLevelsThatAreNoneAreRefused) {
  RpcTestServer server;
  {
    grpc::ClientContext context;
    v1::SetLogLevelRequest request;
    request.set_level(static_cast<v1::LogLevel>(9));
    v1::SetLogLevelResponse response;
    EXPECT_EQ(server.Admin()->SetLogLevel(&context, request, &response).error_code(),
              Code::UNIMPLEMENTED);
  }
  {
    grpc::ClientContext context;
    v1::SetLogLevelRequest request;
    request.set_level(v1::LOG_LEVEL_INFO);
    v1::SetLogLevelResponse response;
    EXPECT_TRUE(server.Admin()->SetLogLevel(&context, request, &response).ok());
  }
}

// Collects what the audit trail of a server says.
struct AuditLines {
  RpcOptions Options() {
    RpcOptions options;
    options.audit.log = [this](const std::string& line) {
      MutexLock lock(&mu);
      lines.push_back(line);
      changed.NotifyAll();
      return true;
    };
    options.audit.unix_ms = [] { return int64_t{1'000}; };
    return options;
  }
  // Once there are `count`: they are written by a thread of their own.
  std::vector<std::string> All(size_t count) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    MutexLock lock(&mu);
    while (lines.size() < count && std::chrono::steady_clock::now() < until) {
      changed.WaitUntil(&mu, until);
    }
    return lines;
  }
  Mutex mu;
  CondVar changed;
  std::vector<std::string> lines;
};

TEST(RpcAdmin, EveryAdminActionLeavesALineThatSaysWhoDidWhatAndHowItEnded) {
  AuditLines audit;
  RpcTestServer server(audit.Options());
  const auto admin = server.Admin();
  {
    grpc::ClientContext context;
    v1::TerminateSessionRequest request;
    request.set_session(77);
    request.set_reason("a \"reason\"");
    v1::TerminateSessionResponse response;
    EXPECT_EQ(admin->TerminateSession(&context, request, &response).error_code(), Code::NOT_FOUND);
  }
  const std::string line = audit.All(1).at(0);
  EXPECT_THAT(line, StartsWith(R"(audit {"time":"1970-01-01T00:00:01.000Z","id":1,)"
                               R"("action":"TerminateSession","outcome":"NOT_FOUND","uid":)"));
  EXPECT_THAT(line, HasSubstr(fmt::format(R"("uid":{},)", geteuid())));
  EXPECT_THAT(line, HasSubstr(fmt::format(R"("pid":{},)", getpid())));
  EXPECT_THAT(line, HasSubstr(R"("arguments":{"session":"77","reason":"a \"reason\""})"));
  {
    grpc::ClientContext context;
    v1::SetTimeoutsRequest request;
    request.mutable_timeouts()->set_kernel_ms(55);
    v1::Timeouts response;
    ASSERT_TRUE(admin->SetTimeouts(&context, request, &response).ok());
  }
  EXPECT_THAT(audit.All(2).at(1), HasSubstr(R"("action":"SetTimeouts","outcome":"OK",)"));
  EXPECT_THAT(audit.All(2).at(1), HasSubstr(R"("arguments":{"timeouts":{"kernel_ms":55}})"));
  {
    grpc::ClientContext context;
    v1::DaemonStatus response;
    ASSERT_TRUE(admin->GetStatus(&context, {}, &response).ok());
  }
  EXPECT_EQ(audit.All(2).size(), 2u) << "looking is no action";
}

TEST(RpcAdmin, ActionsThatTakeTimeLeaveALineAtTheirStartAndOneAtTheirEnd) {
  AuditLines audit;
  RpcTestServer server(audit.Options());
  server.daemon().reset_result = Error(StatusCode::kUnavailable, "the card does not boot");
  const auto admin = server.Admin();
  const auto wait = [](const auto& reader, auto* message) {
    while (reader->Read(message)) {
    }
    reader->Finish();
  };
  {
    grpc::ClientContext context;
    v1::Progress progress;
    wait(admin->ResetDevice(&context, {}), &progress);
  }
  {
    grpc::ClientContext context;
    v1::ProfilePart part;
    wait(admin->Profile(&context, {}), &part);
  }
  {
    grpc::ClientContext context;
    v1::Progress progress;
    wait(admin->Drain(&context, {}), &progress);
  }
  const auto line = [](int id, const char* action, const char* outcome) {
    return HasSubstr(fmt::format(R"("id":{},"action":"{}","outcome":"{}",)", id, action, outcome));
  };
  EXPECT_THAT(audit.All(6),
              ElementsAre(line(1, "ResetDevice", "STARTED"),
                          AllOf(line(1, "ResetDevice", "UNAVAILABLE"), HasSubstr("does not boot")),
                          line(2, "Profile", "STARTED"), line(2, "Profile", "OK"),
                          line(3, "Drain", "STARTED"), line(3, "Drain", "OK")));
}

// Runs in a process of its own, as a user without a role: may use the device, may not administrate.
// Returns how many of its expectations were wrong.
int ExpectNoRole(const std::string& path) {
  const auto channel = grpc::CreateChannel("unix:" + path, grpc::InsecureChannelCredentials());
  const auto admin = v1::AdminService::NewStub(channel);
  int wrong = 0;
  const auto expect_denied = [&wrong](const grpc::Status& status, const std::string& role) {
    const bool named = status.error_message().find(role) != std::string::npos;
    if (status.error_code() != Code::PERMISSION_DENIED || !named) ++wrong;
  };
  {
    grpc::ClientContext context;
    v1::DaemonStatus response;
    expect_denied(admin->GetStatus(&context, {}, &response), "observe");
  }
  {
    grpc::ClientContext context;
    v1::ListSessionsResponse response;
    expect_denied(admin->ListSessions(&context, {}, &response), "observe");
  }
  {
    grpc::ClientContext context;
    v1::TerminateSessionResponse response;
    expect_denied(admin->TerminateSession(&context, {}, &response), "admin");
  }
  {
    grpc::ClientContext context;
    v1::Timeouts response;
    expect_denied(admin->SetTimeouts(&context, {}, &response), "admin");
  }
  {
    grpc::ClientContext context;
    expect_denied(admin->Drain(&context, {})->Finish(), "admin");
  }
  {
    grpc::ClientContext context;
    expect_denied(admin->ResetDevice(&context, {})->Finish(), "admin");
  }
  const auto device = v1::DeviceService::NewStub(channel);
  RawCall call(*device);
  return wrong + (call.Greet() ? 0 : 1);
}

constexpr char kChildFlag[] = "--expect-no-role=";

int AskAsNobody(const std::string& path) {
  constexpr uid_t kNobody = 65534;
  const pid_t child = fork();
  if (child == 0) {
    // gRPC is not usable after fork: the child starts this program anew.
    if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(100);
    execl("/proc/self/exe", "rpc_admin_test", (kChildFlag + path).c_str(), nullptr);
    _exit(101);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 102;
}

TEST(RpcAdmin, RefusesWhoHasNoRole) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  AuditLines audit;
  RpcTestServer server(audit.Options());
  server.OpenToEverybody();
  EXPECT_EQ(AskAsNobody(server.socket_path()), 0);
  EXPECT_EQ(server.daemon().session(1)->peer().uid, 65534u);
  // Six attempts, of which five a second are told.
  const std::vector<std::string> lines = audit.All(5);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[0], HasSubstr(R"("action":"GetStatus","outcome":"PERMISSION_DENIED",)"
                                  R"("uid":65534,"user":"nobody")"));
  EXPECT_THAT(lines[2], HasSubstr(R"("action":"TerminateSession")")) << lines[2];
}

TEST(RpcAdmin, HealthAnswersForEveryService) {
  RpcTestServer server;
  for (const char* service : {"", "ttfd.v1.DeviceService", "ttfd.v1.AdminService"})
    EXPECT_EQ(Health(server, service), kServing);
  EXPECT_EQ(Health(server, "nobody"), std::to_string(Code::NOT_FOUND));
  server.server().SetServing(false);
  EXPECT_EQ(Health(server, ""), kNotServing);
  EXPECT_EQ(Health(server, "ttfd.v1.DeviceService"), kNotServing);
  EXPECT_EQ(Health(server, "ttfd.v1.AdminService"), kServing);
}

TEST(RpcAdmin, ReflectionNamesTheServices) {
  RpcTestServer server;
  // One request on the bidirectional stream, sent as a unary call: the wire does not differ.
  std::string response;
  const grpc::Status status =
      CallRaw(server.Connect(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
              Field(7, "*"), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_NE(response.find("ttfd.v1.DeviceService"), std::string::npos);
  EXPECT_NE(response.find("ttfd.v1.AdminService"), std::string::npos);
  EXPECT_NE(response.find("grpc.health.v1.Health"), std::string::npos);
}

}  // namespace
}  // namespace ttfd::rpc_admin_test

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first.starts_with(ttfd::rpc_admin_test::kChildFlag)) {
    return ttfd::rpc_admin_test::ExpectNoRole(
        std::string(first.substr(sizeof(ttfd::rpc_admin_test::kChildFlag) - 1)));
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
