// Requests of administrators: status, sessions, limits, timeouts, hang reports, drain, profile, reset.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/api/admin.h"
#include "daemon/core/daemon_cards.h"
#include "daemon/core/drain.h"
#include "daemon/core/leases.h"
#include "daemon/core/sessions.h"
#include "daemon/hang/hang_reports.h"
#include "runtime/base/clock.h"

namespace ttfd {

// Thread-safe.
class AdminFacade final : public Admin {
 public:
  // All outlive it.
  struct Parts {
    const DaemonIdentity& identity;
    Sessions& sessions;
    Leases& leases;
    ttfd::Drain& drain;
    DaemonCards& cards;
    HangReports& hangs;
    const std::atomic<bool>& booted;  // the cards have booted, for the first time
    Clock& clock;
    Duration quantum{};  // of the schedulers
  };
  explicit AdminFacade(const Parts& parts) : parts_(parts), created_(parts.clock.Now()) {}

  // ---- Admin
  DevicesReply ListDevices() override;
  StatusReply GetStatus() override;
  std::vector<SessionInfoReply> ListSessions() override;
  std::vector<LeaseInfoReply> ListLeases() override { return parts_.leases.List(); }
  LimitsReply GetLimits() override;
  StatusOr<TimeoutsReply> GetTimeouts(uint64_t session) override;
  StatusOr<TimeoutsReply> SetTimeouts(uint64_t session, const TimeoutsReply& timeouts) override;
  Status TerminateSession(uint64_t session, const std::string& reason) override;
  Status ReleaseSession(uint64_t session) override;
  StatusOr<std::vector<HangSummary>> ListHangReports() override { return parts_.hangs.List(); }
  StatusOr<std::vector<HangStore::File>> GetHangReport(const HangReportId& id) override {
    return parts_.hangs.Read(id);
  }
  void Drain(uint32_t within_ms, ProgressCallback progress) override {
    parts_.drain.Begin(within_ms, std::move(progress), /*for_ever=*/false);
  }
  Status Undrain() override { return parts_.drain.End(); }
  Status Profile(const ProfileQuery& query, std::shared_ptr<const std::atomic<bool>> cancelled,
                 std::function<void(StatusOr<ProfileResult>)> done) override;
  Status ResetDevice(uint32_t device, std::function<void(const Status&)> done) override;

 private:
  DeviceStatusReply StatusOf(const DeviceReply& device);
  DaemonState StateOf(const std::vector<DeviceStatusReply>& devices) const;

  const Parts parts_;
  const TimePoint created_;
};

}  // namespace ttfd
