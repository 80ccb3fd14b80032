// ttfd: reads its command line and configuration and acts on them.
#include <fmt/format.h>

#include <cstdio>

#include "daemon/config_check.h"
#include "daemon/main_decode.h"
#include "daemon/main_serve.h"
#include "daemon/open_device.h"
#include "daemon/options.h"
#include "daemon/system/signals.h"
#include "runtime/base/log.h"

namespace {

// What scripts and the service manager tell apart; see --help.
constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int Complain(const ttfd::Status& status, int code) {
  if (status.ok()) return kDone;
  ttfd::LogPlain(fmt::format("ttfd: {}", ttfd::StatusMessage(status)),
                 ttfd::SteadyClock().Now() + ttfd::kLogFlushTimeout);
  return code;
}

// What the start of the daemon and --check-config check alike.
ttfd::Status Check(ttfd::Invocation* invocation) {
  RETURN_IF_ERROR(ttfd::Annotate(ttfd::CheckDeviceText(invocation->options.device.device),
                                 invocation->origins.Where("device.device")));
  return ttfd::CheckConfiguration(invocation->origins, invocation->state_folders,
                                  &invocation->options);
}

int Serve(const ttfd::Options& options) {
  ttfd::SetLogLevel(options.log_level);
  ttfd::StatusOr<ttfd::Signals> signals = ttfd::Signals::Block();
  if (!signals.ok()) return Complain(signals.status(), kFailed);
  return Complain(ttfd::Serve(options, *signals), kFailed);
}

}  // namespace

int main(int argc, char** argv) {
  using Action = ttfd::Invocation::Action;
  ttfd::StatusOr<ttfd::Invocation> invocation = ttfd::ReadInvocation(argc, argv);
  if (!invocation.ok()) return Complain(invocation.status(), kWrongUsage);
  if (invocation->action == Action::kPrint) {
    fmt::print("{}", invocation->text);
    return kDone;
  }
  if (invocation->action == Action::kDecode) {
    return Complain(ttfd::DecodeRecordFile(invocation->decode_path, invocation->decode_json),
                    kFailed);
  }
  const ttfd::Status checked = Check(&*invocation);
  if (!checked.ok()) return Complain(checked, kWrongUsage);
  if (invocation->action == Action::kCheckConfig) {
    fmt::print("{}: configuration OK\n",
               invocation->config_path.empty() ? "defaults" : invocation->config_path);
    return kDone;
  }
  return Serve(invocation->options);
}
