// A table of the host and one of each card: a row for each check, followed by cause, fix and exit code.
#include "client/cli/doctor_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/cli/json.h"
#include "client/cli/printing.h"

namespace ttfd::cli {
namespace {

using kmd::DoctorCard;
using kmd::DoctorCheck;
using kmd::DoctorReport;

// null: there is none.
Json TextJson(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json CheckJson(const DoctorCheck& check) {
  return {{"check", check.name},
          {"result", kmd::CheckResultName(check.result)},
          {"found", check.found},
          {"cause", TextJson(check.cause)},
          {"fix", TextJson(check.fix)},
          {"exit_code", check.exit_code == 0 ? Json() : Json(check.exit_code)}};
}

Json CardJson(const DoctorCard& card) {
  return {{"pci_address", card.pci_address},
          {"node", TextJson(card.node)},
          {"checks", JsonList(card.checks, CheckJson)}};
}

void PrintChecks(const std::vector<DoctorCheck>& checks) {
  std::vector<std::vector<std::string>> rows = {{"CHECK", "RESULT", "FOUND"}};
  for (const DoctorCheck& check : checks) {
    rows.push_back({check.name, kmd::CheckResultName(check.result), check.found});
    if (check.exit_code == 0) continue;
    rows.push_back({"", "", "cause: " + check.cause});
    rows.push_back({"", "", "fix: " + check.fix});
    rows.push_back({"", "", fmt::format("exit code: {}", check.exit_code)});
  }
  PrintTable(rows);
}

size_t Unknown(const std::vector<DoctorCheck>& checks) {
  return static_cast<size_t>(std::count_if(
      checks.begin(), checks.end(),
      [](const DoctorCheck& check) { return check.result == kmd::CheckResult::kUnknown; }));
}

std::string Summary(const DoctorReport& report) {
  size_t unknown = Unknown(report.host);
  for (const DoctorCard& card : report.cards) unknown += Unknown(card.checks);
  const std::string result = report.exit_code == 0 ? std::string("no problem found")
                                                   : fmt::format("exit code: {}", report.exit_code);
  return unknown == 0 ? result : fmt::format("{}; unknown: {}", result, unknown);
}

}  // namespace

int PrintReport(const Common& common, const DoctorReport& report) {
  if (common.json) {
    PrintJson({{"exit_code", report.exit_code},
               {"host", JsonList(report.host, CheckJson)},
               {"cards", JsonList(report.cards, CardJson)}});
    return report.exit_code;
  }
  PrintLine("host");
  PrintChecks(report.host);
  for (const DoctorCard& card : report.cards) {
    PrintLine("");
    PrintLine(
        fmt::format("card {}{}{}", card.pci_address, card.node.empty() ? "" : ", ", card.node));
    PrintChecks(card.checks);
  }
  PrintLine("");
  PrintLine(Summary(report));
  return report.exit_code;
}

int ExamineThisHost(const Common& common) { return PrintReport(common, kmd::ExamineHost()); }

}  // namespace ttfd::cli
