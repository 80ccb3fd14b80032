// Times of tasks by the clocks of their workers, and of the run by one clock.
#include "client/graph/src/run_log.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "client/graph/src/order.h"
#include "firmware/graph/layout.h"

namespace ttfd::graph {
namespace {

constexpr size_t kPageBytes = layout::kBlockBytes;

template <typename Entry>
Entry EntryAt(const std::vector<std::byte>& bytes, size_t page, size_t index) {
  Entry entry;
  std::memcpy(&entry, &bytes[page * kPageBytes + index * sizeof(Entry)], sizeof(Entry));
  return entry;
}

// Place of a worker in its class.
struct Seat {
  uint32_t in_class = 0;
  uint32_t worker = 0;
};

// The classes with their workers in the order of their numbers; by number, its seat.
std::vector<Seat> SeatWorkers(const Placement& placement, Timeline* timeline) {
  std::vector<Seat> seats;
  for (uint32_t number = 0; number < placement.tiles().size(); ++number) {
    const uint32_t in_class = placement.lists()[number / layout::kWorkersPerWord];
    if (in_class == timeline->classes.size()) {
      timeline->classes.push_back({placement.NameOf(in_class), {}});
    }
    std::vector<client::Core>& workers = timeline->classes[in_class].workers;
    seats.push_back({in_class, static_cast<uint32_t>(workers.size())});
    const uint16_t tile = placement.tiles()[number];
    if (tile == layout::kNoTile) continue;
    workers.push_back({tile & 0xFFu, static_cast<uint32_t>(tile >> 8)});
  }
  return seats;
}

}  // namespace

Result<RunLog> RunLog::Make(client::Session& session, size_t tasks, client::Queue& queue) {
  const uint64_t pages = 1 + (tasks + layout::kTimesPerPage - 1) / layout::kTimesPerPage;
  Result<client::Buffer> buffer =
      session.AllocateDram(pages * kPageBytes, {.page_bytes = kPageBytes});
  if (!buffer.ok()) return buffer.status();
  if (Status status = queue.Fill(*buffer, 0, buffer->size_bytes(), 0); !status.ok()) return status;
  return RunLog(std::move(*buffer));
}

Result<Timeline> RunLog::Read(const Description& graph, const Placement& placement,
                              uint64_t clock_hz, client::Queue& queue) const {
  std::vector<std::byte> bytes(buffer_.size_bytes());
  if (Status status = queue.Read(buffer_, 0, bytes); !status.ok()) return status;
  Timeline timeline;
  timeline.clock_hz = clock_hz;
  const std::vector<Seat> seats = SeatWorkers(placement, &timeline);
  for (const Description::FunctionEntry& one : graph.functions()) {
    timeline.functions.push_back(one.name);
  }
  for (uint32_t i = 0; i < graph.tasks().size(); ++i) {
    const auto time = EntryAt<layout::TaskTime>(bytes, 1, i);
    if (time.worker == 0 || time.worker > seats.size()) {
      return Status(client::Code::kInternal,
                    "the timeline has no entry of task " + graph.NameOf(i));
    }
    const uint32_t number = time.worker - 1;
    const auto pair = EntryAt<layout::ClockPair>(bytes, 0, number);
    const uint64_t begin = time.begin - pair.worker + pair.scheduler;
    timeline.tasks.push_back({begin, begin + time.clocks, graph.tasks()[i].function,
                              seats[number].in_class, seats[number].worker});
  }
  uint64_t first = ~uint64_t{0};
  for (const Timeline::Task& task : timeline.tasks) first = std::min(first, task.begin);
  for (Timeline::Task& task : timeline.tasks) task.begin -= first, task.end -= first;
  const Successors successors = SuccessorsOf(graph);
  for (uint32_t task = 0; task < timeline.tasks.size(); ++task) {
    for (uint32_t i = successors.begin[task]; i < successors.begin[task + 1]; ++i) {
      timeline.edges.emplace_back(task, successors.after[i]);
    }
  }
  return timeline;
}

}  // namespace ttfd::graph
