// Steps as text and JSON.
#include "client/cli/drain_steps.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "client/cli/json.h"
#include "client/cli/printing.h"
#include "client/cli/session_rows.h"

namespace ttfd::cli {
namespace {

// Sessions that are listed anew each time that another has ended.
constexpr size_t kFewSessions = 10;

Json StepJson(const client::Progress& step) {
  return {{"step", client::ProgressStepName(step.step)},
          {"left", step.left},
          {"done", step.done},
          {"sessions", JsonList(step.sessions, SessionJson)}};
}

}  // namespace

void DrainSteps::Print(const client::Progress& step) {
  const bool first = std::exchange(first_, false);
  if (json_) {
    PrintText(JsonLine(StepJson(step)));
  } else {
    const std::string left = step.left != 0 ? fmt::format(": {}", step.left) : "";
    PrintLine(client::ProgressStepName(step.step) + left);
    const bool listed = first || step.done || step.sessions.size() <= kFewSessions;
    if (listed && !step.sessions.empty()) {
      PrintTable(LeftSessionRows(step.sessions));
      if (step.left > step.sessions.size()) {
        PrintLine(fmt::format("and {} more", step.left - step.sessions.size()));
      }
    }
  }
  std::fflush(stdout);
}

}  // namespace ttfd::cli
