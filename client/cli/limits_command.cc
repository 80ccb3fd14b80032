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

Json LimitJson(const LimitInfo& limit) {
  return {{"name", limit.name}, {"value", limit.value}, {"of", limit.of}, {"text", limit.text}};
}

Json UseJson(const LimitUse& use) {
  return {{"name", use.name}, {"value", use.value}, {"used", use.used}};
}

Json UsesJson(const LimitUses& uses) {
  return {{"session", uses.session},
          {"uid", uses.uid},
          {"user", uses.user},
          {"client_name", uses.client_name},
          {"uses", JsonList(uses.uses, UseJson)}};
}

}  // namespace

int ShowLimits(const Common& common) {
  const client::Result<LimitsReport> report =
      client::Admin::Connect(common.address, common.timeout()).GetLimits();
  if (!report.ok()) {
    return Fail(report.status());
  }
  if (common.json) {
    PrintJson({{"limits", JsonList(report->limits, LimitJson)},
               {"uses", JsonList(report->uses, UsesJson)}});
    return kOk;
  }
  std::vector<std::vector<std::string>> rows = {{"OF A", "LIMIT", "VALUE", "BOUNDS"}};
  for (const LimitInfo& limit : report->limits) {
    rows.push_back({limit.of, limit.name, ValueText(limit.name, limit.value), limit.text});
  }
  fmt::print("{}", Table(rows));
  rows = {{"USED BY", "LIMIT", "USED", "VALUE"}};
  for (const LimitUses& uses : report->uses) {
    std::string who = "the daemon";
    if (uses.session != 0) {
      who = fmt::format("session {} ({})", uses.session, uses.client_name);
    } else if (!uses.user.empty()) {
      who = fmt::format("user {}", uses.user);
    }
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
