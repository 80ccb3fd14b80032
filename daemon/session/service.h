// The seam between daemon/rpc and the rest of the daemon: sessions to open and drive, the daemon to
// administer.
//
// Down by call, up by callback: daemon/rpc implements SessionOutput and nothing below includes
// daemon/rpc.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/hang/hang_store.h"
#include "daemon/session/reply.h"
#include "daemon/session/request.h"
#include "daemon/session/usage.h"
#include "runtime/base/status.h"
#include "runtime/card/profile.h"

namespace ttfd {

// Identity of the other end of a connection: of a unix socket from SO_PEERCRED and SO_PEERGROUPS when the
// daemon accepted it; of TLS from the client's certificate, whose name has a number as `uid` that no
// user of this machine has (or that of the user whom the configuration names for it).
struct PeerIdentity {
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t pid = 0;
  std::vector<uint32_t> groups;  // supplementary groups
  bool may_raise = false;        // may ask for more than Limits.weight and Limits.priority
  uint64_t connection = 0;       // never reused while the daemon runs
  std::string certificate;       // name of the client certificate; empty on the unix socket
};

// Implemented by daemon/rpc, one per connection. Outlives the session's last call to it, which is before
// ClientSession::Abandon returns, or ClientSession::CheckEnd returns kEnded.
class SessionOutput {
 public:
  virtual ~SessionOutput() = default;
  // TakeOutput may return something, or the session has ended. Called on any thread, with the outbox locked: must not
  // block and must not call back into the session.
  virtual void OutputReady() = 0;
};

// State that the transport keeps of a session across its connections. The session owns it.
class SessionTransport {
 public:
  virtual ~SessionTransport() = default;

  // The newest connection of the session, also when that is gone: all others were replaced by it. Set by the session,
  // only compared.
  std::atomic<const SessionOutput*> newest{nullptr};

  // Counts what the transport keeps for the client. Attached to the user by the session, set by the transport.
  OutputUse unacknowledged;
};

// A session, as one of its connections drives it. When another connection has resumed the session, every call of this
// one is answered with ABORTED, or with nothing. Thread-safe; Accept is called by one thread at a time, and
// TakeOutput by one other.
class ClientSession {
 public:
  virtual ~ClientSession() = default;
  // Welcome of this connection. A session that waits for its lease has it sent only when TakeOutput says so, and
  // accepts nothing before.
  virtual const WelcomeReply& welcome() const = 0;
  // As it was when the session was opened, whatever connection opened it.
  virtual const std::shared_ptr<SessionTransport>& transport() const = 0;

  // All of the message, or a failed status: a protocol error, which ends the connection and the session with it. Errors
  // of commands are output. An empty message confirms that the client is there. `accepted` is called, with the inbox
  // locked, exactly when all of the message counts: another connection that resumes the session never finds it accepted
  // and not counted, or counted and not accepted.
  virtual Status Accept(MessageRequest message, absl::FunctionRef<void()> accepted) = 0;

  // The content of the next message, at most about `max_bytes` of data; empty if there is none now.
  virtual SessionOutputBatch TakeOutput(uint64_t max_bytes) = 0;

  enum class Ending {
    kOpen,  // there is or may be more
    kUnacknowledged,  // everything is taken; a session that can be resumed waits until all of it is acknowledged
    kEnded,  // `status` is what the connection ends with
  };
  // `acknowledged`: the client has acknowledged everything that was taken. Once it has returned kEnded nothing but that
  // is returned, and Abandon is not needed.
  virtual Ending CheckEnd(bool acknowledged, Status* status) = 0;

  // The connection is gone. With `lost` a session with a reconnect timeout is kept for its client; after a protocol
  // error, and without the timeout, it ends and everything is freed. The last call.
  virtual void Abandon(bool lost) = 0;
};

// How far a drain or a reset is: the numbers of the API.
enum class ProgressStep : uint8_t {
  kWaiting = 1,  // for sessions to end
  kDrained,
  kCutShort,  // the time is over: the sessions that remained were ended
  kUndrained,
  kResetting,
  kReset,
};

// Administrator's request for a profile of where harts spend their time.
struct ProfileQuery {
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

// Everything a front end needs of the daemon. Thread-safe; no call blocks on the device, except
// where it says so.
class DaemonService {
 public:
  using ProgressCallback = std::function<void(ProgressStep step, uint64_t left, bool done)>;

  virtual ~DaemonService() = default;
  // A new session keeps `transport`; a resumed one has its own.
  virtual StatusOr<std::shared_ptr<ClientSession>> Open(
      const PeerIdentity& peer, const HelloRequest& hello, SessionOutput* output,
      std::shared_ptr<SessionTransport> transport) = 0;
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
  // left are ended). The callback runs on a daemon thread, the last time with done = true.
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
