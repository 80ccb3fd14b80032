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

StatusOr<std::unique_ptr<Daemon>> Daemon::Create(std::vector<ServedCard> cards, Clock& clock,
                                                 DaemonOptions options, LinkDriver links) {
  if (cards.empty()) return InvalidArgument("a daemon needs a card");
  if (!options.load_kernel) options.load_kernel = LoadKernel;
  if (!options.random_bytes) options.random_bytes = RandomBytes;
  if (!options.process_ended) options.process_ended = ProcessHasEnded;
  if (!options.trim_memory) options.trim_memory = [] { malloc_trim(0); };
  return std::unique_ptr<Daemon>(
      new Daemon(std::move(cards), clock, std::move(options), std::move(links)));
}

Daemon::Daemon(std::vector<ServedCard> cards, Clock& clock, DaemonOptions options, LinkDriver links)
    : clock_(clock),
      options_(std::move(options)),
      hangs_(options_.hang_reports),
      cards_(options_.kernel_store_bytes, options_.load_kernel),
      timers_([this] { thread_.Wake(/*brief=*/false); }),
      sessions_(MakeSessionParts(),
                {options_.identity, options_.limits, options_.timeouts, options_.hangs,
                 options_.random_bytes, options_.user_name, options_.process_ended}),
      leases_({sessions_, cards_, thread_, clock, options_.random_bytes, timers_},
              {std::chrono::milliseconds(options_.limits.lease_ms),
               std::chrono::milliseconds(options_.limits.lease_idle_ms),
               std::chrono::milliseconds(options_.limits.lease_wait_ms),
               options_.limits.leases_per_user}),
      drain_(sessions_, host_work_, clock, timers_),
      trimmer_(sessions_, host_work_, clock, timers_, options_.trim_memory),
      input_(
          clock, [this](bool brief) { thread_.Wake(brief); },
          [this](uint64_t session, Duration time) { cards_.Charge(session, time); }),
      thread_(*this, sessions_.timeouts(), clock, options_.thread,
              WithHangs(options_.card, hangs_.keeper())),
      links_(cards_, thread_, std::move(links)),
      admin_({options_.identity, sessions_, leases_, drain_, cards_, hangs_, booted_, clock,
              options_.scheduler.quantum}) {
  cards_.Add(std::move(cards), options_.scheduler, options_.kernel_times, thread_);
}

Sessions::Parts Daemon::MakeSessionParts() {
  return {clock_,
          host_work_,
          input_,
          timers_,
          [this](bool in_use) { thread_.SetInUse(in_use); },
          [this](SessionQueue& queue) { NextSliceChanged(queue); },
          [this](uint64_t session) { SessionReleased(session); },
          [this](uint64_t lease, uint32_t device, const TileSet& workers) {
            return leases_.Text(lease, {workers, {device}});
          },
          [this](uint64_t lease, std::vector<LinkConnection> links,
                 std::function<void(const Status&)> done) {
            links_.Connect(lease, std::move(links), std::move(done));
          },
          [this] { trimmer_.MemoryFreed(); }};
}

Daemon::~Daemon() {
  if (thread_.started()) Stop(clock_.Now()).IgnoreError();
}

Status Daemon::Boot() {
  RETURN_IF_ERROR(thread_.Boot());
  booted_ = true;
  return OkStatus();
}

Status Daemon::Start() {
  if (!booted_) RETURN_IF_ERROR(Boot());
  thread_.Start();
  host_work_.Start();
  return OkStatus();
}

Status Daemon::Stop(TimePoint deadline) {
  drain_.Stop();
  host_work_.Stop();
  Status stopped = thread_.Stop(deadline);
  sessions_.Publish(TimePoint::max());
  return stopped;
}

StatusOr<std::shared_ptr<SessionPort>> Daemon::Open(const PeerIdentity& peer,
                                                    const HelloRequest& hello,
                                                    SessionOutput* output,
                                                    std::shared_ptr<SessionTransport> transport) {
  if (!booted_) return Error(StatusCode::kUnavailable, "no card has booted yet");
  const auto place = [&](const SessionClient& who,
                         std::span<const DeviceLoad> loads) -> StatusOr<SessionLease> {
    std::optional<uint32_t> named = hello.device;
    if (!named.has_value() && !hello.lease.devices.empty()) named = hello.lease.devices.front();
    ASSIGN_OR_RETURN(const uint32_t device, cards_.Choose(named, loads));
    return leases_.Request(hello, who, device);
  };
  return sessions_.Open(peer, hello, cards_, output, std::move(transport), place);
}

// ---- device thread

void Daemon::SessionReleased(uint64_t session) {
  cards_.RemoveSession(session);
  sessions_.Remove(session);
  links_.Release(leases_.Leave(session));
  drain_.SessionReleased();
}

void Daemon::NextSliceChanged(SessionQueue& queue) {
  cards_.NextSliceChanged(queue);
  if (const Slice* const slice = queue.slices.next()) leases_.SliceIsNext(*slice);
}

void Daemon::DeviceStateChanged(uint32_t device, DeviceState state, const std::string& why) {
  DaemonCard& card = cards_.at(device);
  card.health.Set(state, why, card.executor->stats().launches);
  if (state == DeviceState::kRecovering || state == DeviceState::kFailed) {
    links_.CardIsReset(device);
  }
  const bool memory_lost =
      state == DeviceState::kRecovering && !card.executor->device_info().memory_survives_reset;
  if (state != DeviceState::kFailed && !memory_lost) return;
  // A buffer that silently holds something else is worse than no session.
  const std::string text =
      memory_lost ? fmt::format("the card was reset and lost its memory: {}", why) : why;
  for (const auto& session : sessions_.All()) {
    if (session->Uses(device)) session->End(DeviceResetStatus(text));
  }
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
  bool more = thread_.RunOnce();
  while (host_work_.RunOne()) more = true;
  return more;
}

}  // namespace ttfd
