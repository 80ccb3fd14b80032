// Reads the command line and the configuration and acts on them.
#include "daemon/run_daemon.h"

#include <fmt/format.h>

#include <cstdio>

#include "daemon/config_check.h"
#include "daemon/main_decode.h"
#include "daemon/main_serve.h"
#include "daemon/open_device.h"
#include "daemon/options.h"
#include "daemon/system/signals.h"
#include "runtime/base/log.h"
#include "runtime/device/problem.h"

namespace ttfd {
namespace {

// Exit codes that scripts and the service manager distinguish; see --help.
constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int Complain(const Status& status, int code) {
  if (status.ok()) return kDone;
  LogPlain(fmt::format("ttfd: {}", StatusMessage(status)), SteadyClock().Now() + kLogFlushTimeout);
  return code;
}

// Checks common to the start of the daemon and --check-config.
Status Check(Invocation* invocation) {
  for (const std::string& text : invocation->options.device.devices) {
    RETURN_IF_ERROR(Annotate(CheckDeviceText(text), invocation->origins.Where("device.device")));
  }
  for (const std::string& name : invocation->options.device.remote_chips) {
    RETURN_IF_ERROR(
        Annotate(ParseChipId(name).status(), invocation->origins.Where("device.remote_chips")));
  }
  return CheckConfiguration(invocation->origins, invocation->state_folders, &invocation->options);
}

// A card that cannot be served has the exit code of its problem.
int ExitCodeOf(const Status& status) {
  const Problem problem = ProblemOf(status);
  return problem == Problem::kNone ? kFailed : static_cast<int>(problem);
}

int ServeUntilStopped(Options options, const kmd::System& system) {
  SetLogLevel(options.log_level);
  for (std::string& text : options.device.devices) {
    const DeviceChoice choice = ChooseDevice(text, *system.files);
    text = choice.text;
    LogInfo("device {}{}", choice.text,
            choice.reason.empty() ? "" : fmt::format(" ({})", choice.reason));
  }
  StatusOr<Signals> signals = Signals::Block();
  if (!signals.ok()) return Complain(signals.status(), kFailed);
  const Status served = Serve(options, *signals, system);
  return Complain(served, ExitCodeOf(served));
}

}  // namespace

int RunDaemon(int argc, char** argv, const kmd::System& system) {
  using Action = Invocation::Action;
  StatusOr<Invocation> invocation = ReadInvocation(argc, argv);
  if (!invocation.ok()) return Complain(invocation.status(), kWrongUsage);
  if (invocation->action == Action::kPrint) {
    fmt::print("{}", invocation->text);
    return kDone;
  }
  if (invocation->action == Action::kDecode) {
    return Complain(DecodeRecordFile(invocation->decode_path, invocation->decode_json), kFailed);
  }
  const Status checked = Check(&*invocation);
  if (!checked.ok()) return Complain(checked, kWrongUsage);
  if (invocation->action == Action::kCheckConfig) {
    fmt::print("{}: configuration OK\n",
               invocation->config_path.empty() ? "defaults" : invocation->config_path);
    return kDone;
  }
  return ServeUntilStopped(invocation->options, system);
}

}  // namespace ttfd
