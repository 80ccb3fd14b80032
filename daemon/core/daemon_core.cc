// Opens, lists and ends sessions; boots and stops.
#include "daemon/core/daemon_core.h"

#include <malloc.h>
#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "daemon/core/hello_check.h"
#include "daemon/core/process.h"
#include "daemon/session/errors.h"
#include "daemon/session/status_reason.h"
#include "runtime/boot/kernel_elf.h"

namespace ttfd {
namespace {

std::string RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  if (getrandom(bytes.data(), count, 0) != static_cast<ssize_t>(count)) bytes.clear();
  return bytes;
}

CardExecutorOptions WithHangs(CardExecutorOptions options, HangKeeper* hangs) {
  if (hangs != nullptr) options.hangs = hangs;
  return options;
}

Status NoSuchSession(uint64_t session) {
  return WithReason(Error(StatusCode::kNotFound, "there is no session {}", session),
                    reason::kInvalid, "session");
}

}  // namespace

StatusOr<std::unique_ptr<DaemonCore>> DaemonCore::Create(std::unique_ptr<Card> card, Clock& clock,
                                                         DaemonOptions options) {
  if (card == nullptr) return InvalidArgument("a daemon needs a card");
  if (!options.load_kernel) options.load_kernel = LoadKernel;
  if (!options.random_bytes) options.random_bytes = RandomBytes;
  if (!options.process_ended) options.process_ended = ProcessHasEnded;
  if (!options.trim_memory) options.trim_memory = [] { malloc_trim(0); };
  options.scheduler.workers = card->geometry().worker_count();
  return std::unique_ptr<DaemonCore>(new DaemonCore(std::move(card), clock, std::move(options)));
}

DaemonCore::DaemonCore(std::unique_ptr<Card> card, Clock& clock, DaemonOptions options)
    : clock_(clock),
      options_(std::move(options)),
      created_(clock.Now()),
      hang_store_(std::make_shared<HangStore>(options_.hang_store)),
      hang_writer_(options_.hang_store.folder.empty()
                       ? nullptr
                       : std::make_unique<HangWriter>(hang_store_, options_.hang_writer)),
      schedulers_{Scheduler(options_.scheduler, &gate_), Scheduler(options_.scheduler, &gate_)},
      sessions_(environment_, {options_.identity, options_.random_bytes, options_.user_name,
                               [this](bool in_use) { executor_.SetInUse(in_use); }}),
      leases_({sessions_, executor_, gate_, clock, options_.random_bytes,
               [this](TimePoint when) { RunChecksAt(when); }},
              {std::chrono::milliseconds(options_.limits.lease_ms),
               std::chrono::milliseconds(options_.limits.lease_idle_ms),
               std::chrono::milliseconds(options_.limits.lease_wait_ms),
               options_.limits.leases_per_user}),
      drain_(sessions_, host_work_, clock, [this](TimePoint when) { RunChecksAt(when); }),
      input_(
          clock, [this] { executor_.Wake(); },
          [this](uint64_t session, Duration time) {
            for (Scheduler& scheduler : schedulers_) scheduler.Charge(session, time);
          }),
      executor_(std::move(card), {&schedulers_[0], &schedulers_[1]}, *this, environment_.timeouts,
                clock, WithHangs(options_.card, hang_writer_.get())) {
  environment_.limits = options_.limits;
  environment_.windows = options_.windows;
  environment_.kernels =
      std::make_unique<KernelStore>(options_.kernel_store_bytes, options_.load_kernel);
  environment_.host_work = &host_work_;
  environment_.input = &input_;
  environment_.clock = &clock;
  environment_.process_ended = options_.process_ended;
  environment_.host = this;
  environment_.timeouts.Set(options_.timeouts);
}

DaemonCore::~DaemonCore() {
  if (started_) Stop(clock_.Now()).IgnoreError();
}

Status DaemonCore::Boot() {
  RETURN_IF_ERROR(executor_.Boot());
  device_ = {0, executor_.device_info(), executor_.description()};
  environment_.card = device_.card;
  environment_.geometry = &executor_.geometry();
  leases_.SetGrid(device_.card.grid);
  environment_.memory = std::make_unique<DeviceMemory>(
      device_.card, device_.info.memory_is_zero_after_power_on, executor_.kernel_bounds());
  booted_ = true;
  return OkStatus();
}

Status DaemonCore::Start() {
  if (!booted_) RETURN_IF_ERROR(Boot());
  executor_.Start();
  host_work_.Start();
  started_ = true;
  return OkStatus();
}

Status DaemonCore::Stop(TimePoint deadline) {
  drain_.Stop();
  host_work_.Stop();
  started_ = false;
  return executor_.Stop(deadline);
}

// ---- sessions

StatusOr<std::shared_ptr<ClientSession>> DaemonCore::Open(
    const PeerIdentity& peer, const HelloRequest& hello, SessionOutput* output,
    std::shared_ptr<SessionTransport> transport) {
  RETURN_IF_ERROR(CheckHello(environment_.limits, peer, hello));
  if (hello.attach == AttachKind::kResume) return sessions_.Resume(peer, hello, output);
  const uint64_t idle_ms = environment_.limits.idle_ms;
  if (idle_ms != 0) CheckSessionsAt(clock_.Now() + std::chrono::milliseconds(idle_ms));
  return sessions_.Open(peer, hello, ListDevices().devices, output, std::move(transport),
                        [&](const SessionClient& who) { return leases_.Request(hello, who); });
}

void DaemonCore::SessionReleased(uint64_t session) {
  for (Scheduler& scheduler : schedulers_) scheduler.RemoveSession(session);
  sessions_.Remove(session);
  leases_.Leave(session);
  drain_.SessionReleased();
}

void DaemonCore::NextSliceChanged(SessionQueue& queue) {
  schedulers_[queue.route.hardware_queue].NextSliceChanged(queue);
  if (const Slice* const slice = queue.slices.next()) leases_.SliceIsNext(*slice);
}

std::string DaemonCore::LeaseText(uint64_t lease, const TileSet& workers) {
  return leases_.Text(lease, workers);
}

std::vector<LeaseInfoReply> DaemonCore::ListLeases() { return leases_.List(); }

std::vector<SessionInfoReply> DaemonCore::ListSessions() {
  const TimePoint now = clock_.Now();
  std::vector<SessionInfoReply> infos;
  for (const auto& session : sessions_.All()) infos.push_back(session->Info(now));
  return infos;
}

Status DaemonCore::TerminateSession(uint64_t session, const std::string& reason) {
  const std::shared_ptr<Session> found = sessions_.Find(session);
  if (found == nullptr) return NoSuchSession(session);
  const Status why =
      WithReason(Error(StatusCode::kAborted, "an administrator terminated the session: {}", reason),
                 reason::kCancelled);
  found->Post([why](Session& ended) { ended.End(why); });
  return OkStatus();
}

Status DaemonCore::ReleaseSession(uint64_t session) {
  const std::shared_ptr<Session> found = sessions_.Find(session);
  if (found == nullptr) return NoSuchSession(session);
  if (found->Info(clock_.Now()).quarantine_reason.empty()) {
    return WithReason(
        Error(StatusCode::kFailedPrecondition, "session {} is not quarantined", session),
        reason::kInvalid, "session");
  }
  found->Post([this](Session& released) {
    environment_.quarantine.End(released.uid());
    UpdateQuarantine(released.uid());
  });
  return OkStatus();
}

// ---- timeouts

StatusOr<TimeoutsReply> DaemonCore::GetTimeouts(uint64_t session) {
  if (session == 0) return environment_.timeouts.Get();
  const std::shared_ptr<Session> found = sessions_.Find(session);
  if (found == nullptr) return NoSuchSession(session);
  return found->timeouts();
}

StatusOr<TimeoutsReply> DaemonCore::SetTimeouts(uint64_t session, const TimeoutsReply& timeouts) {
  if (session != 0) {
    const std::shared_ptr<Session> found = sessions_.Find(session);
    if (found == nullptr) return NoSuchSession(session);
    found->SetTimeouts(timeouts);
    return found->timeouts();
  }
  environment_.timeouts.Set(timeouts);
  for (const auto& found : sessions_.All()) found->SetTimeouts({});
  return environment_.timeouts.Get();
}

}  // namespace ttfd
