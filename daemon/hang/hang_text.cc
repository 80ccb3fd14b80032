// A hang report in writing.
#include "daemon/hang/hang_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/utf8.h"
#include "runtime/boot/hart_state.h"

namespace ttfd {
namespace {

using Json = nlohmann::ordered_json;

template <typename Range, typename Each>
Json List(const Range& range, Each each) {
  Json list = Json::array();
  for (const auto& element : range) list.push_back(each(element));
  return list;
}

// Text in lines. A line stays one line whatever its arguments hold: names of clients, kernels and functions.
class Lines {
 public:
  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    text_ += Printable(fmt::format(format, std::forward<Args>(args)...)) + '\n';
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Json Header(const HangReport& report) {
  return {{"id", report.id},
          {"time", TimeText(report.time)},
          {"device", report.device},
          {"trigger", report.trigger}};
}

Json TicketJson(const Ticket& ticket) {
  return {{"hardware_queue", ticket.hardware_queue}, {"ticket", ticket.number}};
}

Json SliceJson(const HangSlice& slice) {
  Json json = {{"hardware_queue", slice.hardware_queue},
               {"ticket", slice.ticket},
               {"client", ClientJson(slice.client)},
               {"queue", slice.queue},
               {"value", slice.value},
               {"command", slice.command}};
  if (slice.timeout_ms != 0) json["timeout_ms"] = slice.timeout_ms;
  if (!slice.programs.empty()) json["programs"] = slice.programs;
  if (!slice.after.empty()) json["after"] = List(slice.after, TicketJson);
  if (slice.outcome != SliceOutcome::kUndecided) {
    json["state"] = ExecutionStateName(slice.state);
    json["outcome"] = SliceOutcomeName(slice.outcome);
    json["why"] = slice.why;
  }
  return json;
}

// Names a slice to people: whose it is, and which of its commands.
Json WhoseJson(const HangSlice& slice) {
  return {{"client", ClientJson(slice.client)},
          {"queue", slice.queue},
          {"value", slice.value},
          {"command", slice.command}};
}

Json QueueJson(size_t index, const HostQueueRecord& queue) {
  return {{"index", index},
          {"submitted", queue.submitted},
          {"completed", queue.completed},
          {"entries_announced", queue.entries_announced},
          {"entries_done", queue.entries_done},
          {"entries_lost", queue.entries_lost}};
}

void AddHostSide(const HangReport& report, Json* json) {
  (*json)["slices"] = List(report.slices, SliceJson);
  (*json)["ended_last"] = List(report.recent, SliceJson);
  Json& queues = (*json)["hardware_queues"] = Json::array();
  for (size_t i = 0; i < report.queues.size(); ++i)
    queues.push_back(QueueJson(i, report.queues[i]));
}

Json HartJson(const HartReport& hart) {
  Json json = {{"where", hart.where},
               {"state", HartStateName(hart.state)},
               {"waypoint", hart.waypoint},
               {"progress", hart.progress},
               {"pc", fmt::format("{:#x}", hart.pc)},
               {"text", hart.text}};
  if (const std::string code = ToString(hart.code); !code.empty()) json["code"] = code;
  if (const std::string caller = ToString(hart.caller); !caller.empty()) json["caller"] = caller;
  if (const auto& wait = hart.engine_wait) {
    json["engine_wait"] = {{"instruction", wait->instruction}, {"condition", wait->condition}};
  }
  if (hart.program != 0) json["program"] = hart.program;
  if (!hart.note.empty()) json["note"] = hart.note;
  json["faulted"] = hart.faulted;
  return json;
}

Json DamageJson(const FirmwareDamage& damage) { return ToString(damage); }

Json TileJson(const TileCount& tile) {
  return {{"worker", tile.worker},
          {"launches_ended", tile.launches},
          {"program", tile.program},
          {"waypoint", tile.waypoint}};
}

Json StreamJson(const StreamCount& stream) {
  return {{"hardware_queue", stream.hardware_queue},
          {"stream", stream.stream},
          {"expected", stream.wire},
          {"shows", stream.shows}};
}

void AddDeviceSide(const HangReport& report, Json* json) {
  const StallReport& stall = report.stall;
  (*json)["stage"] = StalledStageName(stall.stage);
  (*json)["stage_hardware_queue"] = stall.hardware_queue;
  (*json)["stage_text"] = stall.text;
  (*json)["summary"] = report.summary;
  (*json)["harts"] = List(stall.harts, HartJson);
  (*json)["overwritten_firmware"] = List(stall.damage, DamageJson);
  (*json)["workers"] = List(stall.tiles, TileJson);
  (*json)["streams"] = List(stall.streams, StreamJson);
}

std::string SliceLine(const HangSlice& slice) {
  std::string text =
      fmt::format("CQ{} ticket {}: {}, queue {} value {} of {}", slice.hardware_queue, slice.ticket,
                  slice.command, slice.queue, slice.value, slice.client.Text());
  if (slice.outcome != SliceOutcome::kUndecided) {
    text += fmt::format(" -> {} ({}{})", SliceOutcomeName(slice.outcome),
                        ExecutionStateName(slice.state), slice.why.empty() ? "" : ": " + slice.why);
  }
  return text;
}

// Lines about harts or workers. Most often those of one launch are in the same state: the first is shown with the names
// of the others.
class Groups {
 public:
  // `state` is what identical ones have in common, `line` what is shown of the first.
  void Add(std::string state, std::string line, std::string name) {
    const auto found = std::find_if(groups_.begin(), groups_.end(),
                                    [&state](const Group& group) { return group.state == state; });
    if (found == groups_.end()) {
      groups_.push_back({std::move(state), std::move(line), {}});
    } else {
      found->others.push_back(std::move(name));
    }
  }
  bool empty() const { return groups_.empty(); }
  void AddTo(Lines* lines) const {
    constexpr size_t kNamed = 16;
    for (const Group& group : groups_) {
      const size_t count = group.others.size();
      const size_t named = std::min(count, kNamed);
      const std::span<const std::string> names = std::span(group.others).first(named);
      lines->Add("  {}{}", group.line,
                 count == 0 ? ""
                            : fmt::format(" (and {} identical: {}{})", count,
                                          fmt::join(names, ", "), count > named ? ", ..." : ""));
    }
  }

 private:
  struct Group {
    std::string state;
    std::string line;
    std::vector<std::string> others;
  };
  std::vector<Group> groups_;
};

// Adds the harts: faulted ones first, then those in kernels.
void AddHarts(const StallReport& stall, Lines* lines) {
  const auto rank = [](const HartReport& hart) {
    return hart.faulted ? 0 : hart.code.image == CodePlace::Image::kKernel ? 1 : 2;
  };
  for (int now = 0; now != 3; ++now) {
    Groups groups;
    for (const HartReport& hart : stall.harts) {
      if (rank(hart) != now) continue;
      const std::string code = ToString(hart.code);
      const std::string place = fmt::format("pc {:#x}{}{}", hart.pc, code.empty() ? "" : " ", code);
      // Harts of dispatch tiles are all different.
      const bool worker = hart.worker != HartReport::kNoWorker;
      groups.Add(fmt::format("{} {} {} {} {}", worker ? "" : hart.where, hart.hart, hart.text,
                             hart.waypoint, place),
                 fmt::format("{}: {} (waypoint {}, progress {}, {})", hart.where, hart.text,
                             hart.waypoint, hart.progress, place),
                 fmt::format("({},{})", hart.core.x, hart.core.y));
    }
    groups.AddTo(lines);
  }
}

void AddTiles(const StallReport& stall, Lines* lines) {
  // Most workers are idle: those that are not are what one looks for.
  Groups groups;
  for (const TileCount& tile : stall.tiles) {
    if (tile.waypoint == WaypointName(abi::kWaypointGo)) continue;
    const std::string state = fmt::format("{} launches ended, at {}, program {}", tile.launches,
                                          tile.waypoint, tile.program);
    groups.Add(state, fmt::format("worker {}: {}", tile.worker, state),
               std::to_string(tile.worker));
  }
  groups.AddTo(lines);
  if (groups.empty()) lines->Add("  all are idle");
}

void AddRecords(const HangReport& report, Lines* lines) {
  for (size_t i = 0; i < report.queues.size(); ++i) {
    const HostQueueRecord& queue = report.queues[i];
    std::string text = fmt::format("CQ{}: entries {} to {} were announced and not known to be done",
                                   i, queue.entries_done, queue.entries_announced);
    if (queue.entries_lost > 0) {
      text += fmt::format("; the bytes of the first {} are gone, their room was needed",
                          queue.entries_lost);
    }
    if (queue.entries_left_out > 0) {
      text += fmt::format("; the last {} are left out", queue.entries_left_out);
    }
    lines->Add("{}", text);
    for (const std::string& line : queue.records) lines->Add("  {}", line);
  }
}

void AddLog(const HangReport& report, Lines* lines) {
  for (const std::string& line : report.log) lines->Add("{}", line);
}

void AddCause(const HangReport& report, Lines* lines) {
  if (const HangSlice* const offender = report.offending()) {
    lines->Add("caused by: {}, queue {} value {}, of {}", offender->command, offender->queue,
               offender->value, offender->client.Text());
  } else {
    lines->Add("no launch is proven to be the cause");
  }
  if (const HangSlice* const suspect = report.suspected()) {
    lines->Add("it was the turn of {}, queue {} value {}, of {}", suspect->command, suspect->queue,
               suspect->value, suspect->client.Text());
  }
}

}  // namespace

nlohmann::ordered_json ClientJson(const SessionClient& client) {
  return {{"session", client.session},
          {"name", client.name},
          {"user", client.user},
          {"uid", client.uid},
          {"pid", client.pid}};
}

std::string JsonText(const nlohmann::ordered_json& json) {
  return json.dump(1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + '\n';
}

std::string TimeText(std::chrono::system_clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)), ms);
}

std::string HostSideJson(const HangReport& report) {
  Json json = Header(report);
  AddHostSide(report, &json);
  return JsonText(json);
}

std::string RecordsText(const HangReport& report) {
  Lines lines;
  AddRecords(report, &lines);
  return lines.text();
}

std::string LogText(const HangReport& report) {
  Lines lines;
  AddLog(report, &lines);
  return lines.text();
}

std::string DeviceSideJson(const HangReport& report) {
  Json json = Header(report);
  AddDeviceSide(report, &json);
  return JsonText(json);
}

std::string WholeJson(const HangReport& report) {
  Json json = Header(report);
  json["reason"] = report.reason;
  json["headline"] = report.headline;
  if (const HangSlice* const offender = report.offending()) json["offender"] = WhoseJson(*offender);
  if (const HangSlice* const suspect = report.suspected()) json["suspected"] = WhoseJson(*suspect);
  json["recovered"] = report.recovered;
  json["recovery"] = report.recovery;
  json["recovery_ms"] = report.recovery_ms;
  json["boot_attempts"] = report.boot_attempts;
  AddHostSide(report, &json);
  AddDeviceSide(report, &json);
  return JsonText(json);
}

std::string WholeText(const HangReport& report) {
  Lines lines;
  lines.Add("{}", report.headline);
  lines.Add("{} {} of device {}, {}", report.reason, report.id, report.device,
            TimeText(report.time));
  lines.Add("{}", report.summary);
  AddCause(report, &lines);
  lines.Add("recovery: {} in {:.1f} ms, {} boot{}", report.recovery, report.recovery_ms,
            report.boot_attempts, report.boot_attempts == 1 ? "" : "s");
  lines.Add("");
  lines.Add("what was on the card");
  for (const HangSlice& slice : report.slices) lines.Add("  {}", SliceLine(slice));
  lines.Add("");
  lines.Add("launches that ended last");
  for (const HangSlice& slice : report.recent) {
    lines.Add("  CQ{} session {} queue {} value {}, programs {}", slice.hardware_queue,
              slice.client.session, slice.queue, slice.value, fmt::join(slice.programs, ", "));
  }
  lines.Add("");
  lines.Add("where it stopped: {} of CQ{}", StalledStageName(report.stall.stage),
            report.stall.hardware_queue);
  lines.Add("  {}", report.stall.text);
  AddHarts(report.stall, &lines);
  for (const FirmwareDamage& damage : report.stall.damage) lines.Add("  {}", ToString(damage));
  lines.Add("");
  lines.Add("workers");
  AddTiles(report.stall, &lines);
  for (const StreamCount& stream : report.stall.streams) {
    lines.Add("  CQ{} stream {}: {} of {} answers", stream.hardware_queue, stream.stream,
              stream.shows, stream.wire);
  }
  lines.Add("");
  lines.Add("records");
  AddRecords(report, &lines);
  lines.Add("");
  lines.Add("log");
  AddLog(report, &lines);
  return lines.text();
}

}  // namespace ttfd
