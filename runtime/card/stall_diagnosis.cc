// Which stage of a hardware queue stopped, and what it waits for.
#include "runtime/card/stall_diagnosis.h"

#include <optional>
#include <string>
#include <utility>

#include "runtime/card/execution_state.h"
#include "runtime/hw/stream.h"

namespace ttfd {
namespace {

constexpr size_t kNamedWorkers = 6;

class Diagnosis {
 public:
  Diagnosis(const CardSnapshot& card, const QueueSnapshot& queue, const QueueState& host)
      : card_(card), queue_(queue), host_(host) {}

  StallReport Run() {
    const abi::HartStatus& dispatch = queue_.dispatch.status[hw::kBrisc];
    const abi::HartStatus& dispatch_s = queue_.dispatch.status[hw::kNcrisc];
    go_waits_ = dispatch_s.waypoint == abi::kWaypointNotify;
    if (Faulted("prefetcher", queue_.prefetch.status[hw::kBrisc]) ||
        Faulted("dispatcher", dispatch) || Faulted("dispatch_s", dispatch_s)) {
      return std::move(report_);
    }
    // From the end of the pipeline back: who waits for nobody further down is where it stopped.
    if (WaitsForWorkers(dispatch_s, "dispatch_s") || WaitsForWorkers(dispatch, "dispatcher")) {
      return std::move(report_);
    }
    if (dispatch.waypoint != abi::kWaypointIdle) {
      Dispatcher(dispatch);
    } else if (go_waits_) {
      Say(StalledStage::kDispatchS,
          fmt::format(
              "dispatch_s has a go for stream {} and waits for the dispatcher's NOTIFY, which "
              "was never sent",
              dispatch_s.wait_stream));
    } else {
      Prefetcher(queue_.prefetch.status[hw::kBrisc]);
    }
    return std::move(report_);
  }

 private:
  void Say(StalledStage stage, std::string text) {
    report_.stage = stage;
    report_.text = std::move(text);
  }

  bool Faulted(const char* name, const abi::HartStatus& status) {
    if (status.state != abi::kHartFaulted) return false;
    Say(StalledStage::kFault,
        fmt::format("the {} stopped on a fault: {}", name, DescribeFault(status)));
    return true;
  }

  bool WaitsForWorkers(const abi::HartStatus& status, const char* name) {
    const bool waits =
        (status.waypoint == abi::kWaypointWorkers || status.waypoint == abi::kWaypointWait) &&
        status.wait_stream >= abi::kFirstWorkerStream &&
        status.wait_stream < abi::kFirstWorkerStream + abi::kMaxSubDevices;
    if (!waits) return false;
    const uint32_t has = queue_.streams[status.wait_stream - abi::kFirstWorkerStream];
    const uint32_t target = status.wait_count & hw::kStreamCounterMask;
    Say(StalledStage::kWorkers,
        fmt::format("{} waits for stream {} to count {}; it shows {}, so {} workers are not done{}",
                    name, status.wait_stream, target, has, (target - has) & hw::kStreamCounterMask,
                    BusyWorkers()));
    return true;
  }

  // The first that is at work or has faulted; else BRISC, if it waits for another, which says nothing.
  static std::optional<uint32_t> BusyHart(const TileStatus& status) {
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      const uint32_t waypoint = status[hart].waypoint;
      const bool waits = waypoint == abi::kWaypointGo || waypoint == abi::kWaypointSubordinates;
      if (!waits || status[hart].state == abi::kHartFaulted) return hart;
    }
    if (status[hw::kBrisc].waypoint == abi::kWaypointSubordinates) return hw::kBrisc;
    return std::nullopt;
  }

  static std::string StateText(const abi::HartStatus& status) {
    if (IsOverwritten(status)) return "with an overwritten status";
    if (status.state == abi::kHartFaulted) return "stopped on a fault: " + DescribeFault(status);
    return "at " + WaypointName(status.waypoint);
  }

  std::string BusyWorkers() const {
    std::string text;
    size_t count = 0;
    for (size_t worker = 0; worker < card_.workers.size(); ++worker) {
      const TileStatus& status = card_.workers[worker].status;
      const std::optional<uint32_t> hart = BusyHart(status);
      if (!hart.has_value() || ++count > kNamedWorkers) continue;
      const abi::HartStatus& own = status[*hart];
      text += fmt::format("{}({},{}) {} {}", count == 1 ? ": " : "; ", worker % card_.columns,
                          worker / card_.columns, HartName(*hart), StateText(own));
      const uint32_t program = ProgramOf(status[hw::kBrisc]);
      if (program != 0) text += fmt::format(", program {}", program);
    }
    if (count == 0) {
      text = ", though none is at work: an answer was lost, or the go was never sent";
      if (go_waits_) text += " (dispatch_s waits for the dispatcher's NOTIFY)";
    }
    if (count > kNamedWorkers) text += fmt::format("; and {} more", count - kNamedWorkers);
    return text;
  }

  void Dispatcher(const abi::HartStatus& status) {
    if (status.waypoint == abi::kWaypointCompletion) {
      Say(StalledStage::kDispatcher,
          fmt::format(
              "the dispatcher waits for room in the completion queue: the host has given back "
              "{} pages",
              queue_.dispatch_block.completion_pages_read.value));
    } else if (status.waypoint == abi::kWaypointWait) {
      report_.waits_for_queue = true;
      Say(StalledStage::kDispatcher,
          fmt::format("the dispatcher waits for an event of another hardware queue: number {}",
                      status.wait_count));
    } else {
      Say(StalledStage::kDispatcher, fmt::format("the dispatcher is in command {}: {}",
                                                 status.command, WaypointMeaning(status.waypoint)));
    }
  }

  void Prefetcher(const abi::HartStatus& status) {
    if (status.waypoint == abi::kWaypointFetch) {
      // Entries that the card has taken since the host read the count are not missing.
      const uint32_t taken = EntriesTaken(queue_, host_);
      if (host_.entries_announced == taken && !host_.awaits_completions) {
        Say(StalledStage::kNone, "nothing is outstanding");
      } else {
        Say(StalledStage::kHost,
            fmt::format(
                "the prefetcher is idle and so is everything behind it; it took {} of the {} "
                "entries the host announced",
                taken, host_.entries_announced));
      }
    } else if (status.waypoint == abi::kWaypointStall) {
      Say(StalledStage::kPrefetcher,
          fmt::format(
              "the prefetcher is stalled until the dispatcher has notified it {} times; it has "
              "{} times, and the dispatcher has nothing to do",
              status.wait_count, queue_.prefetch_block.sync.value));
    } else {
      Say(StalledStage::kPrefetcher, fmt::format("the prefetcher is in command {}: {}",
                                                 status.command, WaypointMeaning(status.waypoint)));
    }
  }

  const CardSnapshot& card_;
  const QueueSnapshot& queue_;
  const QueueState& host_;
  bool go_waits_ = false;  // dispatch_s has one and may not send it yet
  StallReport report_;
};

// How far each worker is.
std::vector<TileCount> CountTiles(const CardSnapshot& card) {
  std::vector<TileCount> counts;
  for (const TileSnapshot& worker : card.workers) {
    const abi::HartStatus& brisc = worker.status[hw::kBrisc];
    counts.push_back({static_cast<uint32_t>(counts.size()), brisc.progress, ProgramOf(brisc),
                      IsOverwritten(brisc) ? "none" : WaypointName(brisc.waypoint)});
  }
  return counts;
}

std::vector<StreamCount> CountStreams(const CardSnapshot& card, std::span<const QueueState> hosts) {
  std::vector<StreamCount> counts;
  for (uint32_t queue = 0; queue < card.queues.size(); ++queue) {
    const QueueState& host = hosts[queue];
    for (uint32_t stream = 0; stream < abi::kMaxSubDevices; ++stream) {
      const uint64_t expected = host.launched[stream];
      if (expected == 0) continue;
      const auto wire = static_cast<uint32_t>(expected - host.base[stream]);
      counts.push_back({queue, abi::kFirstWorkerStream + stream, expected,
                        wire & hw::kStreamCounterMask, card.queues[queue].streams[stream]});
    }
  }
  return counts;
}

// Where a queue waits for an event of the other, or waits for nothing at all, it is not where it stopped.
int Innocence(const StallReport& report) {
  if (report.stage == StalledStage::kNone) return 3;
  if (report.waits_for_queue) return 2;
  return report.stage == StalledStage::kHost ? 1 : 0;
}

}  // namespace

std::string_view StalledStageName(StalledStage stage) {
  switch (stage) {
    case StalledStage::kNone:
      return "none";
    case StalledStage::kUnreadable:
      return "unreadable";
    case StalledStage::kFault:
      return "fault";
    case StalledStage::kHost:
      return "host";
    case StalledStage::kPrefetcher:
      return "prefetcher";
    case StalledStage::kDispatcher:
      return "dispatcher";
    case StalledStage::kDispatchS:
      return "dispatch_s";
    case StalledStage::kWorkers:
      return "workers";
  }
  return "unknown";
}

std::string ToString(const StallReport& report) {
  return fmt::format("{} of CQ{} stopped: {}", StalledStageName(report.stage),
                     report.hardware_queue, report.text);
}

StallReport DiagnoseQueue(const CardSnapshot& card, uint32_t queue, const QueueState& host) {
  StallReport report;
  if (queue < card.queues.size()) {
    report = Diagnosis(card, card.queues[queue], host).Run();
  } else {
    report.stage = StalledStage::kUnreadable;
    report.text = fmt::format("the card cannot be read: {}", StatusMessage(card.unreadable));
  }
  report.hardware_queue = queue;
  return report;
}

StallReport DiagnoseCard(const CardSnapshot& card, std::span<const QueueState> hosts) {
  StallReport worst;
  for (uint32_t queue = 0; queue < hosts.size(); ++queue) {
    StallReport report = DiagnoseQueue(card, queue, hosts[queue]);
    if (Innocence(report) < Innocence(worst)) worst = std::move(report);
  }
  worst.damage = card.damage;
  worst.tiles = CountTiles(card);
  worst.streams = CountStreams(card, hosts);
  return worst;
}

}  // namespace ttfd
