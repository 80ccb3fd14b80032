// ttfdctl limits: the limits and their use.
#include <fmt/format.h>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/printing.h"
#include "client/cli/text.h"

namespace ttfd::cli {
namespace {

using client::LimitInfo;
using client::LimitScope;
using client::LimitsReport;
using client::LimitUsage;
using client::LimitUse;

// Bytes, times and priorities as people read them.
std::string ValueText(std::string_view name, uint64_t value) {
  if (name == "priority") {
    return client::PriorityName(static_cast<client::Priority>(value));
  }
  if (name.find("_ms") != name.npos) {
    return value == 0 ? "no limit" : Duration(value);
  }
  return name.find("bytes") != name.npos ? Bytes(value) : std::to_string(value);
}

Json LimitJson(const LimitInfo& limit) {
  return {{"name", limit.name},
          {"value", limit.value},
          {"scope", client::LimitScopeName(limit.scope)},
          {"description", limit.description}};
}

Json UseJson(const LimitUse& use) {
  return {{"name", use.name}, {"value", use.value}, {"used", use.used}};
}

Json UsageJson(const LimitUsage& usage) {
  return {{"scope", client::LimitScopeName(usage.scope)},
          {"session", usage.session},
          {"uid", usage.uid},
          {"user", usage.user},
          {"client_name", usage.client_name},
          {"uses", JsonList(usage.uses, UseJson)}};
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
               {"usage", JsonList(report->usage, UsageJson)}});
    return kOk;
  }
  std::vector<std::vector<std::string>> rows = {{"SCOPE", "LIMIT", "VALUE", "DESCRIPTION"}};
  for (const LimitInfo& limit : report->limits) {
    rows.push_back({client::LimitScopeName(limit.scope), limit.name,
                    ValueText(limit.name, limit.value), limit.description});
  }
  PrintTable(rows);
  rows = {{"USED BY", "LIMIT", "USED", "VALUE"}};
  for (const LimitUsage& usage : report->usage) {
    std::string user = "the daemon";
    if (usage.scope == LimitScope::kSession) {
      user = fmt::format("session {} ({})", usage.session, usage.client_name);
    } else if (usage.scope == LimitScope::kUser) {
      user = fmt::format("user {}", usage.user.empty() ? std::to_string(usage.uid) : usage.user);
    }
    for (const LimitUse& use : usage.uses) {
      if (use.used != 0) {
        rows.push_back(
            {user, use.name, ValueText(use.name, use.used), ValueText(use.name, use.value)});
      }
    }
  }
  if (rows.size() > 1) {
    PrintLine("");
    PrintTable(rows);
  }
  return kOk;
}

}  // namespace ttfd::cli
