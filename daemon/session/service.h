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

#include "daemon/hang/hang_store.h"
#include "daemon/session/reply.h"
#include "daemon/session/request.h"
#include "runtime/base/status.h"
#include "runtime/dispatch/profile.h"

namespace ttfd {

// Who is at the other end of a connection: of a unix socket from SO_PEERCRED and SO_PEERGROUPS when the
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

// Implemented by daemon/rpc, one per call. Outlives the session's last call to it
// (ClientSession::Abandon or finished()). An attachment that another has replaced is told so, too:
// finished() is true from then on.
class SessionOutput {
 public:
  virtual ~SessionOutput() = default;
  // There may be something in TakeOutput, WantsInput may have become true, or the session ended.
  // Called on any thread, possibly with the session's lock held: must not block and must not call
  // back into the session.
  virtual void OutputReady() = 0;
};

// One attachment of one session: the session as its call drives it. Calls from one thread at a time,
// except TakeOutput and finished, which one other thread may call beside the others.
class ClientSession {
 public:
  virtual ~ClientSession() = default;
  virtual const WelcomeReply& welcome() const = 0;
  // It waits for its lease and wants no input. The welcome of a session that asked for a lease comes as output.
  virtual bool waiting() = 0;

  // A failed status is a protocol error: the call ends with it and the session with the call.
  // Command errors are output.
  virtual Status Submit(BatchRequest batch) = 0;
  virtual Status Supply(DataChunk chunk) = 0;
  virtual Status Cancel(const CancelRequest& cancel) = 0;
  virtual Status Received(const ReceivedRequest& received) = 0;
  // No more commands; with `half_closed` nothing at all comes any more.
  virtual void FinishInput(bool half_closed = true) = 0;
  virtual void Leave() = 0;  // drop what has not started, end the call
  // The session may outlive a lost connection, which must not be mistaken for a half-close.
  virtual bool resumable() = 0;

  // False: the client is ahead of its credit; stop reading until OutputReady and ask again.
  virtual bool WantsInput() = 0;

  // The next message's worth of output, at most about `max_bytes` of data; empty if there is none
  // now.
  virtual SessionOutputBatch TakeOutput(uint64_t max_bytes) = 0;

  // After FinishInput, when everything is done and taken (status OK), or when the daemon ended the
  // session (EndSession, drain, device lost for good): end the call with this status.
  virtual bool finished(Status* status) = 0;

  // The call is gone. With `lost` (cancelled, or its connection is) a resumable session waits for its
  // client; else (a protocol error), and any other session, drops what has not started and frees
  // everything. The last call; SessionOutput is not used after it returns.
  virtual void Abandon(bool lost = true) = 0;
};

// What an administrator wants to know of where harts spend their time.
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

// Everything a front end needs of the daemon. Thread-safe; no call blocks on the device, except
// where it says so.
class DaemonService {
 public:
  using ProgressCallback = std::function<void(const std::string& step, uint64_t left, bool done)>;

  virtual ~DaemonService() = default;
  virtual StatusOr<std::shared_ptr<ClientSession>> Open(const PeerIdentity& peer,
                                                        const HelloRequest& hello,
                                                        SessionOutput* output) = 0;
  virtual std::vector<DeviceReply> Devices() = 0;
  virtual SessionLimits Limits() = 0;

  virtual StatusReply GetStatus() = 0;
  virtual std::vector<SessionInfoReply> ListSessions() = 0;
  virtual std::vector<LeaseInfoReply> ListLeases() = 0;
  virtual LimitsReply GetLimits() = 0;
  virtual StatusOr<TimeoutsReply> GetTimeouts(uint64_t session) = 0;  // 0 = the daemon's
  virtual StatusOr<TimeoutsReply> SetTimeouts(uint64_t session, const TimeoutsReply& timeouts) = 0;
  virtual Status EndSession(uint64_t session, const std::string& reason) = 0;
  // Of one that was suspended because its launches hung.
  virtual Status ResumeSession(uint64_t session) = 0;
  // These read files.
  virtual StatusOr<std::vector<HangStore::Summary>> ListHangReports() = 0;
  virtual StatusOr<std::vector<HangStore::File>> GetHangReport(const std::string& id) = 0;
  // No new sessions or commands; done when every session has ended or `within_ms` passed (those
  // left are ended). The callback runs on a daemon thread, the last time with done = true.
  virtual void Drain(uint32_t within_ms, ProgressCallback progress) = 0;
  // Refused (nothing happens, `done` is dropped), or `done` hears on a daemon thread how it ended.
  // Refused (`done` is dropped), or `done` hears on a daemon thread. Ends early when `cancelled` is set.
  virtual Status Profile(const ProfileQuery& query,
                         std::shared_ptr<const std::atomic<bool>> cancelled,
                         std::function<void(StatusOr<ProfileResult>)> done) = 0;
  virtual Status ResetDevice(uint32_t device, std::function<void(const Status&)> done) = 0;
};

}  // namespace ttfd
