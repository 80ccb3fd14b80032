// The seam between daemon/rpc and the rest of the daemon: requests of administrators.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/api/reply.h"
#include "daemon/api/request.h"
#include "daemon/hang/hang_store.h"
#include "runtime/base/status.h"
#include "runtime/card/profile.h"

namespace ttfd {

// How far a drain or a reset is: the numbers of the API.
enum class ProgressStep : uint8_t {
  kWaiting = 1,  // for sessions to end
  kDrained,
  kCutShort,  // the time is over: the sessions that remained were ended
  kUndrained,
  kResetting,
  kReset,
};

// One report of a drain or a reset (admin.proto, Progress).
struct ProgressReply {
  // Sessions that a report lists at most: a message stays well below what gRPC's clients accept.
  static constexpr size_t kMaxSessions = 100;

  ProgressStep step = ProgressStep::kWaiting;
  uint64_t left = 0;  // sessions that remain, or remained
  bool done = false;  // the last report
  // The first of them, by id, as they were before they were ended.
  std::vector<SessionInfoReply> sessions = {};
};

// Administrator's request for a profile of where harts spend their time.
struct ProfileQuery {
  uint32_t device = 0;
  uint32_t duration_ms = 0;      // 0: kDefaultMs
  uint32_t interval_clocks = 0;  // 0: kDefaultClocks
  uint32_t interval_us = 0;      // 0: kDefaultUs
  bool snapshots = false;
  bool idle = false;
  std::vector<CoreRange> cores;  // none: all workers and the dispatch tiles

  static constexpr uint32_t kDefaultMs = 5'000, kMaxMs = 60'000;
  static constexpr uint32_t kDefaultClocks = 1'000, kMinClocks = 20, kMaxClocks = 1'000'000'000;
  static constexpr uint32_t kDefaultUs = 1'000, kMinUs = 100, kMaxUs = 1'000'000;
  static constexpr size_t kMaxRanges = 256;
};

// The devices, and the limits of every session.
struct DevicesReply {
  std::vector<DeviceReply> devices;
  SessionLimits limits;
};

// Requests of administrators (AdminService of the API). Thread-safe; no call blocks on the device.
class Admin {
 public:
  using ProgressCallback = std::function<void(const ProgressReply& progress)>;

  virtual ~Admin() = default;
  virtual DevicesReply ListDevices() = 0;  // none before the device has booted

  // With the card as it was read last. If that was not just now, requests another reading, which a later call returns:
  // usually at once, not while the device thread waits for a card that does not respond.
  virtual StatusReply GetStatus() = 0;
  virtual std::vector<SessionInfoReply> ListSessions() = 0;
  virtual std::vector<LeaseInfoReply> ListLeases() = 0;
  virtual LimitsReply GetLimits() = 0;
  virtual StatusOr<TimeoutsReply> GetTimeouts(uint64_t session) = 0;  // 0 = the daemon's
  virtual StatusOr<TimeoutsReply> SetTimeouts(uint64_t session, const TimeoutsReply& timeouts) = 0;
  // Both post the request to the device thread, which acts also while the card boots. The second ends the quarantine of
  // the user of a session, whose launches hung: FAILED_PRECONDITION if it is not quarantined.
  virtual Status TerminateSession(uint64_t session, const std::string& reason) = 0;
  virtual Status ReleaseSession(uint64_t session) = 0;
  // These read files.
  virtual StatusOr<std::vector<HangSummary>> ListHangReports() = 0;
  virtual StatusOr<std::vector<HangStore::File>> GetHangReport(const HangReportId& id) = 0;
  // No new sessions or commands; done when every session has ended or `within_ms` passed (those
  // left are ended). The callback runs on a daemon thread: soon, whenever the number of sessions left has
  // changed, and the last time with done = true.
  virtual void Drain(uint32_t within_ms, ProgressCallback progress) = 0;
  // Sessions and commands are accepted again; a drain under way reports that it is done.
  // FAILED_PRECONDITION if the daemon is not draining, or is stopping.
  virtual Status Undrain() = 0;
  // Both: refused (`done` is not called), or `done` is called on a daemon thread. A profile ends early when `cancelled`
  // is set.
  virtual Status Profile(const ProfileQuery& query,
                         std::shared_ptr<const std::atomic<bool>> cancelled,
                         std::function<void(StatusOr<ProfileResult>)> done) = 0;
  virtual Status ResetDevice(uint32_t device, std::function<void(const Status&)> done) = 0;
};

}  // namespace ttfd
