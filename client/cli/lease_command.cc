// A session that holds the lease, a child process that has its token.
//
// The lease is this process's session: however this process ends, its connection closes and the daemon gives the lease
// to the next. The child is asked to end when that happens, and loses its sessions under the lease in any case.
#include "client/cli/lease_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <thread>

#include "client/cli/child_command.h"
#include "client/cli/device_rows.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/printing.h"
#include "client/cli/text.h"
#include "ttfd/session.h"

namespace ttfd::cli {
namespace {

using client::Admin;
using client::CoreRange;
using client::LeaseInfo;
using client::LeaseWait;
using client::Result;
using client::Session;

std::string WorkersText(const std::vector<CoreRange>& workers) {
  std::string text;
  for (const CoreRange& range : workers) {
    text += fmt::format("{}{},{}-{},{}", text.empty() ? "" : " ", range.x0, range.y0, range.x1,
                        range.y1);
  }
  return text.empty() ? "all" : text;
}

std::string HoldersText(const LeaseWait& wait) {
  if (wait.holders.empty()) {
    return "operations of others that still run";
  }
  std::string text;
  for (const client::SessionClient& holder : wait.holders) {
    text += fmt::format("{}session {} (client '{}', user {}{})", text.empty() ? "" : " and ",
                        holder.session, holder.client_name, holder.user,
                        holder.pid ? fmt::format(", pid {}", *holder.pid) : "");
  }
  return wait.more_holders == 0 ? text : fmt::format("{} and {} more", text, wait.more_holders);
}

void PrintWait(const LeaseWait& wait) {
  PrintMessage(
      fmt::format("waiting for the lease: number {}, held by {}, about {} more", wait.position,
                  HoldersText(wait),
                  Duration(static_cast<uint64_t>(std::max<int64_t>(wait.expected.count(), 0)))));
}

Json CoreRangeJson(const CoreRange& range) {
  return {{"x0", range.x0}, {"y0", range.y0}, {"x1", range.x1}, {"y1", range.y1}};
}

Json LeaseJson(const LeaseInfo& lease) {
  return {{"lease", lease.lease},
          {"state", client::LeaseStateName(lease.state)},
          {"session", lease.session},
          {"client_name", lease.client_name},
          {"user", lease.user},
          {"uid", lease.uid},
          {"pid", JsonOf(lease.pid)},
          {"devices", lease.devices},
          {"workers", JsonList(lease.workers, CoreRangeJson)},
          {"sessions", lease.sessions},
          {"since_ms", lease.since_ms},
          {"left_ms", JsonOf(lease.left_ms)},
          {"position", JsonOf(lease.position)},
          {"holders", JsonList(lease.holders, ClientJson)},
          {"more_holders", lease.more_holders},
          {"expected_wait_ms", JsonOf(lease.expected_wait_ms)}};
}

}  // namespace

int ListLeases(const Common& common) {
  const Result<std::vector<LeaseInfo>> leases =
      Admin::Connect(common.address, common.timeout()).ListLeases();
  if (!leases.ok()) {
    return Fail(leases.status());
  }
  if (common.json) {
    PrintJson({{"leases", JsonList(*leases, LeaseJson)}});
    return kOk;
  }
  // Columns that do not fit a terminal are left out from the right.
  std::vector<std::vector<std::string>> rows = {{"LEASE", "STATE", "USER", "CLIENT", "DEVICES",
                                                 "WORKERS", "LEFT", "POSITION", "EXPECTED WAIT",
                                                 "SINCE", "PID", "SESSION", "SESSIONS"}};
  for (const LeaseInfo& lease : *leases) {
    rows.push_back({std::to_string(lease.lease), client::LeaseStateName(lease.state),
                    lease.user.empty() ? std::to_string(lease.uid) : lease.user, lease.client_name,
                    fmt::format("{}", fmt::join(lease.devices, ",")), WorkersText(lease.workers),
                    lease.left_ms ? Duration(*lease.left_ms) : "-",
                    lease.position ? std::to_string(*lease.position) : "-",
                    lease.expected_wait_ms ? Duration(*lease.expected_wait_ms) : "-",
                    Duration(lease.since_ms), lease.pid ? std::to_string(*lease.pid) : "-",
                    std::to_string(lease.session), std::to_string(lease.sessions)});
  }
  PrintTable(rows);
  return kOk;
}

int RunUnderLease(const Common& common, const LeaseArguments& arguments) {
  if (!client::DefaultLeaseToken().empty()) {
    PrintMessage("this runs under a lease already (TTFD_LEASE); another would wait for it");
    return kUsage;
  }
  client::LeaseOptions lease;
  if (arguments.wait_ms) {
    lease.wait = std::chrono::milliseconds(*arguments.wait_ms);
  }
  if (!arguments.tiles.empty()) {
    const Result<client::DeviceInfo> device = NamedDevice(common);
    if (!device.ok()) return Fail(device.status());
    for (const std::string& text : arguments.tiles) {
      const std::optional<CoreRange> range = ParseCores(text, device->grid_x, device->grid_y);
      if (!range.has_value()) {
        PrintMessage(fmt::format("--tiles {} is none of X,Y or X0,Y0-X1,Y1 or all", text));
        return kUsage;
      }
      lease.workers.push_back(*range);
    }
  }
  client::ConnectOptions options;
  options.address = common.address.empty() ? client::DefaultAddress() : common.address;
  options.client_name = fmt::format("ttfdctl lease -- {}", arguments.command.front());
  options.client_name.resize(std::min<size_t>(options.client_name.size(), 100));
  // The daemon refuses names that are not printable UTF-8, and the cut may have gone through a character.
  for (char& c : options.client_name) c = c < 0x20 || c > 0x7E ? '?' : c;
  options.connect_timeout = common.timeout();
  options.background_thread = true;
  options.device = common.device;
  options.lease = std::move(lease);
  options.on_waiting = PrintWait;
  const std::string address = options.address;
  Result<Session> session = Session::Connect(std::move(options));
  if (!session.ok()) {
    return Fail(session.status());
  }
  std::atomic<bool> over{false};
  std::thread watch([&] {
    while (!over && session->Poll(std::chrono::seconds(1)).ok()) {
    }
    if (!over) {
      PrintMessage("the lease has ended: " + session->status().ToString());
    }
  });
  const int code = RunChild(arguments.command,
                            {{"TTFD_LEASE", session->lease_token()}, {"TTFD_ADDRESS", address}});
  over = true;
  static_cast<void>(session->Close());  // the command has ended; its exit code is what counts
  watch.join();
  return code;
}

}  // namespace ttfd::cli
