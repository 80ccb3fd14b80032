// A hang report in writing.
#include "daemon/hang/hang_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "daemon/hang/json_writer.h"
#include "runtime/boot/hart_state.h"

namespace ttfd {
namespace {

void Header(const HangReport& report, JsonWriter* json) {
  json->Text("id", report.id).Text("time", TimeText(report.time));
  json->Text("trigger", report.trigger);
}

void AddWork(const HangWork& work, JsonWriter* json) {
  json->Begin("", '{');
  json->Number("hardware_queue", work.hardware_queue).Number("ticket", work.ticket);
  json->Number("session", work.session).Text("owner", work.owner);
  json->Number("queue", work.queue).Number("value", work.value).Text("command", work.command);
  if (work.timeout_ms != 0) json->Number("timeout_ms", work.timeout_ms);
  if (!work.programs.empty()) {
    json->Begin("programs", '[');
    for (const uint32_t program : work.programs) json->Number("", program);
    json->End();
  }
  if (!work.after.empty()) {
    json->Begin("after", '[');
    for (const Ticket& ticket : work.after) {
      json->Begin("", '{').Number("hardware_queue", ticket.hardware_queue);
      json->Number("ticket", ticket.number).End();
    }
    json->End();
  }
  if (work.fate != WorkFate::kUndecided) {
    json->Text("standing", StandingName(work.standing)).Text("fate", WorkFateName(work.fate));
    json->Text("why", work.why);
  }
  json->End();
}

void AddHostSide(const HangReport& report, JsonWriter* json) {
  json->Begin("works", '[');
  for (const HangWork& work : report.works) AddWork(work, json);
  json->End().Begin("ended_last", '[');
  for (const HangWork& work : report.recent) AddWork(work, json);
  json->End().Begin("hardware_queues", '[');
  for (size_t i = 0; i < report.queues.size(); ++i) {
    const HostQueueRecord& queue = report.queues[i];
    json->Begin("", '{').Number("index", i).Number("submitted", queue.submitted);
    json->Number("completed", queue.completed);
    json->Number("entries_announced", queue.entries_announced);
    json->Number("entries_done", queue.entries_done).Number("entries_lost", queue.entries_lost);
    json->End();
  }
  json->End();
}

void AddPlace(std::string_view key, const CodePlace& place, JsonWriter* json) {
  const std::string text = ToString(place);
  if (!text.empty()) json->Text(key, text);
}

void AddDeviceSide(const HangReport& report, JsonWriter* json) {
  const StallReport& stall = report.stall;
  json->Text("stage", StalledStageName(stall.stage));
  json->Number("stage_hardware_queue", stall.hardware_queue).Text("stage_text", stall.text);
  json->Text("summary", report.summary).Begin("harts", '[');
  for (const HartReport& hart : stall.harts) {
    json->Begin("", '{').Text("where", hart.where).Text("state", HartStateName(hart.state));
    json->Text("waypoint", hart.waypoint).Number("progress", hart.progress);
    json->Text("pc", fmt::format("{:#x}", hart.pc)).Text("text", hart.text);
    AddPlace("code", hart.code, json);
    AddPlace("caller", hart.caller, json);
    if (hart.program != 0) json->Number("program", hart.program);
    json->Flag("faulted", hart.faulted).End();
  }
  json->End().Begin("overwritten_firmware", '[');
  for (const FirmwareDamage& damage : stall.damage) json->Text("", ToString(damage));
  json->End().Begin("workers", '[');
  for (const TileCount& tile : stall.tiles) {
    json->Begin("", '{').Number("worker", tile.worker).Number("launches_ended", tile.launches);
    json->Number("program", tile.program).Text("waypoint", tile.waypoint).End();
  }
  json->End().Begin("streams", '[');
  for (const StreamCount& stream : stall.streams) {
    json->Begin("", '{').Number("hardware_queue", stream.hardware_queue);
    json->Number("stream", stream.stream).Number("expected", stream.wire);
    json->Number("shows", stream.shows).End();
  }
  json->End();
}

std::string WorkLine(const HangWork& work) {
  std::string text = fmt::format("CQ{} ticket {}: {}, queue {} value {} of {}", work.hardware_queue,
                                 work.ticket, work.command, work.queue, work.value, work.owner);
  if (work.fate != WorkFate::kUndecided) {
    text += fmt::format(" -> {} ({}{})", WorkFateName(work.fate), StandingName(work.standing),
                        work.why.empty() ? "" : ": " + work.why);
  }
  return text + "\n";
}

std::string TilesText(const StallReport& stall) {
  // Most workers stand alike: those that do not are what one looks for.
  std::string text;
  for (const TileCount& tile : stall.tiles) {
    if (tile.waypoint == WaypointName(abi::kWaypointGo)) continue;
    text += fmt::format("  worker {}: {} launches ended, at {}, program {}\n", tile.worker,
                        tile.launches, tile.waypoint, tile.program);
  }
  return text.empty() ? "  all are idle\n" : text;
}

}  // namespace

std::string TimeText(std::chrono::system_clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)), ms);
}

std::string HostSideJson(const HangReport& report) {
  JsonWriter json;
  json.Begin("", '{');
  Header(report, &json);
  AddHostSide(report, &json);
  json.End();
  return json.Take();
}

std::string RecordsText(const HangReport& report) {
  std::string text;
  for (size_t i = 0; i < report.queues.size(); ++i) {
    const HostQueueRecord& queue = report.queues[i];
    text += fmt::format("CQ{}: entries {} to {} were announced and not known to be done", i,
                        queue.entries_done, queue.entries_announced);
    if (queue.entries_lost > 0) {
      text += fmt::format("; the bytes of the first {} are gone, their room was needed",
                          queue.entries_lost);
    }
    if (queue.entries_left_out > 0) {
      text += fmt::format("; the last {} are left out", queue.entries_left_out);
    }
    text += '\n';
    for (const std::string& line : queue.records) text += "  " + line + '\n';
  }
  return text;
}

std::string LogText(const HangReport& report) {
  std::string text;
  for (const std::string& line : report.log) text += line + '\n';
  return text;
}

std::string DeviceSideJson(const HangReport& report) {
  JsonWriter json;
  json.Begin("", '{');
  Header(report, &json);
  AddDeviceSide(report, &json);
  json.End();
  return json.Take();
}

std::string WholeJson(const HangReport& report) {
  JsonWriter json;
  json.Begin("", '{');
  Header(report, &json);
  json.Text("reason", report.reason);
  if (const HangWork* const blamed = report.blamed()) {
    json.Begin("blamed", '{').Number("session", blamed->session).Text("owner", blamed->owner);
    json.Number("queue", blamed->queue).Number("value", blamed->value);
    json.Text("command", blamed->command).End();
  }
  if (const HangWork* const suspect = report.suspected()) {
    json.Begin("suspected", '{').Number("session", suspect->session);
    json.Text("owner", suspect->owner).Number("queue", suspect->queue);
    json.Number("value", suspect->value).Text("command", suspect->command).End();
  }
  json.Flag("recovered", report.recovered).Text("recovery", report.recovery);
  json.Real("recovery_ms", report.recovery_ms).Number("boot_attempts", report.boot_attempts);
  AddHostSide(report, &json);
  AddDeviceSide(report, &json);
  json.End();
  return json.Take();
}

std::string WholeText(const HangReport& report) {
  std::string text = fmt::format("{} {}, {}\n{}\n", report.reason, report.id, TimeText(report.time),
                                 report.summary);
  const HangWork* const blamed = report.blamed();
  text += blamed != nullptr
              ? fmt::format("to blame: {}, queue {} value {}, of {}\n", blamed->command,
                            blamed->queue, blamed->value, blamed->owner)
              : "nobody's kernel is to blame\n";
  if (const HangWork* const suspect = report.suspected()) {
    text += fmt::format("it was the turn of {}, queue {} value {}, of {}\n", suspect->command,
                        suspect->queue, suspect->value, suspect->owner);
  }
  text += fmt::format("recovery: {} in {:.1f} ms, {} boot{}\n", report.recovery, report.recovery_ms,
                      report.boot_attempts, report.boot_attempts == 1 ? "" : "s");
  text += "\nwhat was on the card\n";
  for (const HangWork& work : report.works) text += "  " + WorkLine(work);
  text += "\nlaunches that ended last\n";
  for (const HangWork& work : report.recent) {
    text += fmt::format("  CQ{} session {} queue {} value {}, programs {}\n", work.hardware_queue,
                        work.session, work.queue, work.value, fmt::join(work.programs, ", "));
  }
  text +=
      fmt::format("\nwhere it stopped: {} of CQ{}\n  {}\n", StalledStageName(report.stall.stage),
                  report.stall.hardware_queue, report.stall.text);
  for (const HartReport& hart : report.stall.harts) {
    text += fmt::format("  {}: {} (waypoint {}, progress {}, pc {:#x}{}{})\n", hart.where,
                        hart.text, hart.waypoint, hart.progress, hart.pc,
                        ToString(hart.code).empty() ? "" : " ", ToString(hart.code));
  }
  for (const FirmwareDamage& damage : report.stall.damage) text += "  " + ToString(damage) + '\n';
  text += "\nworkers\n" + TilesText(report.stall);
  for (const StreamCount& stream : report.stall.streams) {
    text += fmt::format("  CQ{} stream {}: {} of {} answers\n", stream.hardware_queue,
                        stream.stream, stream.shows, stream.wire);
  }
  text += "\nrecords\n" + RecordsText(report) + "\nlog\n" + LogText(report);
  return text;
}

}  // namespace ttfd
