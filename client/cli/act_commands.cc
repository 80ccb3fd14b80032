// Commands that change the daemon: sessions terminate, sessions release, drain, undrain, reset, log-level.
#include <fmt/format.h>

#include "client/cli/commands.h"
#include "client/cli/drain_steps.h"
#include "client/cli/exit_code.h"
#include "client/cli/printing.h"

namespace ttfd::cli {
namespace {

using client::Admin;
using client::Status;

int Done(const Status& status, const std::string& what) {
  if (!status.ok()) {
    return Fail(status);
  }
  PrintLine(what);
  return kOk;
}

void PrintStep(const client::Progress& progress) {
  PrintLine(client::ProgressStepName(progress.step));
  std::fflush(stdout);
}

// A call whose steps were printed; the last one says how it ended.
int DoneInSteps(const Status& status) { return status.ok() ? kOk : Fail(status); }

}  // namespace

int TerminateSession(const Common& common, uint64_t session, const std::string& reason) {
  return Done(Admin::Connect(common.address, common.timeout()).TerminateSession(session, reason),
              fmt::format("session {} terminated", session));
}

int ReleaseSession(const Common& common, uint64_t session) {
  return Done(Admin::Connect(common.address, common.timeout()).ReleaseSession(session),
              fmt::format("session {} released", session));
}

int Drain(const Common& common, double within_s) {
  const std::chrono::milliseconds within(static_cast<int64_t>(within_s * 1000));
  DrainSteps steps(common.json);
  return DoneInSteps(
      Admin::Connect(common.address, common.timeout())
          .Drain(within, [&steps](const client::Progress& step) { steps.Print(step); }));
}

int Undrain(const Common& common) {
  return Done(Admin::Connect(common.address, common.timeout()).Undrain(),
              "sessions and commands are accepted again");
}

int ResetDevice(const Common& common) {
  return DoneInSteps(Admin::Connect(common.address, common.timeout())
                         .ResetDevice(common.device.value_or(0), PrintStep));
}

int SetLogLevel(const Common& common, client::LogLevel level) {
  return Done(Admin::Connect(common.address, common.timeout()).SetLogLevel(level),
              fmt::format("log level is {}", client::LogLevelName(level)));
}

}  // namespace ttfd::cli
