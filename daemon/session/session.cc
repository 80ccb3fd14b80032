// Input, output, the device thread's answers and the end of a session.
#include "daemon/session/session.h"

#include <algorithm>
#include <utility>

#include "daemon/api/errors.h"
#include "daemon/api/status_reason.h"

namespace ttfd {
namespace {

ErrorReply DrainingError() {
  ErrorReply error = MakeError(StatusCode::kUnavailable, reason::kDraining, "",
                               "the daemon is going down and takes no new commands");
  error.retryable = true;
  return error;
}

}  // namespace

Session::Session(const SessionParts& parts, std::span<CardResources* const> cards,
                 SessionChannel::Opening opening, const SessionLease& lease, std::string user,
                 const std::shared_ptr<UserUse>& user_use)
    : parts_(parts),
      client_{opening.welcome.session, opening.hello.client_name, std::move(user), opening.peer.uid,
              opening.peer.pid},
      share_{this,
             client_.session,
             client_.uid,
             opening.hello.weight.value_or(1),
             opening.hello.priority,
             lease.id},
      timeouts_(&parts.timeouts),
      channel_(std::move(opening), parts.limits, parts.clock, user_use, parts.memory_freed,
               [this](bool brief) { parts_.input.Add(shared_from_this(), brief); }),
      figures_(share_, client_, parts.clock.Now()),
      pipeline_(parts.limits, {cards, lease.device, lease.devices, lease.workers},
                channel_.outbox(), channel_.window(), timeouts_, share_, user_use,
                [this](uint32_t device, const TileSet& workers) {
                  return parts_.lease_text(share_.lease, device, workers);
                }),
      deadlines_({client_.session, lease.id != 0, parts.limits, timeouts_, parts.process_ended},
                 channel_.outbox().connection(), parts.clock.Now()),
      waiting_(lease.waiting) {
  PublishFigures();
}

// ---- any thread

void Session::SetTimeouts(const TimeoutsReply& timeouts) {
  timeouts_.Set(timeouts);
  channel_.Wake(/*brief=*/false);  // a shorter one may have passed
}

LimitUsageReply Session::LimitUsage() const {
  LimitUsageReply uses = pipeline_.use().Describe(client_);
  const auto set = [&uses](Resource resource, uint64_t used) {
    uses.uses[static_cast<size_t>(resource)].used = used;
  };
  set(Resource::kWindowBytes, channel_.window().held());
  // The session's own limit is of what is sent.
  set(Resource::kUnacknowledgedBytes, channel_.unacknowledged_bytes());
  return uses;
}

// ---- input

bool Session::HandleInput(InputBudget* budget) {
  channel_.inbox().Take(&input_);
  CheckConnection();
  if (channel_.outbox().acknowledged()) End(OkStatus());
  for (const Control& control : std::exchange(input_.controls, {})) {
    budget->Spend(1, 0);
    control(*this);
  }
  while (!budget->spent() && HandleMessage(budget)) continue;
  Advance();
  ReleaseIfIdle();
  return !input_.messages.empty() || !pipeline_.decoder().done() || !channel_.inbox().BecomeIdle();
}

void Session::CheckConnection() {
  const uint64_t changes = channel_.outbox().connection_changes();
  if (std::exchange(connection_changes_, changes) == changes) return;
  deadlines_.SetConnection(channel_.outbox().connection(), parts_.clock.Now());
  if (deadlines_.connection().gone) End(ConnectionGone());
}

bool Session::HandleMessage(InputBudget* budget) {
  MessageDecoder& decoder = pipeline_.decoder();
  if (decoder.done()) {
    if (input_.messages.empty()) return false;
    MessageRequest message = std::move(input_.messages.front());
    input_.messages.pop_front();
    budget->Spend(1, 0);
    if (!message.data.empty()) deadlines_.DataArrived(message.arrived);
    if (!message.batches.empty()) deadlines_.CommandSeen(message.arrived);
    decoder.Begin(std::move(message));
  }
  const StatusOr<MessageDecoder::End> end = decoder.Continue(budget);
  if (!end.ok()) {
    End(end.status());
  } else if (*end == MessageDecoder::End::kLeave) {
    End(ClientLeft());
  } else if (*end == MessageDecoder::End::kFinish && phase_ == Phase::kActive) {
    phase_ = Phase::kFinishing;
  }
  return true;
}

bool Session::NothingLeft() const {
  return pipeline_.queues().finished() && pipeline_.decoder().done() && input_.messages.empty() &&
         channel_.inbox().empty();
}

void Session::PassHostWorkOn() {
  if (pipeline_.host_jobs().empty()) return;
  const std::shared_ptr<Session> self = shared_from_this();
  for (HostJob& job : std::exchange(pipeline_.host_jobs(), {})) {
    const auto ended = [self, operation = job.operation] {
      self->Post([operation](Session& one) { one.pipeline_.HostWorkEnded(*operation); });
    };
    if (job.work == nullptr) {
      const auto& links = std::get<ConnectLinksOperation>(job.operation->body);
      parts_.connect_links(lease(), links.connections,
                           [to = links.connected, ended](Status status) {
                             *to = std::move(status);
                             ended();
                           });
    } else {
      parts_.host_work.Add(id(), [job = std::move(job), ended] {
        if (!job.operation->host_work_cancelled.load(std::memory_order_relaxed)) job.work();
        ended();
      });
    }
  }
}

void Session::ListSlices() {
  for (auto& [number, queue] : pipeline_.queues().all()) {
    if (queue.slices.listing_changed()) parts_.next_slice_changed(queue);
  }
}

void Session::Advance() {
  if (!WaitsForData()) deadlines_.DataArrived(parts_.clock.Now());
  if (open()) pipeline_.Advance();
  PassHostWorkOn();
  ListSlices();
  const uint64_t ended = pipeline_.queues().commands_ended();
  if (ended != ended_counted_) deadlines_.CommandSeen(parts_.clock.Now());
  parts_.commands_ended.fetch_add(ended - std::exchange(ended_counted_, ended),
                                  std::memory_order_relaxed);
  EndIfDrained();
  ScheduleCheck();
  Changed();
}

void Session::Changed() {
  if (!std::exchange(changed_, true)) parts_.changed.Add(shared_from_this());
}

bool Session::continues() const {
  return phase_ == Phase::kActive && !draining_ && pipeline_.queues().ProgressContinues();
}

// Figures first: a client that has progress also finds it there.
void Session::Publish() {
  changed_ = false;
  PublishFigures();
  SessionQueues& queues = pipeline_.queues();
  const Outbox::Activity activity{!pipeline_.busy(), draining_ || queues.wait_for_output()};
  if (channel_.outbox().Announce(activity, &queues.progress())) channel_.Wake(/*brief=*/true);
  if (phase_ == Phase::kFinishing && NothingLeft()) channel_.outbox().EndAfterOutput();
}

void Session::ScheduleCheck() {
  if (!open()) return;
  TimePoint until = pipeline_.queues().next_deadline();
  if (pipeline_.quarantine().has_value()) {
    until = std::min(until, parts_.quarantine.Until(share_.uid));
  }
  const std::optional<TimePoint> next =
      deadlines_.Schedule({WaitsForData(), channel_.window().reduced(), until}, parts_.clock.Now());
  if (next) parts_.deadlines.RunBy(*next);
}

bool Session::WaitsForData() const { return !detached() && pipeline_.queues().wait_for_data(); }

// A detached client does not hold up the daemon's end with results it has not received.
void Session::EndIfDrained() {
  if (!draining_ || !open() || !NothingLeft()) return;
  const bool all_taken = pipeline_.queues().progress().queues.empty() && channel_.outbox().empty();
  if (detached() || (phase_ == Phase::kActive && all_taken)) End(ToStatus(DrainingError()));
}

// ---- the device thread

bool Session::MayStart(SessionQueue& queue, TimePoint now) {
  if (pipeline_.MayStart(queue, now)) return true;
  Advance();
  return false;
}

Slice Session::Submitted(SessionQueue& queue, const Ticket& ticket) {
  Slice slice = pipeline_.Submitted(queue, ticket);
  PassHostWorkOn();
  ListSlices();
  if (pipeline_.queues().wait_for_output()) Changed();
  return slice;
}

void Session::Refused(SessionQueue& queue, const SliceError& error) {
  pipeline_.Refused(queue, error);
  Advance();
}

void Session::Done(std::span<Slice> slices) {
  figures_.Add(slices);
  for (Slice& slice : slices) pipeline_.Done(slice);
  Advance();
  ReleaseIfIdle();
}

void Session::Failed(const Slice& slice, const SliceError& error) {
  pipeline_.Failed(slice, error);
  Advance();
  ReleaseIfIdle();
}

void Session::Requeue(const Ticket& ticket, Slice slice) {
  pipeline_.Requeue(ticket, std::move(slice));
  Advance();
  ReleaseIfIdle();
}

void Session::Printed(const Slice& slice, KernelPrint print) {
  pipeline_.Printed(*slice.operation, std::move(print));
  Changed();
}

// ---- the end

void Session::End(const Status& status) {
  if (open()) {
    phase_ = Phase::kEnded;
    input_.messages.clear();
    channel_.inbox().Close(status);
    pipeline_.DropAll();
    ListSlices();
    PublishFigures();
    ReleaseIfIdle();
    channel_.outbox().EndNow(status);  // the client receives the end when what it had is free
  }
}

// Memory is freed when the device cannot reach it any more.
void Session::ReleaseIfIdle() {
  if (phase_ != Phase::kEnded || pipeline_.outstanding()) return;
  phase_ = Phase::kReleased;
  pipeline_.Release();
  channel_.window().Close();
  parts_.memory_freed();
  parts_.released(id());
}

void Session::Drain() {
  if (!open() || draining_) return;
  if (waiting_) return End(ToStatus(DrainingError()));
  draining_ = true;
  pipeline_.decoder().RefuseNew(DrainingError());
}

void Session::Undrain() {
  if (!std::exchange(draining_, false)) return;
  pipeline_.decoder().RefuseNew(std::nullopt);
}

void Session::LeaseGranted(std::string token) {
  if (phase_ != Phase::kActive || !std::exchange(waiting_, false)) return;
  deadlines_.DataArrived(parts_.clock.Now());
  deadlines_.CommandSeen(parts_.clock.Now());
  channel_.inbox().Open();
  channel_.outbox().SetWelcome(std::move(token));
  Changed();
}

void Session::NotifyWaiting(const LeaseWaitReply& wait) {
  if (!open() || (wait.position != 0 && !waiting_)) return;
  channel_.outbox().SetWaiting(wait);
  Changed();
}

TimePoint Session::LastAtWork(TimePoint now) const {
  return NothingLeft() ? deadlines_.last_command() : now;
}

void Session::CountHang() {
  figures_.Publish([](SessionInfoReply* info) { ++info->hangs; });
}

void Session::UpdateQuarantine() {
  const Quarantine::Entry* const active = parts_.quarantine.Find(share_.uid, parts_.clock.Now());
  const bool was = pipeline_.quarantine().has_value();
  if (active != nullptr && !was && open()) pipeline_.BeginQuarantine(active->error);
  if (active == nullptr && was) pipeline_.EndQuarantine();
  Advance();
}

TimePoint Session::CheckDeadlines(TimePoint now) {
  if (!deadlines_.TakeIfDue(now))
    return deadlines_.next_check();  // a check passes over all commands
  if (!open()) return TimePoint::max();
  if (const std::optional<Status> late = deadlines_.Late(WaitsForData(), now)) {
    End(*late);
    return TimePoint::max();
  }
  if (pipeline_.quarantine().has_value()) UpdateQuarantine();
  pipeline_.CheckDeadlines(now);
  Advance();
  if (phase_ == Phase::kActive) {
    if (const std::optional<Status> idle = deadlines_.Idle(!NothingLeft(), now)) End(*idle);
  }
  return deadlines_.next_check();
}

// ---- figures

SessionState Session::State() const {
  if (open() && pipeline_.quarantine().has_value()) return SessionState::kQuarantined;
  if (detached()) return SessionState::kDetached;
  if (phase_ == Phase::kFinishing) return SessionState::kFinishing;
  if (phase_ != Phase::kActive) return SessionState::kEnding;
  return waiting_ ? SessionState::kWaiting : SessionState::kActive;
}

void Session::PublishFigures() {
  figures_.Publish([this](SessionInfoReply* info) {
    info->pid = deadlines_.connection().pid;
    info->state = State();
    const Refusal& quarantine = pipeline_.quarantine();
    info->quarantine_reason = quarantine.has_value() ? quarantine->message : "";
    info->dram_bytes = pipeline_.handles().dram_bytes();
    info->l1_bytes = pipeline_.handles().l1_bytes();
    info->handles = static_cast<uint32_t>(pipeline_.handles().size());
    pipeline_.queues().Describe(info);
    if (info->devices.empty()) info->devices.push_back(device());
  });
}

}  // namespace ttfd
