// Puts the parts together: device, card, core, gRPC server, listener, service manager; and takes them apart.
#include "daemon/main_serve.h"

#include <errno.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/core/daemon.h"
#include "daemon/debugger_monitor.h"
#include "daemon/drive_links.h"
#include "daemon/open_device.h"
#include "daemon/rpc/rpc_server.h"
#include "daemon/rpc/tcp_listener.h"
#include "daemon/rpc/unix_listener.h"
#include "daemon/rpc/user_names.h"
#include "daemon/system/service_manager.h"
#include "daemon/system/watchdog.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/role_cpu_clock.h"
#include "runtime/boot/kernel_elf.h"
#include "runtime/card/firmware_card.h"
#include "runtime/device/problem.h"
#include "runtime/fabric/neighbours.h"

namespace ttfd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The boot waits for each of its steps on its own; there are fewer than this.
constexpr int kBootWaits = 12;
// After the drain, and again after the sessions were ended: for the last replies to be read.
constexpr Duration kLastReplies = seconds(2);
// The same when somebody is in a hurry: for clients to hear why their sessions end.
constexpr Duration kHastyReplies = seconds(1);
// Time for the rest of a stop when all waits are over.
constexpr auto kLastSteps = seconds(1);
// How often the end of a drain is looked for.
constexpr auto kDrainLook = milliseconds(10);
// scheduler.spin_us by default, where the card runs by itself: less than a sleep and a wake take.
constexpr uint32_t kCardSpinUs = 50;
// How soon an idle device thread sees that a debugger wants to talk.
constexpr auto kDebuggerTick = milliseconds(50);

class DaemonMain {
 public:
  DaemonMain(const Options& options, Signals& signals, const kmd::System& system)
      : options_(options), signals_(signals), system_(system) {}

  Status Run() {
    RETURN_IF_ERROR(Start());
    const std::string serving = fmt::format("serving {} on {}", CardsText(), where_);
    LogInfo("{}", serving);
    manager_.Ready(serving);
    WaitForStop();
    return Stop();
  }

 private:
  Status Start();
  StatusOr<std::unique_ptr<UnixListener>> Listen();
  StatusOr<std::vector<ServedCard>> OpenCards();
  StatusOr<ServedCard> ServeDevice(uint32_t number, CardOptions options);
  // Clock that the cards' timeouts are measured with.
  Clock& DeviceClock() {
    return debugging_.server != nullptr ? static_cast<Clock&>(device_clock_) : SteadyClock();
  }
  DaemonOptions CoreOptions();
  DeviceThreadOptions ThreadOptions();
  RpcOptions ServerOptions() const;
  // "a model of a p150 (no card)", "4 devices (a model of a p150 (no card))"
  std::string CardsText() const;
  bool AnyDevice(absl::FunctionRef<bool(const DeviceInfo&)> is) const {
    return std::any_of(opened_.devices.begin(), opened_.devices.end(),
                       [is](const auto& device) { return is(device->info()); });
  }
  static bool IsCard(const DeviceInfo& info) { return info.backend == "kmd"; }
  // Does the host not translate what a card sends?
  bool ReachesAllMemory() const {
    return AnyDevice([](const DeviceInfo& info) { return IsCard(info) && !info.iommu; });
  }
  std::vector<std::string> Warnings() const;
  void WaitForStop();
  // Grows while the device thread is alive.
  uint64_t Heartbeat() const {
    return core_->heartbeat() + (debugging_.server != nullptr ? debugging_.server->turns() : 0);
  }
  // gRPC takes new ones by itself and does not say when it cannot.
  void LookAtCertificates() const;
  bool Drain();
  Status Stop();

  const Options& options_;
  Signals& signals_;
  const kmd::System& system_;
  ServiceManager manager_;
  std::string where_;  // the listener's address, for people

  // Each needs those above it.
  StoppableClock device_clock_{SteadyClock()};
  RoleCpuClock work_clock_;  // of a device that runs on the device thread
  Debugging debugging_;
  std::unique_ptr<UserNames> user_names_;
  OpenedDevices opened_;
  std::unique_ptr<Daemon> core_;
  std::unique_ptr<RpcServer> rpc_;  // set before the device thread starts
  std::unique_ptr<UnixListener> listener_;
  std::unique_ptr<TcpListener> tcp_;
};

// By how much the nice value of all threads is lowered, where that of the device thread is lowered by `most`: clients
// wait for the one thread that reads their messages.
uint32_t LoweredForAll(uint32_t most) { return most * 4 / 5; }

// Threads that are created later have the nice value of the one that creates them. An ordinary user may not lower it,
// and needs not to.
void LowerNiceValue(uint32_t by, const char* whose) {
  if (by == 0) return;
  errno = 0;
  const int now = getpriority(PRIO_PROCESS, 0);
  if (errno == 0 && setpriority(PRIO_PROCESS, 0, now - static_cast<int>(by)) == 0) return;
  LogDebug("the nice value of {} cannot be lowered by {} (scheduler.boost): {}", whose, by,
           strerror(errno));
}

// Every connection is a descriptor: as many as the administrator allows.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) LogWarning("cannot raise the limit of open files");
}

Status DaemonMain::Start() {
  RaiseDescriptorLimit();
  LowerNiceValue(LoweredForAll(options_.scheduler.boost), "the daemon's threads");
  RouteGrpcLog();
  if (options_.hangs.folder.empty()) {
    LogInfo("hang reports are not kept: hangs.folder names no folder, or none can be written to");
  } else if (options_.hangs.folder != HangOptions().folder) {
    LogInfo("hang reports are kept in {}", options_.hangs.folder);
  }
  user_names_ = std::make_unique<UserNames>(SteadyClock(), UserNamesOptions());
  // Before the boot, so that a wrong address is known at once and early clients wait instead of failing.
  ASSIGN_OR_RETURN(listener_, Listen());
  if (!options_.tls.address.empty()) {
    ASSIGN_OR_RETURN(tcp_, TcpListener::Create(options_.tls.address));
    where_ += " and " + tcp_->address() + " (TLS)";
  }
  manager_.SetStatus("booting the cards");
  const Duration boot = milliseconds(options_.device.boot_ms) * kBootWaits;
  manager_.ExtendTimeout(boot);
  ASSIGN_OR_RETURN(std::vector<ServedCard> cards, OpenCards());
  manager_.ExtendTimeout(boot * cards.size());
  ASSIGN_OR_RETURN(core_, Daemon::Create(std::move(cards), SteadyClock(), CoreOptions(),
                                         DriveLinks(opened_, DeviceClock())));
  const Status booted = Annotate(core_->Boot(), "boot");
  const bool named = ProblemOf(booted) != Problem::kNone;
  if (!booted.ok()) {
    return AnyDevice(IsCard) && !named ? WithProblem(Problem::kDoesNotBoot, booted) : booted;
  }
  if (debugging_.server != nullptr) debugging_.server->Admit(true);
  ASSIGN_OR_RETURN(rpc_, RpcServer::Create(ServerOptions(), *core_, SteadyClock()));
  if (tcp_ != nullptr) {
    RETURN_IF_ERROR(tcp_->Start(
        [this](UniqueFd connection) { rpc_->AddTlsConnection(std::move(connection)); }));
  }
  RETURN_IF_ERROR(listener_->Start(
      [this](UniqueFd connection) { rpc_->AddConnection(std::move(connection)); }));
  // The last thing that may fail: from here on the device thread calls the server, until Stop has ended it.
  RETURN_IF_ERROR(core_->Start());
  rpc_->SetServing(true);
  return OkStatus();
}

StatusOr<std::unique_ptr<UnixListener>> DaemonMain::Listen() {
  ASSIGN_OR_RETURN(UniqueFd inherited, manager_.TakeListeningSocket());
  if (inherited.valid()) {
    where_ = "the socket of the service manager";
    return UnixListener::Adopt(std::move(inherited));
  }
  where_ = options_.listen.address;
  UnixListener::Options listen;
  listen.path = SocketPath(options_.listen);
  listen.mode = options_.listen.mode;
  listen.group = options_.listen.group;
  return UnixListener::Create(listen);
}

StatusOr<std::vector<ServedCard>> DaemonMain::OpenCards() {
  CardOptions options;
  options.issue_ring_bytes = options_.device.issue_ring_bytes;
  options.completion_ring_pages = options_.device.completion_ring_pages;
  options.boot_timeout = milliseconds(options_.device.boot_ms);
  debugging_.clock = &device_clock_;
  std::vector<ChipId> remote_chips;
  for (const std::string& name : options_.device.remote_chips) {
    ASSIGN_OR_RETURN(remote_chips.emplace_back(), ParseChipId(name));
  }
  ASSIGN_OR_RETURN(opened_, OpenDevices(options_.device.devices, system_, HostBytes(options),
                                        remote_chips, &debugging_));
  if (debugging_.server != nullptr) {
    // During the boot nobody looks at signals: a debugger that stops the card then would hold up the daemon's end.
    debugging_.server->Admit(false);
    LogInfo("debuggers may connect at {}; they see and change everybody's memory",
            debugging_.server->where());
  }
  std::vector<ServedCard> cards;
  std::vector<std::vector<Neighbour>> neighbours = FindNeighbours(opened_.devices, opened_.behind);
  for (uint32_t number = 0; number < opened_.devices.size(); ++number) {
    ASSIGN_OR_RETURN(cards.emplace_back(), ServeDevice(number, options));
    cards.back().neighbours = std::move(neighbours[number]);
  }
  if (debugging_.server != nullptr) {
    // The device thread asks, which runs no longer than the card lives.
    debugging_.server->SetMonitor(
        [probe = &cards[opened_.debugged].card->probe()](std::string_view words) {
          return AnswerMonitor(words, *probe);
        });
  }
  return cards;
}

StatusOr<ServedCard> DaemonMain::ServeDevice(uint32_t number, CardOptions options) {
  Device& device = *opened_.devices[number];
  options.record_path = options_.device.record_path;
  if (!options.record_path.empty() && number > 0) {
    options.record_path += fmt::format(".{}", number);
  }
  ServedCard served;
  ASSIGN_OR_RETURN(served.card, FirmwareCard::Create(device, DeviceClock(), options));
  served.behind = opened_.behind[number];
  served.set_in_use = [&device](bool in_use) { device.SetInUse(in_use); };
  served.settle = [&device] { return device.Settle(); };
  served.read_device = [&device] { return DeviceReading{device.ReadHealth(), ReadLinks(device)}; };
  return served;
}

DaemonOptions DaemonMain::CoreOptions() {
  DaemonOptions options;
  options.identity = {TTFD_VERSION, fmt::format("{}", fmt::join(options_.device.devices, ", ")),
                      Warnings(), ReachesAllMemory() && !options_.device.share_without_iommu};
  for (const std::string& warning : options.identity.warnings) LogWarning("{}", warning);
  options.limits = options_.limits;
  options.timeouts = options_.timeouts;
  options.load_kernel = LoadKernel;
  options.user_name = [names = user_names_.get()](uint32_t uid) { return names->Of(uid); };
  options.scheduler.quantum = std::chrono::microseconds(options_.scheduler.quantum_us);
  options.hang_reports = {{options_.hangs.folder, options_.hangs.reports, options_.hangs.bytes},
                          {.patience = milliseconds(options_.hangs.disk_ms)}};
  options.hangs = {options_.hangs.quarantine_hangs, options_.hangs.quarantine_window_ms};
  options.card.window = std::chrono::microseconds(options_.scheduler.window_us);
  options.card.overlap = options.scheduler.quantum / 2;
  options.kernel_times.segment = options.card.overlap;  // two of them are on the card at a time
  options.kernel_times.launch = options.scheduler.launch_guess;
  options.card.independent_window = options.scheduler.quantum;
  options.card.window_commands = options_.scheduler.window_commands;
  options.thread = ThreadOptions();
  return options;
}

DeviceThreadOptions DaemonMain::ThreadOptions() {
  DeviceThreadOptions options;
  if (AnyDevice([](const DeviceInfo& info) { return info.backend == "embedded"; })) {
    options.work_clock = &work_clock_;
  }
  const bool waits = AnyDevice([](const DeviceInfo& info) { return !info.runs_by_itself; });
  options.spin =
      std::chrono::microseconds(options_.scheduler.spin_us.value_or(waits ? 0 : kCardSpinUs));
  if (debugging_.server != nullptr) {
    options.device_clock = &device_clock_;
    options.idle_tick = kDebuggerTick;
    options.serve_debugger = [this, device = opened_.devices[opened_.debugged].get()] {
      return debugging_.server->Attend(
          [device](uint64_t clocks) { return device->Advance(clocks); });
    };
  }
  options.on_thread_start = [this] {
    const uint32_t most = options_.scheduler.boost;
    LowerNiceValue(most - LoweredForAll(most), "the device thread");
  };
  options.on_role = [this](bool taken) { rpc_->SetDeviceThread(taken); };
  options.on_round_end = [this](bool idle) { rpc_->EndOfDeviceRound(idle); };
  return options;
}

RpcOptions DaemonMain::ServerOptions() const {
  RpcOptions options;
  options.connections = {options_.listen.connections, options_.listen.connections_per_user};
  options.roles.submit_groups = options_.roles.submit;
  options.roles.observe_groups = options_.roles.observe;
  options.roles.admin_groups = options_.roles.admin;
  options.roles.submit_certificates = options_.roles.submit_certificates;
  options.roles.observe_certificates = options_.roles.observe_certificates;
  options.roles.admin_certificates = options_.roles.admin_certificates;
  if (!options_.tls.address.empty()) {
    options.tls = TlsFiles{options_.tls.certificate, options_.tls.key, options_.tls.client_ca};
    options.keepalive = milliseconds(options_.tls.keepalive_ms);
  }
  options.audit.file = options_.audit_file;
  options.user_names = user_names_.get();
  options.hello_timeout = milliseconds(options_.listen.hello_ms);
  options.memory_bytes = options_.listen.memory_bytes;
  options.calls_per_connection = options_.listen.calls_per_connection;
  return options;
}

std::vector<std::string> DaemonMain::Warnings() const {
  if (!ReachesAllMemory()) return {};
  return {fmt::format(
      "the IOMMU is not on for a card: who submits can reach all memory of the host; {} submit",
      options_.device.share_without_iommu ? "several users may (device.share_without_iommu)"
                                          : "only one user and root may")};
}

std::string CardText(const DeviceInfo& info) {
  if (info.backend == "embedded") return fmt::format("a model of a {} (no card)", info.board);
  if (info.backend == "ttsim") return fmt::format("a simulated {} (no card)", info.board);
  return "a " + info.board;
}

std::string DaemonMain::CardsText() const {
  std::vector<std::string> kinds;
  for (const auto& device : opened_.devices) {
    std::string text = CardText(device->info());
    if (std::find(kinds.begin(), kinds.end(), text) == kinds.end()) kinds.push_back(text);
  }
  const size_t count = opened_.devices.size();
  if (count == 1) return kinds.front();
  return fmt::format("{} devices ({})", count, fmt::join(kinds, ", "));
}

// Until SIGTERM or SIGINT; feeds the watchdog meanwhile. SIGHUP opens the audit file again; the configuration is read
// at the start only.
void DaemonMain::WaitForStop() {
  std::optional<Watchdog> watchdog;
  if (const std::optional<Duration> period = manager_.watchdog_period()) {
    watchdog.emplace(*period, Heartbeat(), SteadyClock().Now());
  }
  while (true) {
    const Duration wait = watchdog ? watchdog->next_look() - SteadyClock().Now() : kIdleWait;
    const std::optional<int> signal = signals_.Wait(std::max(wait, Duration::zero()));
    if (signal == SIGTERM || signal == SIGINT) return;
    if (signal == SIGHUP) {
      const Status reopened = rpc_->ReopenAuditFile();
      if (!reopened.ok()) LogError("SIGHUP: {}", reopened.ToString());
      LookAtCertificates();
      LogInfo("SIGHUP: the configuration is read at the start only; restart to change it");
    }
    if (watchdog && watchdog->Look(Heartbeat(), SteadyClock().Now())) manager_.FeedWatchdog();
  }
}

void DaemonMain::LookAtCertificates() const {
  if (tcp_ == nullptr) return;
  const Status good =
      CheckTlsFiles({options_.tls.certificate, options_.tls.key, options_.tls.client_ca});
  if (good.ok()) {
    LogInfo("SIGHUP: the certificates of {} are good", tcp_->address());
  } else {
    LogError("SIGHUP: new connections to {} will fail: {}", tcp_->address(), good.ToString());
  }
}

// False: a second signal cut it short.
bool DaemonMain::Drain() {
  // Shared with the callback, which a drain that was cut short may call later.
  const auto drained = std::make_shared<std::atomic<bool>>(false);
  core_->DrainForShutdown(options_.drain_ms, [drained](const ProgressReply& progress) {
    LogInfo("drain: {} sessions {}", progress.left,
            progress.step == ProgressStep::kCutShort ? "were ended" : "left");
    if (progress.done) drained->store(true);
  });
  const TimePoint deadline = SteadyClock().Now() + milliseconds(options_.drain_ms) + kLastReplies;
  while (!drained->load() && SteadyClock().Now() < deadline) {
    const std::optional<int> signal = signals_.Wait(kDrainLook);
    if (signal == SIGTERM || signal == SIGINT) return false;
  }
  return true;
}

Status DaemonMain::Stop() {
  LogInfo("stopping");
  // A card that stands still would never finish what it runs.
  if (debugging_.server != nullptr) debugging_.server->Close();
  manager_.Stopping("waiting for sessions to end");
  const Duration card = milliseconds(options_.card_ms);
  manager_.ExtendTimeout(milliseconds(options_.drain_ms) + kLastReplies * 2 + card +
                         kLastSteps * (1 + opened_.devices.size()));
  rpc_->SetServing(false);
  const bool patient = Drain();
  if (!patient) core_->DrainForShutdown(0, [](const ProgressReply&) {});
  listener_.reset();
  tcp_.reset();
  rpc_->Stop(patient ? kLastReplies : kHastyReplies);
  manager_.SetStatus("shutting the card down");
  Status stopped = core_->Stop(SteadyClock().Now() + card);
  core_.reset();
  rpc_.reset();
  LogInfo("stopped");
  return stopped;
}

}  // namespace

Status Serve(const Options& options, Signals& signals, const kmd::System& system) {
  return DaemonMain(options, signals, system).Run();
}

}  // namespace ttfd
