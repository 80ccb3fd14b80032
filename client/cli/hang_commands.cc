// ttfdctl hang: what the daemon keeps of hangs and faults.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

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

std::string ReportRow(std::string_view report, std::string_view time, std::string_view what) {
  return fmt::format("{:6}  {:19}  {}", report, time, what);
}

// "HANG 7, 2026-11-26T15:02:03.123Z": the time, in seconds. Of what was cut short: none.
std::string TimeOf(const std::string& headline) {
  const size_t at = headline.find(", ");
  if (at == headline.npos) {
    return "";
  }
  std::string time = headline.substr(at + 2, std::size("2026-11-26T15:02:03") - 1);
  std::replace(time.begin(), time.end(), 'T', ' ');
  return time;
}

// A report, line by line.
void PrintReport(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    PrintLine(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
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
  // A line each, also where the terminal is narrow.
  const size_t terminal = TerminalColumns(STDOUT_FILENO);
  PrintLine(ReportRow("REPORT", "TIME", "WHAT"));
  for (const HangReportInfo& report : *reports) {
    const std::string line =
        Printable(ReportRow(report.report, TimeOf(report.headline), report.description));
    PrintLine(terminal == 0 ? line : Truncate(line, terminal));
  }
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
    if (common.json) {
      PrintText(files[whole]);
    } else {
      PrintReport(files[whole]);
    }
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
