// Builds the gRPC server and hands it the connections.
#include "daemon/rpc/rpc_server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "daemon/rpc/admin_service.h"
#include "daemon/rpc/device_service.h"
#include "daemon/rpc/health_service.h"
#include "daemon/rpc/poller.h"
#include "daemon/rpc/reflection_service.h"
#include "runtime/base/log.h"
#include "runtime/base/mutex.h"
#include "ttfd/v1/admin.grpc.pb.h"
#include "ttfd/v1/ttfd.grpc.pb.h"

namespace ttfd {
namespace {

// Connections get descriptor numbers from here up: those below are for everything else.
constexpr int kFirstConnectionNumber = 256;

// How often files of certificates are looked at.
constexpr unsigned kLookAtFilesSeconds = 1;

constexpr int kFrameBytes = 1 << 20;
constexpr int kReadBytes = 256 << 10;

// Clients with a shorter keepalive than this are told that they ask too often.
constexpr int kClientAsksMs = 200;

// After so long an ack is sent by itself (ttfd.proto).
constexpr Duration kAckDelay = std::chrono::milliseconds(20);

// For unary calls under way when the server stops.
constexpr auto kUnaryDrain = std::chrono::milliseconds(50);

// The deadlines of calls are seconds: looking every second is fine enough.
Duration CheckPeriod(const RpcOptions& options) {
  return std::clamp<Duration>(options.hello_timeout / 4, std::chrono::milliseconds(10),
                              std::chrono::seconds(1));
}

StatusOr<int> DescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return Internal("getrlimit failed");
  const auto end = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
  if (end < kFirstConnectionNumber + 64) {
    return Error(StatusCode::kFailedPrecondition,
                 "the limit of open files is {}, at least {} are needed (LimitNOFILE, ulimit -n)",
                 end, kFirstConnectionNumber + 64);
  }
  return end;
}

// A client without a certificate that the CA signed does not get through the handshake. The files are looked at
// again and again; connections that stand keep what they began with.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(const TlsFiles& files) {
  using grpc::experimental::FileWatcherCertificateProvider;
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<FileWatcherCertificateProvider>(files.key, files.certificate,
                                                       files.client_ca, kLookAtFilesSeconds));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}

std::function<std::string(uint32_t uid)> NamesOf(const RpcOptions& options) {
  if (options.user_names == nullptr) return [](uint32_t uid) { return std::to_string(uid); };
  return [names = options.user_names](uint32_t uid) { return names->Of(uid); };
}

// Connections that are refused come in floods: one line a second is enough. Thread-safe.
class RefusalLog {
 public:
  explicit RefusalLog(Clock& clock) : clock_(clock) {}

  void Add(const Status& why) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    ++refused_;
    const TimePoint now = clock_.Now();
    if (now - logged_ < std::chrono::seconds(1)) return;
    logged_ = now;
    LogWarning("connection refused ({} since the last such line): {}", refused_, why.ToString());
    refused_ = 0;
  }

 private:
  Clock& clock_;
  Mutex mu_;
  uint64_t refused_ ABSL_GUARDED_BY(mu_) = 0;
  TimePoint logged_ ABSL_GUARDED_BY(mu_){};
};

class RpcServerImpl final : public RpcServer {
 public:
  RpcServerImpl(const RpcOptions& options, DaemonService& service, Clock& clock,
                int descriptor_limit, std::shared_ptr<AuditTrail> audit)
      : options_(options),
        audit_(std::move(audit)),
        peers_(options.connections, NamesOf(options)),
        numbers_(kFirstConnectionNumber, descriptor_limit),
        refusals_(clock),
        environment_{{&service, service.admin().ListDevices().limits, kAckDelay - Poller::kRound},
                     &session_calls_,
                     options.hello_timeout,
                     CheckPeriod(options)},
        device_(environment_, callers_),
        admin_(
            service.admin(), callers_, audit_, [this](bool serving) { SetServing(serving); },
            options.hello_timeout),
        health_(options.hello_timeout),
        poller_(clock) {}

  ~RpcServerImpl() override { Stop(Duration::zero()); }

  Status Start() {
    std::vector<std::string> unknown;
    roles_ = Roles::Create(options_.roles, geteuid(), &unknown);
    for (const std::string& name : unknown) {
      LogDebug("group '{}' of [roles] does not exist here and grants nothing", name);
    }
    grpc::ResourceQuota quota("ttfd");
    quota.Resize(options_.memory_bytes);
    grpc::ServerBuilder builder;
    builder.SetResourceQuota(quota);
    // Twice the limit arrives, so that a message somewhat over it can be refused by the limit's name.
    builder.SetMaxReceiveMessageSize(2 *
                                     static_cast<int>(environment_.stream.limits.message_bytes));
    // gRPC decompresses a whole message before it looks at any limit: some bytes become gigabytes.
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                               static_cast<int>(options_.calls_per_connection));
    // Bulk data on a local socket: fewer and larger frames and reads.
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytes);
    builder.AddChannelArgument(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadBytes);
    builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kFrameBytes);
    poller_.Register(&builder);
    if (options_.tls) {
      RETURN_IF_ERROR(CheckTlsFiles(*options_.tls));
      KeepAlive(&builder);
      // A client that does not shake hands holds a connection no longer than one that does not say Hello.
      builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                                 static_cast<int>(MillisecondsOf(options_.hello_timeout)));
      using Builder = grpc::ServerBuilder::experimental_type;
      tls_acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
          Builder::ExternalConnectionType::FROM_FD, TlsCredentials(*options_.tls));
    }
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return Internal("the gRPC server does not start");
    Methods methods;
    device_.AddTo(&methods);
    admin_.AddTo(&methods);
    health_.AddTo(&methods);
    reflection_.AddTo(&methods);
    DaemonService& service = *environment_.stream.service;
    poller_.Start(std::move(methods), {[&service](bool runs) { service.SetPollerThread(runs); },
                                       [&service] { service.RunDeviceRounds(); }});
    SetServing(true);
    return OkStatus();
  }

  void AddTlsConnection(UniqueFd connection) override {
    StatusOr<UniqueFd> moved = numbers_.Move(std::move(connection));
    const Status added = moved.ok() ? peers_.AddTcp(moved->get()) : moved.status();
    if (!added.ok()) {
      refusals_.Add(added);
      return;
    }
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.fd = moved->Release();
    tls_acceptor_->HandleNewConnection(&parameters);
  }

  void AddConnection(UniqueFd connection) override {
    StatusOr<PeerIdentity> peer = ReadPeerIdentity(connection.get());
    if (!peer.ok()) {
      LogWarning("connection refused: {}", peer.status().ToString());
      return;
    }
    if (options_.user_names != nullptr) options_.user_names->Await(peer->uid);
    StatusOr<UniqueFd> moved = numbers_.Move(std::move(connection));
    const Status added = moved.ok() ? peers_.Add(moved->get(), *std::move(peer)) : moved.status();
    if (!added.ok()) {
      refusals_.Add(added);
      return;
    }
    grpc::AddInsecureChannelFromFd(server_.get(), moved->Release());
  }

  void SetServing(bool serving) override {
    health_.SetServing("", serving);
    health_.SetServing(v1::DeviceService::service_full_name(), serving);
    // Administration goes on as long as the daemon lives.
    health_.SetServing(v1::AdminService::service_full_name(), true);
  }

  Status ReopenAuditFile() override { return audit_->Reopen(); }

  void Stop(Duration drain) override {
    if (server_ == nullptr) return;
    // gRPC would wait for idle connections too, whose clients may not look at them for seconds.
    session_calls_.WaitUntilNone(std::chrono::steady_clock::now() + drain);
    server_->Shutdown(std::chrono::system_clock::now() + kUnaryDrain);
    server_->Wait();
    poller_.Stop();
    server_.reset();
  }

  void SetDeviceThread(bool calling) override { poller_.tasks()->SetDeviceThread(calling); }
  void EndOfDeviceRound(bool idle) override { poller_.tasks()->EndOfRound(idle); }

 private:
  // The kernel asks a silent peer, too (tcp_listener.cc), but is content when anybody between answers. gRPC's arguments
  // are the server's, so the other end of a unix socket is asked as well.
  void KeepAlive(grpc::ServerBuilder* builder) const {
    const int keepalive_ms = static_cast<int>(MillisecondsOf(options_.keepalive));
    builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive_ms);
    builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive_ms);
    builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                                kClientAsksMs);
  }

  const RpcOptions options_;
  const std::shared_ptr<AuditTrail> audit_;
  PeerTable peers_;
  Roles roles_;  // set in Start, then constant
  Callers callers_{peers_, roles_};

  DescriptorNumbers numbers_;
  RefusalLog refusals_;
  CallCount session_calls_;
  const SessionCallEnvironment environment_;
  DeviceRpcService device_;
  AdminRpcService admin_;
  HealthService health_;
  ReflectionService reflection_{{v1::DeviceService::service_full_name(),
                                 v1::AdminService::service_full_name(), "grpc.health.v1.Health"}};
  Poller poller_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> tls_acceptor_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

StatusOr<std::unique_ptr<RpcServer>> RpcServer::Create(const RpcOptions& options,
                                                       DaemonService& service, Clock& clock) {
  // Never undone: the last grpc_shutdown waits up to ten seconds for a poller that watched a full
  // socket, and would hold up the daemon's end.
  static const bool kept_up = (grpc_init(), true);
  (void)kept_up;
  // Strings of clients that are not UTF-8 are refused; protobuf would also write a line for each to standard error.
  static const auto before = google::protobuf::SetLogHandler(nullptr);
  (void)before;
  ASSIGN_OR_RETURN(const int limit, DescriptorLimit());
  AuditOptions trail = options.audit;
  if (!trail.user_name) trail.user_name = NamesOf(options);
  ASSIGN_OR_RETURN(std::shared_ptr<AuditTrail> audit, AuditTrail::Create(std::move(trail)));
  auto server = std::make_unique<RpcServerImpl>(options, service, clock, limit, std::move(audit));
  RETURN_IF_ERROR(server->Start());
  return std::unique_ptr<RpcServer>(std::move(server));
}

}  // namespace ttfd
