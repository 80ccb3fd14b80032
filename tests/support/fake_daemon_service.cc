// See fake_daemon_service.h.
#include "tests/support/fake_daemon_service.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "daemon/api/status_reason.h"

namespace ttfd {

FakeClientSession::FakeClientSession(SessionOutput* output, const PeerIdentity& peer,
                                     const HelloRequest& hello, uint64_t id,
                                     std::shared_ptr<SessionTransport> transport)
    : output_(output), peer_(peer), hello_(hello), transport_(std::move(transport)) {
  welcome_.daemon_version = "fake";
  welcome_.session = id;
  welcome_.devices = std::make_shared<const std::vector<DeviceReply>>();
  welcome_.token = "0123456789abcdef";
  welcome_.window_bytes = 1 << 30;
  transport_->newest = output;
}

void FakeClientSession::Take(BatchRequest& batch) {
  uint64_t value = batch.first_value;
  for (const Request& request : batch.commands) {
    if (const auto* read = std::get_if<ReadRequest>(&request)) {
      for (uint64_t at = 0; at < read->size; at += chunk_bytes_) {
        DataChunk chunk{batch.queue, value, at, {}};
        chunk.payload.resize(std::min(chunk_bytes_, read->size - at));
        for (size_t i = 0; i < chunk.payload.size(); ++i)
          chunk.payload[i] = static_cast<char>(at + i);
        output_batches_.emplace_back().data.push_back(std::move(chunk));
      }
    }
    ++value;
  }
  if (value > batch.first_value) progress_[batch.queue] = value - 1;
}

namespace {

template <typename T>
void Append(std::vector<T>* to, std::vector<T>& from) {
  to->insert(to->end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Status FakeClientSession::Accept(MessageRequest message, absl::FunctionRef<void()> accepted) {
  {
    MutexLock lock(&mu_);
    if (!refusal_.ok()) return std::exchange(refusal_, OkStatus());
    for (BatchRequest& batch : message.batches) Take(batch);
    Append(&accepted_.open_queues, message.open_queues);
    Append(&accepted_.batches, message.batches);
    Append(&accepted_.data, message.data);
    Append(&accepted_.cancels, message.cancels);
    accepted_.finish |= message.finish;
    accepted_.leave |= message.leave;
    ++messages_;
    accepted();
  }
  if (message.leave) End(Error(StatusCode::kCancelled, "left"));
  output_->OutputReady();
  return OkStatus();
}

void FakeClientSession::Grant(const std::string& lease_token) {
  {
    MutexLock lock(&mu_);
    SessionOutputBatch& batch = output_batches_.emplace_back();
    batch.has_welcome = true;
    batch.lease_token = lease_token;
  }
  output_->OutputReady();
}

SessionOutputBatch FakeClientSession::TakeOutput(uint64_t max_bytes) {
  MutexLock lock(&mu_);
  SessionOutputBatch taken;
  uint64_t bytes = 0;
  while (!output_batches_.empty() && bytes < max_bytes) {
    SessionOutputBatch& first = output_batches_.front();
    const bool data_only = first.errors.empty() && first.progress.empty() && !first.has_welcome &&
                           !first.has_waiting && first.window_bytes == 0;
    if (!taken.empty() && !data_only) break;
    for (DataChunk& chunk : first.data) {
      bytes += chunk.payload.size();
      taken.data.push_back(std::move(chunk));
    }
    if (!data_only) {
      first.data = std::move(taken.data);
      taken = std::move(first);
    }
    output_batches_.erase(output_batches_.begin());
    if (!data_only) return taken;
  }
  if (!output_batches_.empty()) return taken;
  for (const auto& [queue, value] : progress_) taken.progress.push_back({queue, value});
  progress_.clear();
  return taken;
}

SessionPort::Ending FakeClientSession::CheckEnd(bool acknowledged, Status* status) {
  MutexLock lock(&mu_);
  if (ended_) {
    *status = end_;
    return Ending::kEnded;
  }
  *status = OkStatus();
  if (!accepted_.finish || holds_work_ || !output_batches_.empty() || !progress_.empty()) {
    return Ending::kOpen;
  }
  return acknowledged || hello_.reconnect_timeout_ms == 0 ? Ending::kEnded
                                                          : Ending::kUnacknowledged;
}

void FakeClientSession::Abandon(bool lost) {
  MutexLock lock(&mu_);
  abandoned_ = true;
  lost_ = lost;
}

bool FakeClientSession::lost() {
  MutexLock lock(&mu_);
  return lost_;
}

bool FakeClientSession::left() {
  MutexLock lock(&mu_);
  return accepted_.leave;
}

std::vector<OpenQueueRequest> FakeClientSession::open_queues() {
  MutexLock lock(&mu_);
  return accepted_.open_queues;
}

std::vector<BatchRequest> FakeClientSession::batches() {
  MutexLock lock(&mu_);
  return accepted_.batches;
}

std::vector<DataChunk> FakeClientSession::chunks() {
  MutexLock lock(&mu_);
  return accepted_.data;
}

std::vector<QueuePosition> FakeClientSession::cancels() {
  MutexLock lock(&mu_);
  return accepted_.cancels;
}

uint64_t FakeClientSession::messages() {
  MutexLock lock(&mu_);
  return messages_;
}

bool FakeClientSession::input_finished() {
  MutexLock lock(&mu_);
  return accepted_.finish;
}

bool FakeClientSession::abandoned() {
  MutexLock lock(&mu_);
  return abandoned_;
}

void FakeClientSession::RefuseNext(const Status& status) {
  MutexLock lock(&mu_);
  refusal_ = status;
}

void FakeClientSession::HoldWork() {
  MutexLock lock(&mu_);
  holds_work_ = true;
}

void FakeClientSession::Say(SessionOutputBatch batch) {
  {
    MutexLock lock(&mu_);
    output_batches_.push_back(std::move(batch));
  }
  output_->OutputReady();
}

void FakeClientSession::End(const Status& status) {
  {
    MutexLock lock(&mu_);
    ended_ = true;
    end_ = status;
  }
  output_->OutputReady();
}

FakeDaemonService::FakeDaemonService() {
  device_.info.board = "p150";
  device_.info.backend = "fake";
  device_.info.clock_hz = 1'350'000'000;
  device_.card.grid = {13, 10};
  device_.card.dram_banks = 8;
}

StatusOr<std::shared_ptr<SessionPort>> FakeDaemonService::Open(
    const PeerIdentity& peer, const HelloRequest& hello, SessionOutput* output,
    std::shared_ptr<SessionTransport> transport) {
  MutexLock lock(&mu_);
  if (!open_refusal_.ok()) return open_refusal_;
  sessions_.push_back(std::make_shared<FakeClientSession>(output, peer, hello, sessions_.size() + 1,
                                                          std::move(transport)));
  opened_.NotifyAll();
  return std::shared_ptr<SessionPort>(sessions_.back());
}

StatusReply FakeDaemonService::GetStatus() {
  StatusReply status;
  status.daemon.version = "fake";
  status.state = state;
  DeviceStatusReply& device = status.devices.emplace_back();
  device.device = ListDevices().devices.front();
  status.sessions = static_cast<uint32_t>(sessions_opened());
  device.memory.push_back({MemoryKind::kDram, 1, 2, 3});
  HartReport hart;
  hart.where = "prefetch (16,2) BRISC";
  hart.waypoint = "idle";
  hart.progress = 7;
  hart.text = "waits for the host";
  device.card.number = reads_card ? 1 : 0;
  device.card.wanted = 1;
  device.card.harts.push_back(std::move(hart));
  return status;
}

std::vector<SessionInfoReply> FakeDaemonService::ListSessions() {
  MutexLock lock(&mu_);
  std::vector<SessionInfoReply> replies;
  for (const std::shared_ptr<FakeClientSession>& session : sessions_) {
    SessionInfoReply& reply = replies.emplace_back();
    reply.session = session->welcome().session;
    reply.client_name = session->hello().client_name;
    reply.uid = session->peer().uid;
    reply.pid = session->peer().pid;
    reply.submitted.push_back({0, 5});
  }
  return replies;
}

std::vector<LeaseInfoReply> FakeDaemonService::ListLeases() {
  LeaseInfoReply lease;
  lease.lease = 7;
  lease.state = LeaseState::kWaiting;
  lease.session = 3;
  lease.client_name = "suite";
  lease.workers = {{0, 0, 3, 1}};
  lease.position = 1;
  lease.holders.Add({2, "other", "bob", 1001, 0});
  lease.expected_wait_ms = 1234;
  return {lease};
}

StatusOr<TimeoutsReply> FakeDaemonService::GetTimeouts(uint64_t session) {
  MutexLock lock(&mu_);
  if (session > sessions_.size() || (session != 0 && session == released_)) {
    return WithReason(Error(StatusCode::kNotFound, "there is no session {}", session),
                      "UNKNOWN_HANDLE", "session");
  }
  return timeouts_;
}

StatusOr<TimeoutsReply> FakeDaemonService::SetTimeouts(uint64_t, const TimeoutsReply& timeouts) {
  MutexLock lock(&mu_);
  if (timeouts.operation_ms != 0) timeouts_.operation_ms = timeouts.operation_ms;
  return timeouts_;
}

Status FakeDaemonService::TerminateSession(uint64_t id, const std::string& reason) {
  MutexLock lock(&mu_);
  if (id == 0 || id > sessions_.size())
    return Error(StatusCode::kNotFound, "there is no session {}", id);
  sessions_[id - 1]->End(Error(StatusCode::kAborted, "ended by an administrator: {}", reason));
  return OkStatus();
}

Status FakeDaemonService::ReleaseSession(uint64_t id) {
  if (id == 1) return OkStatus();
  return Error(StatusCode::kFailedPrecondition, "session {} is not quarantined", id);
}

StatusOr<std::vector<HangSummary>> FakeDaemonService::ListHangReports() {
  HangSummary report;
  report.id = "7";
  report.time = std::chrono::system_clock::time_point(std::chrono::milliseconds(1234));
  report.reason = "HANG";
  report.headline = "kernel 'spin' hung";
  report.offender = {{3, "suite", "ann", 1000, 77}, 1, 12, {"spin", "add"}};
  report.bytes = 9;
  report.complete = true;
  return std::vector<HangSummary>{report};
}

StatusOr<std::vector<HangStore::File>> FakeDaemonService::GetHangReport(const HangReportId& id) {
  if (id && id != "7") {
    return Error(StatusCode::kNotFound, "there is no hang report '{}'", *id);
  }
  // More than one message, and one without a byte.
  return std::vector<HangStore::File>{
      {"host.json", "{}"}, {"log.txt", ""}, {"report.txt", std::string(600'000, 'r')}};
}

Status FakeDaemonService::Undrain() {
  if (state.exchange(DaemonState::kReady) == DaemonState::kDraining) return OkStatus();
  return Error(StatusCode::kFailedPrecondition, "the daemon is not draining");
}

void FakeDaemonService::Drain(uint32_t, ProgressCallback progress) {
  ProgressReply waiting;
  waiting.left = 1;
  waiting.sessions.emplace_back().session = 1;
  progress(waiting);
  progress({ProgressStep::kDrained, 0, true});
}

Status FakeDaemonService::ResetDevice(uint32_t device, std::function<void(const Status&)> done) {
  if (device != 0) return Error(StatusCode::kNotFound, "there is no device {}", device);
  done(reset_result);
  return OkStatus();
}

std::shared_ptr<FakeClientSession> FakeDaemonService::session(uint64_t id) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  MutexLock lock(&mu_);
  while (sessions_.size() < id) {
    if (!opened_.WaitUntil(&mu_, deadline)) return nullptr;
  }
  return sessions_[id - 1];
}

void FakeDaemonService::Release(uint64_t id) {
  MutexLock lock(&mu_);
  released_ = id;
}

uint64_t FakeDaemonService::sessions_opened() {
  MutexLock lock(&mu_);
  return sessions_.size();
}

void FakeDaemonService::RefuseOpen(const Status& status) {
  MutexLock lock(&mu_);
  open_refusal_ = status;
}

}  // namespace ttfd
