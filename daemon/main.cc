// ttfd: reads what it was told and does it.
#include <fmt/format.h>

#include <cstdio>

#include "daemon/main_decode.h"
#include "daemon/main_serve.h"
#include "daemon/open_device.h"
#include "daemon/options.h"
#include "daemon/rpc/tcp_listener.h"
#include "daemon/rpc/tls_files.h"
#include "daemon/system/signals.h"
#include "runtime/base/log.h"

namespace {

// What scripts and the service manager tell apart; see --help.
constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int Complain(const ttfd::Status& status, int code) {
  if (status.ok()) return kDone;
  const std::string_view message = ttfd::StatusMessage(status);
  fmt::print(stderr, "ttfd: {}\n", message);
  return code;
}

ttfd::Status CheckTls(const ttfd::TlsOptions& tls) {
  if (tls.address.empty()) return ttfd::OkStatus();
  RETURN_IF_ERROR(ttfd::ParseTcpAddress(tls.address).status());
  return ttfd::CheckTlsFiles({tls.certificate, tls.key, tls.client_ca});
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
  const ttfd::StatusOr<ttfd::Invocation> invocation = ttfd::ReadInvocation(argc, argv);
  if (!invocation.ok()) return Complain(invocation.status(), kWrongUsage);
  if (invocation->action == Action::kPrint) {
    fmt::print("{}", invocation->text);
    return kDone;
  }
  if (invocation->action == Action::kDecode) {
    return Complain(ttfd::DecodeRecordFile(invocation->decode_path, invocation->decode_json),
                    kFailed);
  }
  const ttfd::Status device = ttfd::CheckDeviceText(invocation->options.device.device);
  if (!device.ok()) return Complain(ttfd::Annotate(device, "device"), kWrongUsage);
  const ttfd::Status tls = CheckTls(invocation->options.tls);
  if (!tls.ok()) return Complain(ttfd::Annotate(tls, "tls"), kWrongUsage);
  if (invocation->action == Action::kCheckConfig) {
    fmt::print("{}: good\n",
               invocation->config_path.empty() ? "defaults" : invocation->config_path);
    return kDone;
  }
  return Serve(invocation->options);
}
