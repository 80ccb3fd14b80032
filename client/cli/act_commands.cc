// Commands that act on the daemon: sessions end, sessions resume, drain, reset, log-level.
#include <fmt/format.h>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"

namespace ttfd::cli {
namespace {

using client::Admin;
using client::Status;

int Done(const Status& status, const std::string& what) {
  if (!status.ok()) {
    return Fail(status);
  }
  fmt::print("{}\n", what);
  return kOk;
}

void PrintStep(const client::ProgressStep& step) {
  if (!step.step.empty()) {
    fmt::print("{}{}\n", step.step, step.left != 0 ? fmt::format(" ({} left)", step.left) : "");
    std::fflush(stdout);
  }
}

}  // namespace

int EndSession(const Common& common, uint64_t session, const std::string& reason) {
  return Done(Admin::Connect(common.address, common.timeout()).EndSession(session, reason),
              fmt::format("session {} ended", session));
}

int ResumeSession(const Common& common, uint64_t session) {
  return Done(Admin::Connect(common.address, common.timeout()).ResumeSession(session),
              fmt::format("session {} goes on", session));
}

int Drain(const Common& common, double within_s) {
  const std::chrono::milliseconds within(static_cast<int64_t>(within_s * 1000));
  return Done(Admin::Connect(common.address, common.timeout()).Drain(within, PrintStep), "drained");
}

int ResetDevice(const Common& common, uint32_t device) {
  return Done(Admin::Connect(common.address, common.timeout()).ResetDevice(device, PrintStep),
              fmt::format("device {} was reset", device));
}

int SetLogLevel(const Common& common, const std::string& level) {
  return Done(Admin::Connect(common.address, common.timeout()).SetLogLevel(level),
              fmt::format("log level is {}", level));
}

}  // namespace ttfd::cli
