// ttfdctl hang: what the daemon keeps of hangs and faults.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
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

Json OffenderJson(const client::HangOffender& offender) {
  return {{"client", ClientJson(offender.client)},
          {"queue", offender.position.queue},
          {"value", offender.position.value},
          {"kernels", offender.kernels}};
}

Json ReportJson(const HangReportInfo& report) {
  return {{"report", report.report},
          {"time_unix_ms", JsonOf(report.time_unix_ms)},
          {"reason", report.reason},
          {"headline", report.headline},
          {"offender", report.offender ? OffenderJson(*report.offender) : Json()},
          {"bytes", report.bytes},
          {"complete", report.complete}};
}

std::string ReportRow(std::string_view report, std::string_view time, std::string_view what) {
  return fmt::format("{:6}  {:19}  {}", report, time, what);
}

// "2026-11-26 15:02:03", UTC. Empty: the time is not known, or beyond the calendar.
std::string TimeText(std::optional<uint64_t> unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms.value_or(0) / 1000);
  std::tm parts = {};
  if (!unix_ms || gmtime_r(&seconds, &parts) == nullptr) {
    return "";
  }
  std::array<char, 32> text = {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts)};
}

// A report, line by line.
void PrintReport(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    PrintLine(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Converts an id, or "last", to GetHangReportRequest.report.
std::optional<std::string> IdOf(const std::string& word) {
  return word == "last" ? std::nullopt : std::optional(word);
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
  if (reports->empty()) {
    PrintLine("no hang reports yet");
    return kOk;
  }
  // A line each, also where the terminal is narrow.
  const size_t terminal = TerminalColumns(STDOUT_FILENO);
  PrintLine(ReportRow("REPORT", "TIME", "WHAT"));
  for (const HangReportInfo& report : *reports) {
    const std::string line =
        Printable(ReportRow(report.report, TimeText(report.time_unix_ms), report.headline));
    PrintLine(terminal == 0 ? line : Truncate(line, terminal));
  }
  return kOk;
}

// The whole of it for people, or the JSON the daemon wrote; of a report that was cut short the files there are.
int ShowHangReport(const Common& common, const std::string& report) {
  std::map<std::string, std::string> files;
  Admin admin = Admin::Connect(common.address, common.timeout());
  const Status status = admin.GetHangReport(
      IdOf(report),
      [&files](const std::string& name, const std::string& bytes) { files[name] += bytes; });
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
          .GetHangReport(IdOf(report), [&](const std::string& name, const std::string& bytes) {
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
