// ttfdctl hang: what the daemon keeps of hangs and faults.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/printing.h"

namespace ttfd::cli {
namespace {

using client::Admin;
using client::HangReportInfo;
using client::Status;

Json ReportJson(const HangReportInfo& report) {
  return {{"report", report.report},
          {"headline", report.headline},
          {"description", report.description},
          {"offender", report.offender},
          {"bytes", report.bytes},
          {"complete", report.complete}};
}

// Whether the daemon keeps reports and has none yet.
bool NoReportYet(Admin& admin, const std::string& report, const Status& status) {
  if (report != "last" || status.code() != client::Code::kNotFound) {
    return false;
  }
  const auto reports = admin.ListHangReports();
  return reports.ok() && reports->empty();
}

}  // namespace

int ListHangReports(const Common& common) {
  const auto reports = Admin::Connect(common.address, common.timeout()).ListHangReports();
  if (!reports.ok()) {
    return Fail(reports.status());
  }
  if (common.json) {
    PrintJson({{"reports", JsonList(*reports, ReportJson)}});
    return kOk;
  }
  std::vector<std::vector<std::string>> rows = {{"REPORT", "REASON", "BYTES", "OFFENDER"}};
  for (const HangReportInfo& report : *reports) {
    // The reason alone: the id says when.
    rows.push_back({report.report, report.headline.substr(0, report.headline.find(' ')),
                    std::to_string(report.bytes),
                    report.offender.empty() ? "unknown" : report.offender});
  }
  PrintTable(rows);
  return kOk;
}

// The whole of it for people, or the JSON the daemon wrote; of a report that was cut short the files there are.
int ShowHangReport(const Common& common, const std::string& report) {
  std::map<std::string, std::string> files;
  Admin admin = Admin::Connect(common.address, common.timeout());
  const Status status = admin.GetHangReport(
      report,
      [&files](const std::string& name, const std::string& bytes) { files[name] += bytes; });
  if (NoReportYet(admin, report, status)) {
    PrintLine(common.json ? "null" : "no hang reports yet");
    return kOk;
  }
  if (!status.ok()) {
    return Fail(status);
  }
  const std::string whole = common.json ? "report.json" : "report.txt";
  if (files.count(whole) != 0) {
    PrintText(files[whole]);
    return kOk;
  }
  for (const auto& [name, bytes] : files) {
    if (!name.empty()) {
      PrintLine("==> " + name);
      PrintText(bytes);
    }
  }
  return kOk;
}

int FetchHangReport(const Common& common, const std::string& report, const std::string& folder) {
  std::map<std::string, std::ofstream> files;
  std::string failed;
  const Status status =
      Admin::Connect(common.address, common.timeout())
          .GetHangReport(report, [&](const std::string& name, const std::string& bytes) {
            // The daemon names files; only their last component is taken from it.
            const auto base = std::filesystem::path(name).filename();
            if (base.empty()) {
              return;
            }
            const auto path = std::filesystem::path(folder) / base;
            std::ofstream& file = files[base];
            if (!file.is_open()) {
              std::error_code error;  // the file that cannot be written says so
              std::filesystem::create_directories(folder, error);
              file.open(path, std::ios::binary | std::ios::trunc);
            }
            file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
            if (!file.flush()) {
              failed = path;
            }
          });
  if (!status.ok()) {
    return Fail(status);
  }
  if (!failed.empty()) {
    PrintMessage("cannot write " + failed);
    return kFailed;
  }
  PrintLine(fmt::format("hang report {} is in {}", report, folder));
  return kOk;
}

}  // namespace ttfd::cli
