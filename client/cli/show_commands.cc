// Commands that show: health, devices, sessions list, timeouts.
#include <fmt/format.h>

#include "client/cli/commands.h"
#include "client/cli/device_rows.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/printing.h"
#include "client/cli/session_rows.h"

namespace ttfd::cli {
namespace {

using client::Admin;
using client::DeviceInfo;
using client::Result;

void PrintTimeouts(const Common& common, const client::Timeouts& timeouts) {
  if (common.json) {
    PrintJson({{"operation_ms", JsonOf(timeouts.operation_ms)},
               {"kernel_ms", JsonOf(timeouts.kernel_ms)},
               {"start_ms", JsonOf(timeouts.start_ms)},
               {"stalled_client_ms", JsonOf(timeouts.stalled_client_ms)}});
    return;
  }
  const auto ms = [](std::optional<uint32_t> value) {
    return value ? fmt::format("{} ms", *value) : "-";
  };
  PrintTable({{"TIMEOUT", "VALUE", "MEANING"},
              {"operation", ms(timeouts.operation_ms),
               "no progress of the dispatch pipeline for this long: a hang"},
              {"kernel", ms(timeouts.kernel_ms), "one launch"},
              {"start", ms(timeouts.start_ms), "from arrival to start of a command"},
              {"stalled-client", ms(timeouts.stalled_client_ms),
               "a client that neither reads nor sends"}});
}

}  // namespace

int ShowHealth(const Common& common, const std::string& service) {
  const Result<std::string> health =
      Admin::Connect(common.address, common.timeout()).Health(service);
  if (!health.ok()) {
    return Fail(health.status());
  }
  if (common.json) {
    PrintJson({{"service", service}, {"status", *health}});
  } else {
    PrintLine(*health);
  }
  return *health == "SERVING" ? kOk : kFailed;
}

int ShowDevices(const Common& common) {
  const Result<std::vector<DeviceInfo>> devices =
      Admin::Connect(common.address, common.timeout()).ListDevices();
  if (!devices.ok()) {
    return Fail(devices.status());
  }
  if (common.json) {
    PrintJson({{"devices", DevicesJson(*devices)}});
  } else {
    PrintTable(DeviceRows(*devices));
  }
  return kOk;
}

int ListSessions(const Common& common) {
  const Result<std::vector<client::SessionInfo>> sessions =
      Admin::Connect(common.address, common.timeout()).ListSessions();
  if (!sessions.ok()) {
    return Fail(sessions.status());
  }
  if (common.json) {
    PrintJson({{"sessions", JsonList(*sessions, SessionJson)}});
    return kOk;
  }
  PrintTable(SessionRows(*sessions));
  return kOk;
}

int GetTimeouts(const Common& common, std::optional<uint64_t> session) {
  const Result<client::Timeouts> timeouts =
      Admin::Connect(common.address, common.timeout()).GetTimeouts(session);
  if (!timeouts.ok()) {
    return Fail(timeouts.status());
  }
  PrintTimeouts(common, *timeouts);
  return kOk;
}

int SetTimeouts(const Common& common, std::optional<uint64_t> session,
                const client::Timeouts& timeouts) {
  const Result<client::Timeouts> now =
      Admin::Connect(common.address, common.timeout()).SetTimeouts(timeouts, session);
  if (!now.ok()) {
    return Fail(now.status());
  }
  PrintTimeouts(common, *now);
  return kOk;
}

}  // namespace ttfd::cli
