// The variables that libttfd_graph looks for, and the summary in the file that it writes.
#include "client/cli/graph_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include "client/cli/child_command.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/printing.h"

namespace ttfd::cli {
namespace {

// The field "otherData" of the file, without keeping its events in memory; null: it has none.
Json ReadSummary(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto keep = [](int depth, Json::parse_event_t event, Json& parsed) {
    return !(depth == 1 && event == Json::parse_event_t::key && parsed == "traceEvents");
  };
  const Json all = Json::parse(file, keep, /*allow_exceptions=*/false);
  return all.is_object() && all.contains("otherData") ? all["otherData"] : Json();
}

void PrintSummary(const Json& summary, const std::string& path) {
  std::vector<std::vector<std::string>> rows = {{"CLASS", "WORKERS", "TASKS", "UTILIZATION"}};
  for (const Json& one : summary.value("classes", Json::array())) {
    rows.push_back({one.value("name", std::string()), std::to_string(one.value("workers", 0)),
                    std::to_string(one.value("tasks", uint64_t{0})),
                    fmt::format("{:.1f} %", 100 * one.value("utilization", 0.0))});
  }
  PrintTable(rows);
  PrintLine(fmt::format(
      "{} tasks in {} clocks: {:.1f} clocks a task, {:.2f} million tasks a second",
      summary.value("tasks", uint64_t{0}), summary.value("clocks", uint64_t{0}),
      summary.value("clocks_per_task", 0.0), summary.value("tasks_per_second", 0.0) / 1e6));
  PrintLine(fmt::format("{} is for ui.perfetto.dev", path));
}

}  // namespace

int TraceGraph(const Common& common, const GraphTraceArguments& arguments) {
  std::error_code error;
  const std::string path = std::filesystem::absolute(arguments.output, error).string();
  if (!error) std::filesystem::remove(path, error);
  if (error) {
    PrintMessage(fmt::format("cannot write {}: {}", arguments.output, error.message()));
    return kFailed;
  }
  std::map<std::string, std::string> variables = {
      {"TTFD_GRAPH_TRACE", path}, {"TTFD_GRAPH_TRACE_RUN", std::to_string(arguments.run)}};
  if (!common.address.empty()) variables["TTFD_ADDRESS"] = common.address;
  const int code = RunChild(arguments.command, variables);
  if (!std::filesystem::exists(path, error)) {
    PrintMessage(fmt::format("the command has not written the timeline of run {} of a graph",
                             arguments.run));
    return code == kOk ? kFailed : code;
  }
  Json summary = ReadSummary(path);
  if (summary.is_null()) {
    PrintMessage(arguments.output + " is no timeline of a graph");
    return code == kOk ? kFailed : code;
  }
  if (common.json) {
    summary["file"] = path;
    PrintJson(summary);
  } else {
    PrintSummary(summary, arguments.output);
  }
  return code;
}

}  // namespace ttfd::cli
