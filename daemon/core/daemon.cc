// Boots, starts and stops; connects the parts.
#include "daemon/core/daemon.h"

#include <malloc.h>
#include <sys/random.h>

#include <utility>

#include "daemon/api/errors.h"
#include "daemon/core/process.h"
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

}  // namespace

StatusOr<std::unique_ptr<Daemon>> Daemon::Create(std::unique_ptr<Card> card, Clock& clock,
                                                 DaemonOptions options) {
  if (card == nullptr) return InvalidArgument("a daemon needs a card");
  if (!options.load_kernel) options.load_kernel = LoadKernel;
  if (!options.random_bytes) options.random_bytes = RandomBytes;
  if (!options.process_ended) options.process_ended = ProcessHasEnded;
  if (!options.trim_memory) options.trim_memory = [] { malloc_trim(0); };
  options.scheduler.workers = card->geometry().worker_count();
  return std::unique_ptr<Daemon>(new Daemon(std::move(card), clock, std::move(options)));
}

Daemon::Daemon(std::unique_ptr<Card> card, Clock& clock, DaemonOptions options)
    : clock_(clock),
      options_(std::move(options)),
      hangs_(options_.hang_store, options_.hang_writer),
      timers_([this] { executor_.Wake(/*brief=*/false); }),
      sessions_(MakeSessionParts(),
                {options_.identity, options_.limits, options_.timeouts, options_.hangs,
                 options_.random_bytes, options_.user_name, options_.process_ended}),
      leases_({sessions_, executor_, clock, options_.random_bytes, timers_},
              {std::chrono::milliseconds(options_.limits.lease_ms),
               std::chrono::milliseconds(options_.limits.lease_idle_ms),
               std::chrono::milliseconds(options_.limits.lease_wait_ms),
               options_.limits.leases_per_user}),
      drain_(sessions_, host_work_, clock, timers_),
      trimmer_(sessions_, host_work_, clock, timers_, options_.trim_memory),
      schedulers_{Scheduler(options_.scheduler, &leases_.gate()),
                  Scheduler(options_.scheduler, &leases_.gate())},
      input_(
          clock, [this](bool brief) { executor_.Wake(brief); },
          [this](uint64_t session, Duration time) {
            for (Scheduler& scheduler : schedulers_) scheduler.Charge(session, time);
          }),
      executor_(std::move(card), {&schedulers_[0], &schedulers_[1]}, *this, sessions_.timeouts(),
                clock, WithHangs(options_.card, hangs_.keeper())),
      admin_({options_.identity, sessions_, leases_, drain_, executor_, hangs_, health_, clock,
              options_.scheduler.quantum}) {}

Sessions::Parts Daemon::MakeSessionParts() {
  return {clock_,
          host_work_,
          input_,
          timers_,
          [this](bool in_use) { executor_.SetInUse(in_use); },
          [this](SessionQueue& queue) { NextSliceChanged(queue); },
          [this](uint64_t session) { SessionReleased(session); },
          [this](uint64_t lease, const TileSet& workers) { return leases_.Text(lease, workers); },
          [this] { trimmer_.MemoryFreed(); }};
}

Daemon::~Daemon() {
  if (executor_.started()) Stop(clock_.Now()).IgnoreError();
}

Status Daemon::Boot() {
  RETURN_IF_ERROR(executor_.Boot());
  const CardDescription& description = executor_.description();
  card_.reset(new CardResources{description,
                                executor_.geometry(),
                                options_.kernel_times,
                                {description, executor_.device_info().memory_is_zero_after_power_on,
                                 executor_.kernel_bounds()},
                                KernelStore(options_.kernel_store_bytes, options_.load_kernel)});
  leases_.SetGrid(description.grid);
  admin_.SetCard(*card_);
  return OkStatus();
}

Status Daemon::Start() {
  if (card_ == nullptr) RETURN_IF_ERROR(Boot());
  executor_.Start();
  host_work_.Start();
  return OkStatus();
}

Status Daemon::Stop(TimePoint deadline) {
  drain_.Stop();
  host_work_.Stop();
  Status stopped = executor_.Stop(deadline);
  sessions_.Publish(TimePoint::max());
  return stopped;
}

StatusOr<std::shared_ptr<SessionPort>> Daemon::Open(const PeerIdentity& peer,
                                                    const HelloRequest& hello,
                                                    SessionOutput* output,
                                                    std::shared_ptr<SessionTransport> transport) {
  if (card_ == nullptr) return Error(StatusCode::kUnavailable, "the card has not booted yet");
  return sessions_.Open(peer, hello, *card_, admin_.ListDevices().devices, output,
                        std::move(transport),
                        [&](const SessionClient& who) { return leases_.Request(hello, who); });
}

// ---- device thread

void Daemon::SessionReleased(uint64_t session) {
  for (Scheduler& scheduler : schedulers_) scheduler.RemoveSession(session);
  sessions_.Remove(session);
  leases_.Leave(session);
  drain_.SessionReleased();
}

void Daemon::NextSliceChanged(SessionQueue& queue) {
  schedulers_[queue.route.hardware_queue].NextSliceChanged(queue);
  if (const Slice* const slice = queue.slices.next()) leases_.SliceIsNext(*slice);
}

void Daemon::DeviceStateChanged(DeviceState state, const std::string& why) {
  health_.Set(state, why, executor_.stats().launches);
  const bool failed = state == DeviceState::kFailed;
  sessions_.SetClosed(Sessions::Closed::kDeviceFailed, failed ? DeviceResetStatus(why) : OkStatus(),
                      [](Session&) {});
  const bool memory_lost =
      state == DeviceState::kRecovering && !executor_.device_info().memory_survives_reset;
  if (!failed && !memory_lost) return;
  // A buffer that silently holds something else is worse than no session.
  const std::string text =
      memory_lost ? fmt::format("the card was reset and lost its memory: {}", why) : why;
  for (const auto& session : sessions_.All()) session->End(DeviceResetStatus(text));
}

bool Daemon::HandleInput() {
  const bool handled = input_.HandleSome();
  return timers_.RunDue(clock_) || handled;
}

TimePoint Daemon::InputDue() const { return input_.any() ? TimePoint::min() : timers_.next(); }

void Daemon::HandleAllInput() {
  do {
    while (has_input()) HandleInput();
    Publish(/*all=*/true);
  } while (host_work_.RunOne());
}

bool Daemon::RunOnce() {
  bool more = executor_.RunOnce();
  while (host_work_.RunOne()) more = true;
  return more;
}

}  // namespace ttfd
