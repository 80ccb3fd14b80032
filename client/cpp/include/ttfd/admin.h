// The admin service: what ttfdctl shows and does. The user and groups at the other end of the socket
// (over TCP the certificate) decide which calls are allowed: role observe to read, admin for the rest.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ttfd/admin_types.h"
#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::client {

// Thread-safe. Every call has the deadline given to Connect, except those with a time of their own. A call
// that lists fetches all pages within one deadline.
class Admin {
 public:
  // Does not call the daemon yet. `address` and `tls` as in ConnectOptions.
  static Admin Connect(const std::string& address,
                       std::chrono::milliseconds timeout = std::chrono::seconds(10),
                       const TlsOptions& tls = {});
  Admin(Admin&&) noexcept;
  Admin& operator=(Admin&&) noexcept;
  ~Admin();

  // The standard health service: "SERVING", "NOT_SERVING", ... `service` empty: the whole daemon.
  Result<std::string> Health(const std::string& service = "");
  Result<std::vector<DeviceInfo>> ListDevices(Limits* limits = nullptr);

  Result<DaemonStatus> GetStatus();
  // Calls `changed` with the present status, then after every change, at most once in `interval` (100 ms
  // to 1 h). OK: `changed` has returned false, or `duration` has passed.
  Status WatchStatus(std::chrono::milliseconds interval, std::chrono::milliseconds duration,
                     const std::function<bool(const DaemonStatus&)>& changed);
  Result<std::vector<SessionInfo>> ListSessions();
  Result<std::vector<LeaseInfo>> ListLeases();
  Result<LimitsReport> GetLimits();
  // Without a session: the daemon's.
  Result<Timeouts> GetTimeouts(std::optional<uint64_t> session = {});
  Result<Timeouts> SetTimeouts(const Timeouts& timeouts, std::optional<uint64_t> session = {});
  // Ends a session; `reason`, at most 1,024 bytes, is shown to its client.
  Status TerminateSession(uint64_t session, const std::string& reason);
  // Ends the quarantine of the user of a session.
  Status ReleaseSession(uint64_t session);
  Status SetLogLevel(LogLevel level);

  using ProgressCallback = std::function<void(const Progress&)>;
  // No new sessions or commands; returns when every session has ended; those that remain after `within`
  // are ended. `progress` is called soon, and whenever the number of sessions that remain has changed.
  Status Drain(std::chrono::milliseconds within, const ProgressCallback& progress);
  // Ends a drain. FAILED_PRECONDITION: the daemon is not draining, or is shutting down.
  Status Undrain();
  Status ResetDevice(uint32_t device, const ProgressCallback& progress);
  // Where harts spend their time: `folded` gets whole lines "program;kernel;hart;outer;inner count".
  Result<ProfileSummary> Profile(const ProfileOptions& options,
                                 const std::function<void(const std::string&)>& folded);
  Result<std::vector<HangReportInfo>> ListHangReports();  // the oldest first
  // The files of a report (unset: of the newest) one after another, in parts: name and bytes.
  Status GetHangReport(const std::optional<std::string>& report,
                       const std::function<void(const std::string&, const std::string&)>& part);

 private:
  struct Impl;
  explicit Admin(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ttfd::client
