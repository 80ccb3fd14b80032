// The gRPC server: device service, admin service, health and reflection, on connections that the
// daemon accepted itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "daemon/api/session_port.h"
#include "daemon/rpc/audit.h"
#include "daemon/rpc/peer_table.h"
#include "daemon/rpc/roles.h"
#include "daemon/rpc/tls_files.h"
#include "daemon/rpc/user_names.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {

struct RpcOptions {
  PeerTable::Limits connections;
  RoleOptions roles;
  AuditOptions audit;
  UserNames* user_names = nullptr;  // outlives the server; null: users are shown by their numbers
  std::optional<TlsFiles> tls;      // none: no TCP
  Duration keepalive =
      std::chrono::seconds(30);  // with TCP: silence until a peer is asked, and until it is gone
  Duration hello_timeout = std::chrono::seconds(10);  // from a call's start to its first message
  uint64_t memory_bytes = uint64_t{512} << 20;        // of messages under way, all calls together
  uint32_t calls_per_connection = 64;
};

class RpcServer {
 public:
  // `service` and `clock` outlive the server.
  static StatusOr<std::unique_ptr<RpcServer>> Create(const RpcOptions& options,
                                                     DaemonService& service, Clock& clock);
  virtual ~RpcServer() = default;

  // A unix connection from the accept loop; the kernel says who is at its other end. May wait for the name of its user
  // (UserNames::Await).
  virtual void AddConnection(UniqueFd connection) = 0;
  // A TCP connection, if RpcOptions has `tls`: the other end shows its certificate before it can ask anything.
  virtual void AddTlsConnection(UniqueFd connection) = 0;

  // Sets the status that health answers for the services.
  virtual void SetServing(bool serving) = 0;

  // Opens the audit file again, after somebody has moved it away.
  virtual Status ReopenAuditFile() = 0;

  // Ends: sessions whose calls have not ended within `drain` are cancelled.
  virtual void Stop(Duration drain) = 0;

  // For the device thread, as of PollerTasks.
  virtual void SetDeviceThread(bool calling) = 0;
  virtual void EndOfDeviceRound(bool idle) = 0;
};

// Sends gRPC's own log lines, which may hold text of clients, to our log, a few a second. Once a
// process, before any other use of gRPC.
void RouteGrpcLog();

}  // namespace ttfd
