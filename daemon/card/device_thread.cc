// One round of the device thread: take requests, run each card, judge those that are stalled, recover.
#include "daemon/card/device_thread.h"

#include <set>
#include <utility>

#include "runtime/base/log.h"

namespace ttfd {
namespace {

// Time of rounds on a borrowed role: what else the borrower has to do waits so long.
constexpr Duration kBorrowedRounds = std::chrono::microseconds(100);

// While a profile is taken, which has an end and may be cancelled.
constexpr Duration kProfileTick = std::chrono::milliseconds(20);

CardClocks ClocksOf(const DeviceThreadOptions& options, Clock& clock) {
  Clock& device = options.device_clock != nullptr ? *options.device_clock : clock;
  return {clock, device, options.work_clock != nullptr ? *options.work_clock : device};
}

}  // namespace

DeviceThread::DeviceThread(DeviceObserver& observer, const Timeouts& timeouts, Clock& clock,
                           DeviceThreadOptions options, const CardExecutorOptions& card_options)
    : observer_(observer),
      options_(std::move(options)),
      card_options_(card_options),
      clocks_(ClocksOf(options_, clock)),
      timeouts_(timeouts),
      backoff_(options_.spin) {}

DeviceThread::~DeviceThread() {
  if (thread_.joinable()) Stop(clocks_.host.Now()).IgnoreError();
}

CardExecutor& DeviceThread::Add(ServedCard card, const InFlight::Schedulers& schedulers) {
  const auto number = static_cast<uint32_t>(cards_.size());
  cards_.push_back(std::make_unique<CardExecutor>(
      CardExecutor::Parts{
          requests_, observer_, timeouts_, clocks_, card_options_,
          [this, number] { return KeepWaiting(*cards_[number]); },
          [this] { return StopIsOverdue(); },
          [this, number](ResetStrength strength) { BeforeReset(number, strength); }},
      number, std::move(card), schedulers));
  domains_.push_back(next_domain_++);
  return *cards_.back();
}

Status DeviceThread::Boot() {
  std::vector<std::pair<uint32_t, Status>> failed;
  for (const auto& card : cards_) {
    Status booted = card->Boot();
    if (booted.code() == StatusCode::kCancelled) return booted;
    if (!booted.ok()) failed.emplace_back(card->device(), booted);
  }
  if (failed.size() == cards_.size()) return failed.front().second;
  for (const auto& [device, status] : failed) {
    LogError("device {} does not boot; it is not served before a reset: {}", device,
             StatusMessage(status));
    observer_.DeviceStateChanged(device, DeviceState::kFailed, std::string(StatusMessage(status)));
  }
  return OkStatus();
}

// ---- any thread

void DeviceThread::SetInUse(bool in_use) {
  requests_.Add([this, in_use](const Status& stopped) {
    if (!stopped.ok()) return;
    for (const auto& card : cards_) card->SetInUse(in_use);
  });
}

// ---- the holder of the role

void DeviceThread::SetLinked(std::span<const uint32_t> devices, bool linked) {
  if (!linked) {
    for (const uint32_t device : devices) domains_[device] = next_domain_++;
    return;
  }
  std::set<uint32_t> joined;
  for (const uint32_t device : devices) joined.insert(domains_[device]);
  for (uint32_t& domain : domains_) {
    if (joined.contains(domain)) domain = next_domain_;
  }
  ++next_domain_;
}

// With several cards at work each has the thread for a short time.
void DeviceThread::RunCards(TimePoint until, const CardExecutor* waited_for) {
  size_t at_work = 0;
  for (const auto& card : cards_) at_work += card->motion() != CardExecutor::Motion::kIdle ? 1 : 0;
  const auto interrupted = [&] {
    return at_work > 1 || waited_for != nullptr || observer_.has_input() ||
           clocks_.host.Now() >= until;
  };
  for (const auto& card : cards_) {
    if (card.get() != waited_for) card->Run(interrupted);
  }
}

void DeviceThread::JudgeStalled() {
  using Motion = CardExecutor::Motion;
  for (const auto& card : cards_) {
    if (card->motion() != Motion::kStalled || card->stopped()) continue;
    std::vector<CardExecutor*> linked;
    for (const auto& other : cards_) {
      if (Linked(*card, *other)) linked.push_back(other.get());
    }
    const bool all = std::all_of(linked.begin(), linked.end(), [](const CardExecutor* other) {
      return other->motion() == Motion::kStalled;
    });
    // Where none is linked, nothing is read before the host's records are kept.
    const bool faulted = !linked.empty() && card->StalledOnFault(/*at_once=*/all);
    const bool another = all && std::any_of(linked.begin(), linked.end(), [](CardExecutor* other) {
                           return other->StalledOnFault(/*at_once=*/true);
                         });
    if (faulted || (all && !another)) card->SetHanging();
  }
}

void DeviceThread::HaltLinked() {
  if (!AnyCard(&CardExecutor::stopped)) return;
  const auto linked_with_stopped = [this](const CardExecutor& card) {
    return std::any_of(cards_.begin(), cards_.end(),
                       [&](const auto& other) { return Linked(card, *other) && other->stopped(); });
  };
  std::vector<CardExecutor*> waiting;
  for (const auto& card : cards_) {
    if (card->stopped() || !linked_with_stopped(*card) || !card->runs_kernels()) continue;
    waiting.push_back(card.get());
  }
  for (CardExecutor* const card : waiting) {
    card->SetToBeReset("reset with one that its kernels have links to");
  }
  // A chip behind a link before the one that it is reached through.
  for (auto card = cards_.rbegin(); card != cards_.rend(); ++card) {
    if (linked_with_stopped(**card)) (*card)->HaltIfStopped();
  }
}

bool DeviceThread::EndRound(bool had_input) {
  bool idle = true;
  bool news = had_input;
  for (const auto& card : cards_) {
    idle &= card->ShowQueues();
    news |= card->TakeNews();
  }
  news |= observer_.Publish(/*all=*/idle);
  idle = idle && !requests_.pending() && !observer_.has_input();
  if (news) backoff_.Restart();
  if (news && options_.on_round_end) options_.on_round_end(idle);
  return idle;
}

TimePoint DeviceThread::NextDue() const {
  TimePoint due = observer_.InputDue();
  for (const auto& card : cards_) due = std::min(due, card->next_look());
  return due;
}

void DeviceThread::RunBorrowed() {
  if (!requests_.borrowed()) return;
  TakeRole();
  const TimePoint until = clocks_.host.Now() + kBorrowedRounds;
  bool more = true;
  do {
    heartbeat_.fetch_add(1, std::memory_order_relaxed);
    requests_.TakeWake();
    const bool had_input = observer_.HandleInput();
    RunCards(until, nullptr);
    JudgeStalled();
    for (const auto& card : cards_) card->CheckQuiet();
    more = !EndRound(had_input);
  } while (more && !AnyCard(&CardExecutor::stopped) && clocks_.host.Now() < until);
  const bool stopped = AnyCard(&CardExecutor::stopped);
  LeaveRole();
  requests_.Return(more || stopped, NextDue());
}

// ---- device thread

void DeviceThread::HandleRequests() {
  if (!requests_.pending()) return;
  backoff_.Restart();
  for (const DeviceRequests::Request& request : requests_.Take()) request(OkStatus());
}

bool DeviceThread::RunOnce() {
  heartbeat_.fetch_add(1, std::memory_order_relaxed);
  const bool had_input = observer_.HandleInput();
  HandleRequests();
  for (const auto& card : cards_) card->LookAfter();
  RunCards(TimePoint::max(), nullptr);
  JudgeStalled();
  for (const auto& card : cards_) {
    HaltLinked();  // others may have stopped or begun while the last one booted
    card->Recover();
  }
  bool idle = EndRound(had_input);
  for (const auto& card : cards_) card->ReadIfRequested();
  if (idle && options_.serve_debugger) idle = !options_.serve_debugger();
  return !idle;
}

void DeviceThread::BeforeReset(uint32_t device, ResetStrength strength) {
  for (const auto& card : cards_) {
    if (card->behind() == device) card->NeighbourWillReset(strength);
  }
}

// No card is judged here: the one that is waited for has no turn.
Status DeviceThread::KeepWaiting(const CardExecutor& card) {
  heartbeat_.fetch_add(1, std::memory_order_relaxed);
  bool news = observer_.HandleInput();
  HandleRequests();
  RunCards(TimePoint::max(), &card);
  for (const auto& other : cards_) {
    other->CheckQuiet();
    other->ShowQueues();
    news |= other->TakeNews();
    if (other.get() != &card) other->ReadIfRequested();
  }
  news |= observer_.Publish(/*all=*/true);
  if (news && options_.on_round_end) options_.on_round_end(/*idle=*/false);
  if (!StopIsOverdue()) return OkStatus();
  return Error(StatusCode::kCancelled, "the daemon stops and waits for the card no longer");
}

// ---- the thread

void DeviceThread::Start() {
  thread_ = std::thread([this] { ThreadMain(); });
}

void DeviceThread::TakeRole() {
  if (options_.work_clock != nullptr) options_.work_clock->Take();
  if (options_.on_role) options_.on_role(/*taken=*/true);
}

void DeviceThread::LeaveRole() {
  if (options_.on_role) options_.on_role(/*taken=*/false);
  if (options_.work_clock != nullptr) options_.work_clock->Leave();
}

void DeviceThread::ThreadMain() {
  if (options_.on_thread_start) options_.on_thread_start();
  TakeRole();
  while (true) {
    const bool more = RunOnce();
    if (requests_.stopping() && (!more || StopIsOverdue())) break;
    Pause(more);
  }
  LeaveRole();
}

void DeviceThread::Pause(bool more) {
  if (more && AnyCard(&CardExecutor::needs_rounds)) return;
  const TimePoint now = clocks_.host.Now();
  const Duration pause = backoff_.Next(now);
  if (pause == Duration::zero()) return;
  const bool profiling = AnyCard(&CardExecutor::profiling);
  const TimePoint tick = now + (profiling ? kProfileTick : options_.idle_tick);
  const TimePoint until = more ? now + pause : std::min(tick, NextDue());
  const bool lend =
      !more && !profiling && !options_.serve_debugger && !AnyCard(&CardExecutor::stopped);
  LeaveRole();
  requests_.Sleep(until, more, lend);
  TakeRole();
}

Status DeviceThread::Stop(TimePoint deadline) {
  if (card_options_.hangs != nullptr) card_options_.hangs->WaitNoLongerThan(deadline);
  requests_.Stop(deadline);
  if (thread_.joinable()) {
    thread_.join();
    if (options_.work_clock != nullptr) options_.work_clock->Take();
  } else {
    while (RunOnce() && clocks_.host.Now() < deadline) continue;
  }
  while (observer_.has_input()) observer_.HandleInput();
  const Status stopped = Error(StatusCode::kUnavailable, "the daemon has stopped");
  for (const DeviceRequests::Request& request : requests_.Take()) request(stopped);
  requests_.SetStopTime(TimePoint::max());
  // A chip behind a link is shut down before the one that it is reached through.
  Status result;
  for (auto card = cards_.rbegin(); card != cards_.rend(); ++card) {
    Status down = (*card)->Shutdown(deadline);
    if (result.ok()) result = std::move(down);
  }
  return result;
}

}  // namespace ttfd
