// A daemon without a device, for tests of what is in front of it: every command completes at once,
// reads answer with bytes that count up, and the test sees what came and decides what is refused.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/api/session_port.h"
#include "runtime/base/mutex.h"

namespace ttfd {

class FakeDaemonService;

class FakeClientSession final : public SessionPort {
 public:
  FakeClientSession(SessionOutput* output, const PeerIdentity& peer, const HelloRequest& hello,
                    uint64_t id, std::shared_ptr<SessionTransport> transport);

  const WelcomeReply& welcome() const override { return welcome_; }
  const std::shared_ptr<SessionTransport>& transport() const override { return transport_; }
  Status Accept(MessageRequest message, absl::FunctionRef<void()> accepted) override;
  SessionOutputBatch TakeOutput(uint64_t max_bytes) override;
  Ending CheckEnd(bool acknowledged, Status* status) override;
  void Abandon(bool lost) override;

  // ---- for the test; any thread
  const PeerIdentity& peer() const { return peer_; }
  const HelloRequest& hello() const { return hello_; }
  std::vector<OpenQueueRequest> open_queues();
  std::vector<BatchRequest> batches();
  std::vector<DataChunk> chunks();
  std::vector<QueuePosition> cancels();
  uint64_t messages();  // accepted, also without content
  bool input_finished();
  bool abandoned();
  bool lost();  // ... and may come back
  bool left();  // the client has sent Leave
  void Grant(const std::string& lease_token);
  void RefuseNext(const Status& status);  // the next Accept returns it
  void HoldWork();  // something is outstanding: not ended until it is ended or abandoned
  void Say(SessionOutputBatch batch);  // goes out next
  void End(const Status& status);      // as TerminateSession would
  void set_chunk_bytes(uint64_t bytes) { chunk_bytes_ = bytes; }

 private:
  void Take(BatchRequest& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  SessionOutput* const output_;
  const PeerIdentity peer_;
  const HelloRequest hello_;
  const std::shared_ptr<SessionTransport> transport_;
  WelcomeReply welcome_;
  uint64_t chunk_bytes_ = 256 << 10;

  Mutex mu_;
  MessageRequest accepted_ ABSL_GUARDED_BY(mu_);  // everything, in one
  uint64_t messages_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<SessionOutputBatch> output_batches_ ABSL_GUARDED_BY(mu_);
  std::map<uint32_t, uint64_t> progress_ ABSL_GUARDED_BY(mu_);  // not yet taken
  Status refusal_ ABSL_GUARDED_BY(mu_);
  Status end_ ABSL_GUARDED_BY(mu_);
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  bool holds_work_ ABSL_GUARDED_BY(mu_) = false;
  bool abandoned_ ABSL_GUARDED_BY(mu_) = false;
  bool lost_ ABSL_GUARDED_BY(mu_) = false;
};

class FakeDaemonService final : public DaemonService, public Admin {
 public:
  FakeDaemonService();

  Admin& admin() override { return *this; }

  StatusOr<std::shared_ptr<SessionPort>> Open(const PeerIdentity& peer, const HelloRequest& hello,
                                              SessionOutput* output,
                                              std::shared_ptr<SessionTransport> transport) override;
  DevicesReply ListDevices() override { return {{device_}, {}}; }
  StatusReply GetStatus() override;
  std::vector<SessionInfoReply> ListSessions() override;
  std::vector<LeaseInfoReply> ListLeases() override;
  LimitsReply GetLimits() override {
    return {{{"handles", 9, LimitScope::kSession, "of all kinds"}},
            {{LimitScope::kSession, 3, 1000, "ann", "client", {{"handles", 9, 4}}}}};
  }
  StatusOr<TimeoutsReply> GetTimeouts(uint64_t session) override;
  StatusOr<TimeoutsReply> SetTimeouts(uint64_t session, const TimeoutsReply& timeouts) override;
  Status TerminateSession(uint64_t session, const std::string& reason) override;
  Status ReleaseSession(uint64_t session) override;
  StatusOr<std::vector<HangSummary>> ListHangReports() override;
  StatusOr<std::vector<HangStore::File>> GetHangReport(const HangReportId& id) override;
  void Drain(uint32_t within_ms, ProgressCallback progress) override;
  Status Undrain() override;
  Status ResetDevice(uint32_t device, std::function<void(const Status&)> done) override;
  Status Profile(const ProfileQuery& query, std::shared_ptr<const std::atomic<bool>>,
                 std::function<void(StatusOr<ProfileResult>)> done) override {
    ProfileResult result;
    result.stacks["program 1;kernel;BRISC;kernel_main"] = query.duration_ms;
    result.samples = query.duration_ms;
    done(std::move(result));
    return OkStatus();
  }
  Status reset_result;  // how a reset ends; set before it is requested
  std::atomic<DaemonState> state{DaemonState::kReady};  // what GetStatus returns
  std::atomic<bool> reads_card{true};                   // at once

  // ---- for the test; any thread
  // The session opened as number `id`, counted from 1; waits up to ten seconds for it. Null: there is none.
  std::shared_ptr<FakeClientSession> session(uint64_t id);
  uint64_t sessions_opened();
  // The daemon knows nothing of it any more, though its call goes on.
  void Release(uint64_t id);
  void RefuseOpen(const Status& status);

 private:
  DeviceReply device_;

  Mutex mu_;
  CondVar opened_;
  std::vector<std::shared_ptr<FakeClientSession>> sessions_ ABSL_GUARDED_BY(mu_);
  uint64_t released_ ABSL_GUARDED_BY(mu_) = 0;
  TimeoutsReply timeouts_ ABSL_GUARDED_BY(mu_){1000, 2000, 3000, 4000};
  Status open_refusal_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
