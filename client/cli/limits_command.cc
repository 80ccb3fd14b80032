// ttfdctl limits: what may be used, and what is.
#include <fmt/format.h>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/text.h"

namespace ttfd::cli {
namespace {

using client::LimitInfo;
using client::LimitsReport;
using client::LimitUse;
using client::LimitUses;

// Bytes and times as people read them.
std::string ValueText(std::string_view name, uint64_t value) {
  if (name.find("_ms") != name.npos) {
    return value == 0 ? "no limit" : Duration(value);
  }
  return name.find("bytes") != name.npos ? Bytes(value) : std::to_string(value);
}

void PrintJson(const LimitsReport& report) {
  JsonWriter json;
  json.BeginObject().Key("limits").BeginArray();
  for (const LimitInfo& limit : report.limits) {
    json.BeginObject()
        .Field("name", limit.name)
        .Field("value", limit.value)
        .Field("of", limit.of)
        .Field("text", limit.text)
        .EndObject();
  }
  json.EndArray().Key("uses").BeginArray();
  for (const LimitUses& uses : report.uses) {
    json.BeginObject()
        .Field("session", uses.session)
        .Field("uid", uses.uid)
        .Field("user", uses.user)
        .Field("client_name", uses.client_name)
        .Key("uses")
        .BeginArray();
    for (const LimitUse& use : uses.uses) {
      json.BeginObject()
          .Field("name", use.name)
          .Field("value", use.value)
          .Field("used", use.used)
          .EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  fmt::print("{}\n", json.text());
}

}  // namespace

int ShowLimits(const Common& common) {
  const client::Result<LimitsReport> report =
      client::Admin::Connect(common.address, common.timeout()).GetLimits();
  if (!report.ok()) {
    return Fail(report.status());
  }
  if (common.json) {
    PrintJson(*report);
    return kOk;
  }
  std::vector<std::vector<std::string>> rows = {{"OF A", "LIMIT", "VALUE", "BOUNDS"}};
  for (const LimitInfo& limit : report->limits) {
    rows.push_back({limit.of, limit.name, ValueText(limit.name, limit.value), limit.text});
  }
  fmt::print("{}", Table(rows));
  rows = {{"USED BY", "LIMIT", "USED", "VALUE"}};
  for (const LimitUses& uses : report->uses) {
    const std::string who = uses.session == 0
                                ? fmt::format("user {}", uses.user)
                                : fmt::format("session {} ({})", uses.session, uses.client_name);
    for (const LimitUse& use : uses.uses) {
      if (use.used != 0) {
        rows.push_back(
            {who, use.name, ValueText(use.name, use.used), ValueText(use.name, use.value)});
      }
    }
  }
  if (rows.size() > 1) {
    fmt::print("\n{}", Table(rows));
  }
  return kOk;
}

}  // namespace ttfd::cli
