// Summary of a timeline, and its file in Chrome's trace event format.
#include "ttfd/graph/timeline.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

namespace ttfd::graph {
namespace {

using client::Code;
using client::Status;
using Json = nlohmann::ordered_json;

// "VECTOR" as "Vector".
std::string InTitleCase(std::string name) {
  for (size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    name[i] = static_cast<char>(i == 0 ? std::toupper(byte) : std::tolower(byte));
  }
  return name;
}

// `text` in quotation marks. What is not UTF-8 becomes U+FFFD.
std::string Quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

uint64_t TimeOfRun(const Timeline& timeline) {
  uint64_t end = 0;
  for (const Timeline::Task& task : timeline.tasks) end = std::max(end, task.end);
  return end;
}

// Writes the events of a timeline, the summary alone on the first line. Processes and threads are numbered from 1: some
// readers take 0 for the system.
class TraceWriter {
 public:
  TraceWriter(const Timeline& timeline, std::FILE* file) : timeline_(timeline), file_(file) {}

  void Write() {
    Put("{{\"otherData\": {},\n\"displayTimeUnit\": \"ns\", \"traceEvents\": [", Summary());
    PutNames();
    PutTasks();
    PutEdges();
    PutCounters();
    Put("\n]}}\n");
  }

 private:
  // A change of a class's counters.
  struct Change {
    uint64_t time;
    uint32_t in_class;
    int32_t ready;
    int32_t running;
  };

  template <typename... Arguments>
  void Put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    std::fwrite(text_.data(), 1, text_.size(), file_);
  }
  // The same, an event after others.
  template <typename... Arguments>
  void PutEvent(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    std::fputs(first_ ? "\n" : ",\n", file_);
    first_ = false;
    Put(format, std::forward<Arguments>(arguments)...);
  }

  // Whole nanoseconds, so that no slice ends after the next one's begin.
  uint64_t Nanoseconds(uint64_t clocks) const {
    return static_cast<uint64_t>(static_cast<double>(clocks) * 1e9 /
                                 static_cast<double>(timeline_.clock_hz));
  }
  // Microseconds, the unit of the format.
  static std::string Time(uint64_t nanoseconds) {
    return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
  }

  std::string Summary() const {
    const TimelineSummary summary = timeline_.Summarize();
    Json classes = Json::array();
    for (const TimelineSummary::Class& one : summary.classes) {
      classes.push_back({{"name", one.name},
                         {"workers", one.workers},
                         {"tasks", one.tasks},
                         {"utilization", one.utilization}});
    }
    const Json all = {{"tasks", summary.tasks},
                      {"clocks", summary.clocks},
                      {"clocks_per_task", summary.clocks_per_task},
                      {"tasks_per_second", summary.tasks_per_second},
                      {"classes", classes}};
    return all.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void PutNames() {
    uint32_t thread = 1;
    for (uint32_t i = 0; i < timeline_.classes.size(); ++i) {
      const Timeline::Class& one = timeline_.classes[i];
      const std::string name = InTitleCase(one.name);
      first_threads_.push_back(thread);
      PutEvent(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", i + 1,
               Quoted(fmt::format("{} Workers ({})", name, one.workers.size())));
      for (uint32_t k = 0; k < one.workers.size(); ++k, ++thread) {
        const client::Core& core = one.workers[k];
        PutEvent(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                 i + 1, thread, Quoted(fmt::format("{}-{} ({},{})", name, k, core.x, core.y)));
        PutEvent(
            R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
            i + 1, thread, thread);
      }
    }
  }

  uint32_t ThreadOf(const Timeline::Task& task) const {
    return first_threads_[task.in_class] + task.worker;
  }

  void PutTasks() {
    std::vector<std::string> names;
    for (const std::string& name : timeline_.functions) names.push_back(Quoted(name));
    for (uint32_t i = 0; i < timeline_.tasks.size(); ++i) {
      const Timeline::Task& task = timeline_.tasks[i];
      const uint64_t begin = Nanoseconds(task.begin);
      PutEvent(
          R"({{"ph":"X","cat":"task","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{"task":{}}}}})",
          names[task.function], task.in_class + 1, ThreadOf(task), Time(begin),
          Time(Nanoseconds(task.end) - begin), i);
    }
  }

  // An arrow binds to the slice that has its time: the end of a slice is outside.
  void PutEdges() {
    for (size_t i = 0; i < timeline_.edges.size(); ++i) {
      const Timeline::Task& before = timeline_.tasks[timeline_.edges[i].first];
      const Timeline::Task& after = timeline_.tasks[timeline_.edges[i].second];
      // Tiles' clocks are compared to some clocks only: none ends before it begins.
      const uint64_t end = std::min(Nanoseconds(before.end) - 1, Nanoseconds(after.begin));
      PutEvent(R"({{"ph":"s","cat":"edge","name":"edge","id":{},"pid":{},"tid":{},"ts":{}}})",
               i + 1, before.in_class + 1, ThreadOf(before),
               Time(std::max(Nanoseconds(before.begin), end)));
      PutEvent(
          R"({{"ph":"f","bp":"e","cat":"edge","name":"edge","id":{},"pid":{},"tid":{},"ts":{}}})",
          i + 1, after.in_class + 1, ThreadOf(after), Time(Nanoseconds(after.begin)));
    }
  }

  std::vector<Change> Changes() const {
    std::vector<uint64_t> ready(timeline_.tasks.size());
    for (const auto& [before, after] : timeline_.edges) {
      ready[after] = std::max(ready[after], timeline_.tasks[before].end);
    }
    std::vector<Change> changes;
    for (size_t i = 0; i < ready.size(); ++i) {
      const Timeline::Task& task = timeline_.tasks[i];
      // Tiles' clocks are compared to some clocks only.
      changes.push_back({std::min(ready[i], task.begin), task.in_class, 1, 0});
      changes.push_back({task.begin, task.in_class, -1, 1});
      changes.push_back({task.end, task.in_class, 0, -1});
    }
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
      return std::pair(a.in_class, a.time) < std::pair(b.in_class, b.time);
    });
    return changes;
  }

  // Values at the begin, and at times at which they change.
  void PutCounters() {
    const std::vector<Change> changes = Changes();
    int64_t ready = 0, idle = 0, last_ready = 0, last_idle = 0;
    for (size_t i = 0; i < changes.size(); ++i) {
      const Change& one = changes[i];
      if (i == 0 || changes[i - 1].in_class != one.in_class) {
        idle = last_idle = static_cast<int64_t>(timeline_.classes[one.in_class].workers.size());
        PutCounter(one.in_class, "ready", 0, "tasks", 0);
        PutCounter(one.in_class, "idle", 0, "workers", idle);
      }
      ready += one.ready;
      idle -= one.running;
      const uint64_t time = Nanoseconds(one.time);
      if (i + 1 != changes.size() && changes[i + 1].in_class == one.in_class &&
          Nanoseconds(changes[i + 1].time) == time) {
        continue;
      }
      if (ready != last_ready) PutCounter(one.in_class, "ready", time, "tasks", ready);
      if (idle != last_idle) PutCounter(one.in_class, "idle", time, "workers", idle);
      last_ready = ready, last_idle = idle;
    }
  }

  void PutCounter(uint32_t in_class, const char* name, uint64_t time, const char* unit,
                  int64_t value) {
    PutEvent(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{"{}":{}}}}})", name, in_class + 1,
             Time(time), unit, value);
  }

  const Timeline& timeline_;
  std::FILE* const file_;
  std::string text_;
  bool first_ = true;
  std::vector<uint32_t> first_threads_;  // by class
};

Status CannotWrite(const std::string& path, int error) {
  return Status(Code::kInternal, fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

}  // namespace

TimelineSummary Timeline::Summarize() const {
  TimelineSummary summary;
  std::vector<uint64_t> busy(classes.size());
  for (const Class& one : classes) {
    summary.classes.push_back({one.name, static_cast<uint32_t>(one.workers.size()), 0, 0});
  }
  for (const Task& task : tasks) {
    ++summary.classes[task.in_class].tasks;
    busy[task.in_class] += task.end - task.begin;
  }
  summary.tasks = tasks.size();
  summary.clocks = TimeOfRun(*this);
  if (summary.tasks == 0 || summary.clocks == 0) return summary;
  const auto clocks = static_cast<double>(summary.clocks);
  summary.clocks_per_task = clocks / static_cast<double>(summary.tasks);
  summary.tasks_per_second = static_cast<double>(clock_hz) / summary.clocks_per_task;
  for (size_t i = 0; i < classes.size(); ++i) {
    TimelineSummary::Class& one = summary.classes[i];
    one.utilization = static_cast<double>(busy[i]) / (clocks * one.workers);
  }
  return summary;
}

Status Timeline::WriteTrace(const std::string& path) const {
  const std::string part = path + "." + std::to_string(getpid()) + ".part";
  std::FILE* const file = std::fopen(part.c_str(), "w");
  if (file == nullptr) return CannotWrite(path, errno);
  TraceWriter(*this, file).Write();
  const bool written = std::ferror(file) == 0;
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  std::error_code failed(!written ? error : closed ? 0 : errno, std::generic_category());
  if (!failed) std::filesystem::rename(part, path, failed);
  if (!failed) return Status();
  std::remove(part.c_str());
  return CannotWrite(path, failed.value());
}

}  // namespace ttfd::graph
