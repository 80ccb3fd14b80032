// The variables that libttfd_graph looks for, and the summary in the file that it writes.
#include "client/cli/graph_command.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
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

// The field "otherData" of the file, which libttfd_graph writes on the first line, before the events; null: it has
// none.
Json ReadSummary(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  if (!line.empty() && line.back() == ',') line.back() = '}';
  Json all = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  return all.is_object() && all["otherData"].is_object() ? all["otherData"] : Json();
}

// A field of the summary; 0: it has none.
double NumberIn(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

void PrintSummary(const Json& summary, const std::string& path) {
  std::vector<std::vector<std::string>> rows = {{"CLASS", "WORKERS", "TASKS", "UTILIZATION"}};
  const auto classes = summary.find("classes");
  for (const Json& one : classes != summary.end() ? *classes : Json::array()) {
    const auto name = one.find("name");
    rows.push_back({name != one.end() && name->is_string() ? name->get<std::string>() : "?",
                    fmt::format("{:.0f}", NumberIn(one, "workers")),
                    fmt::format("{:.0f}", NumberIn(one, "tasks")),
                    fmt::format("{:.1f} %", 100 * NumberIn(one, "utilization"))});
  }
  PrintTable(rows);
  PrintLine(fmt::format(
      "{:.0f} tasks in {:.0f} clocks: {:.1f} clocks a task, {:.2f} million tasks a second",
      NumberIn(summary, "tasks"), NumberIn(summary, "clocks"), NumberIn(summary, "clocks_per_task"),
      NumberIn(summary, "tasks_per_second") / 1e6));
  PrintLine(fmt::format("{} is for ui.perfetto.dev", path));
}

// Removes a file that is there. Returns why none can be written; empty: one can.
std::string MakeSpace(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return "it is no regular file";
  }
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return std::strerror(errno);
  std::fclose(file);
  std::filesystem::remove(path, error);
  return error ? error.message() : "";
}

}  // namespace

int TraceGraph(const Common& common, const GraphTraceArguments& arguments) {
  std::error_code error;
  const std::string path = std::filesystem::absolute(arguments.output, error).string();
  if (const std::string why = error ? error.message() : MakeSpace(path); !why.empty()) {
    PrintMessage(fmt::format("cannot write {}: {}", arguments.output, why));
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
