// A daemon without a device, for tests of what is in front of it: every command completes at once,
// reads answer with bytes that count up, and the test sees what came and decides what is refused.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/session/service.h"
#include "runtime/base/mutex.h"

namespace ttfd {

class FakeDaemonService;

class FakeClientSession final : public ClientSession {
 public:
  FakeClientSession(SessionOutput* output, const PeerIdentity& peer, const HelloRequest& hello,
                    uint64_t id);

  const WelcomeReply& welcome() const override { return welcome_; }
  bool waiting() override;  // if it asked for a lease, until Grant
  Status Submit(BatchRequest batch) override;
  Status Supply(DataChunk chunk) override;
  Status Cancel(const CancelRequest& cancel) override;
  Status Received(const ReceivedRequest& received) override;
  void FinishInput(bool half_closed) override;
  void Leave() override;
  bool resumable() override { return hello_.resume_grace_ms != 0; }
  bool WantsInput() override;
  SessionOutputBatch TakeOutput(uint64_t max_bytes) override;
  bool finished(Status* status) override;
  void Abandon(bool lost) override;

  // ---- for the test; any thread
  const PeerIdentity& peer() const { return peer_; }
  const HelloRequest& hello() const { return hello_; }
  std::vector<BatchRequest> batches();
  std::vector<DataChunk> chunks();
  std::vector<QueuePosition> cancels();
  bool input_finished();
  bool abandoned();
  bool lost();  // ... and may come back
  bool left();  // the client said that it leaves
  bool half_closed();
  std::vector<ReceivedRequest> received();
  void SetWantsInput(bool wants);
  void Grant(const std::string& lease_token);
  void RefuseNext(const Status& status);  // the next Submit returns it
  void HoldWork();  // something is outstanding: not finished until ended or abandoned
  void Say(SessionOutputBatch batch);  // goes out next
  void End(const Status& status);      // as EndSession would
  void set_chunk_bytes(uint64_t bytes) { chunk_bytes_ = bytes; }

 private:
  void Ready(bool changed);

  SessionOutput* const output_;
  const PeerIdentity peer_;
  const HelloRequest hello_;
  WelcomeReply welcome_;
  uint64_t chunk_bytes_ = 256 << 10;

  Mutex mu_;
  std::vector<BatchRequest> batches_ ABSL_GUARDED_BY(mu_);
  std::vector<DataChunk> chunks_ ABSL_GUARDED_BY(mu_);
  std::vector<QueuePosition> cancels_ ABSL_GUARDED_BY(mu_);
  std::vector<SessionOutputBatch> output_batches_ ABSL_GUARDED_BY(mu_);
  std::map<uint32_t, uint64_t> progress_ ABSL_GUARDED_BY(mu_);  // not yet taken
  Status refusal_ ABSL_GUARDED_BY(mu_);
  Status end_ ABSL_GUARDED_BY(mu_);
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  bool holds_work_ ABSL_GUARDED_BY(mu_) = false;
  bool waiting_ ABSL_GUARDED_BY(mu_);
  bool wants_input_ ABSL_GUARDED_BY(mu_) = true;
  bool input_finished_ ABSL_GUARDED_BY(mu_) = false;
  bool abandoned_ ABSL_GUARDED_BY(mu_) = false;
  bool lost_ ABSL_GUARDED_BY(mu_) = false;
  bool left_ ABSL_GUARDED_BY(mu_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<ReceivedRequest> received_ ABSL_GUARDED_BY(mu_);
};

class FakeDaemonService final : public DaemonService {
 public:
  FakeDaemonService();

  StatusOr<std::shared_ptr<ClientSession>> Open(const PeerIdentity& peer, const HelloRequest& hello,
                                                SessionOutput* output) override;
  std::vector<DeviceReply> Devices() override { return {device_}; }
  SessionLimits Limits() override { return {}; }
  StatusReply GetStatus() override;
  std::vector<SessionInfoReply> ListSessions() override;
  std::vector<LeaseInfoReply> ListLeases() override;
  LimitsReply GetLimits() override {
    return {{{"handles", 9, "session", "of all kinds"}},
            {{3, 1000, "ann", "client", {{"handles", 9, 4}}}}};
  }
  StatusOr<TimeoutsReply> GetTimeouts(uint64_t session) override;
  StatusOr<TimeoutsReply> SetTimeouts(uint64_t session, const TimeoutsReply& timeouts) override;
  Status EndSession(uint64_t session, const std::string& reason) override;
  Status ResumeSession(uint64_t session) override;
  StatusOr<std::vector<HangStore::Summary>> ListHangReports() override;
  StatusOr<std::vector<HangStore::File>> GetHangReport(const std::string& id) override;
  void Drain(uint32_t within_ms, ProgressCallback progress) override;
  Status ResetDevice(uint32_t device, std::function<void(const Status&)> done) override;
  Status Profile(const ProfileQuery& query, std::shared_ptr<const std::atomic<bool>>,
                 std::function<void(StatusOr<ProfileResult>)> done) override {
    ProfileResult result;
    result.stacks["program 1;kernel;BRISC;kernel_main"] = query.duration_ms;
    result.samples = query.duration_ms;
    done(std::move(result));
    return OkStatus();
  }
  Status reset_result;  // how a reset ends; set before it is asked for

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
