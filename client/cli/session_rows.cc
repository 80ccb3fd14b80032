// Sessions as rows and JSON.
#include "client/cli/session_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "client/cli/text.h"

namespace ttfd::cli {
namespace {

Json PositionJson(const client::Position& position) {
  return {{"queue", position.queue}, {"value", position.value}};
}

uint64_t Total(const std::vector<client::Position>& positions) {
  uint64_t total = 0;
  for (const client::Position& position : positions) {
    total += position.value;
  }
  return total;
}

// "2x high": its share of a contended card.
std::string Share(const client::SessionInfo& session) {
  std::string weight = fmt::format("{}x", std::max(session.weight, 1u));
  if (session.priority == client::Priority::kNormal) return weight;
  return fmt::format("{} {}", weight, client::PriorityName(session.priority));
}

std::string Waited(const client::Waits& waits) {
  if (waits.count == 0) return "-";
  return fmt::format("{} / {} us", waits.p50_ns / 1000, waits.p99_ns / 1000);
}

std::string UserOf(const client::SessionInfo& session) {
  return session.user.empty() ? std::to_string(session.uid) : session.user;
}

std::string PidOf(const client::SessionInfo& session) {
  return session.pid ? std::to_string(*session.pid) : "-";
}

const char* WaitText(const client::SessionInfo& session) {
  switch (session.waits_for) {
    case client::SessionWait::kUnspecified:
      break;
    case client::SessionWait::kNone:
      return session.state == client::SessionState::kWaiting ? "its lease" : "nothing";
    case client::SessionWait::kCommands:
      return session.state == client::SessionState::kEnding ? "the card" : "its commands";
    case client::SessionWait::kData:
      return "client to send data";
    case client::SessionWait::kOutput:
      return "client to take output";
  }
  return "-";
}

}  // namespace

Json SessionJson(const client::SessionInfo& session) {
  return {{"session", session.session},
          {"client_name", session.client_name},
          {"user", session.user},
          {"uid", session.uid},
          {"pid", JsonOf(session.pid)},
          {"state", client::SessionStateName(session.state)},
          {"connected_ms", session.connected_ms},
          {"handles", session.handles},
          {"lease", JsonOf(session.lease)},
          {"devices", session.devices},
          {"dram_bytes", session.dram_bytes},
          {"l1_bytes", session.l1_bytes},
          {"weight", session.weight},
          {"priority", client::PriorityName(session.priority)},
          {"device_ns", session.device_ns},
          {"longest_operation_ns", session.longest_operation_ns},
          {"launches", session.launches},
          {"bytes_written", session.bytes_written},
          {"bytes_read", session.bytes_read},
          {"hangs", session.hangs},
          {"quarantine_reason", session.quarantine_reason},
          {"waits_for", client::SessionWaitName(session.waits_for)},
          {"waits",
           {{"count", session.waits.count},
            {"total_ns", session.waits.total_ns},
            {"p50_ns", session.waits.p50_ns},
            {"p99_ns", session.waits.p99_ns},
            {"max_ns", session.waits.max_ns}}},
          {"submitted", JsonList(session.submitted, PositionJson)},
          {"completed", JsonList(session.completed, PositionJson)}};
}

std::vector<std::vector<std::string>> SessionRows(
    const std::vector<client::SessionInfo>& sessions) {
  // Columns that do not fit a terminal are left out from the right.
  std::vector<std::vector<std::string>> rows = {{"SESSION", "CLIENT", "USER", "PID", "STATE",
                                                 "DEVICE", "SHARE", "DEVICE TIME", "WAIT P50/P99",
                                                 "DRAM", "L1/WORKER", "WRITTEN", "READ", "HANDLES",
                                                 "CONNECTED", "COMPLETED/SUBMITTED"}};
  for (const client::SessionInfo& session : sessions) {
    rows.push_back({std::to_string(session.session), session.client_name, UserOf(session),
                    PidOf(session), client::SessionStateName(session.state),
                    fmt::format("{}", fmt::join(session.devices, ",")), Share(session),
                    Duration(session.device_ns / 1'000'000), Waited(session.waits),
                    Bytes(session.dram_bytes), Bytes(session.l1_bytes),
                    Bytes(session.bytes_written), Bytes(session.bytes_read),
                    std::to_string(session.handles), Duration(session.connected_ms),
                    fmt::format("{}/{}", Total(session.completed), Total(session.submitted))});
  }
  return rows;
}

std::vector<std::vector<std::string>> LeftSessionRows(
    const std::vector<client::SessionInfo>& sessions) {
  std::vector<std::vector<std::string>> rows = {{"SESSION", "CLIENT", "USER", "PID", "STATE",
                                                 "WAITS FOR", "COMMANDS", "DRAM", "L1/WORKER",
                                                 "HANDLES", "LEASE"}};
  for (const client::SessionInfo& session : sessions) {
    rows.push_back({std::to_string(session.session), session.client_name, UserOf(session),
                    PidOf(session), client::SessionStateName(session.state), WaitText(session),
                    std::to_string(Total(session.submitted) - Total(session.completed)),
                    Bytes(session.dram_bytes), Bytes(session.l1_bytes),
                    std::to_string(session.handles),
                    session.lease ? std::to_string(*session.lease) : "-"});
  }
  return rows;
}

}  // namespace ttfd::cli
