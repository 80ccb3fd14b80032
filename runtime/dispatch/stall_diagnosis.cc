// Which stage of a hardware queue stopped, and what it waits for.
#include "runtime/dispatch/stall_diagnosis.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/abi/control_block.h"
#include "runtime/abi/l1_map.h"
#include "runtime/boot/hart_state.h"
#include "runtime/hw/stream.h"

namespace ttfd {
namespace {

constexpr size_t kNamedWorkers = 6;

class Diagnosis {
 public:
  Diagnosis(Device& device, const BootPlan& plan, const HostView& host)
      : device_(device), plan_(plan), host_(host) {
    report_.hardware_queue = plan.block.hardware_queue;
  }

  StallReport Run() {
    const Status status = Read();
    if (!status.ok()) {
      Say(StalledStage::kUnreadable,
          fmt::format("the card cannot be read: {}", StatusMessage(status)));
    }
    return std::move(report_);
  }

 private:
  Status Read() {
    ASSIGN_OR_RETURN(prefetch_window_, device_.OpenWindow(UnicastTarget(plan_.prefetch_tile)));
    ASSIGN_OR_RETURN(dispatch_window_, device_.OpenWindow(UnicastTarget(plan_.dispatch_tile)));
    ASSIGN_OR_RETURN(const TileStatus prefetch_tile, ReadTileStatus(*prefetch_window_));
    ASSIGN_OR_RETURN(const TileStatus dispatch_tile, ReadTileStatus(*dispatch_window_));
    const abi::HartStatus& prefetch = prefetch_tile[hw::kBrisc];
    const abi::HartStatus& dispatch = dispatch_tile[hw::kBrisc];
    const abi::HartStatus& dispatch_s = dispatch_tile[hw::kNcrisc];
    if (Faulted("prefetcher", prefetch) || Faulted("dispatcher", dispatch) ||
        Faulted("dispatch_s", dispatch_s)) {
      return OkStatus();
    }
    go_waits_ = dispatch_s.waypoint == abi::kWaypointNotify;
    // From the end of the pipeline back: who waits for nobody further down is where it stopped.
    ASSIGN_OR_RETURN(const bool workers, WaitsForWorkers(dispatch_s, "dispatch_s"));
    if (workers) return OkStatus();
    ASSIGN_OR_RETURN(const bool launch, WaitsForWorkers(dispatch, "dispatcher"));
    if (launch) return OkStatus();
    if (dispatch.waypoint != abi::kWaypointIdle) return Dispatcher(dispatch);
    if (go_waits_) {
      Say(StalledStage::kDispatchS,
          fmt::format(
              "dispatch_s has a go for stream {} and waits for the dispatcher's NOTIFY, which "
              "was never sent",
              dispatch_s.wait_stream));
      return OkStatus();
    }
    return Prefetcher(prefetch);
  }

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

  StatusOr<bool> WaitsForWorkers(const abi::HartStatus& status, const char* name) {
    const bool waits =
        status.waypoint == abi::kWaypointWorkers ||
        (status.waypoint == abi::kWaypointWait && status.wait_stream >= abi::kFirstWorkerStream &&
         status.wait_stream < hw::kStreams);
    if (!waits) return false;
    ASSIGN_OR_RETURN(const uint32_t has,
                     ReadWord(*dispatch_window_,
                              hw::StreamRegister(status.wait_stream, hw::kStreamSpaceAvailable)));
    const uint32_t target = status.wait_count & hw::kStreamCounterMask;
    ASSIGN_OR_RETURN(const std::string workers, BusyWorkers());
    Say(StalledStage::kWorkers,
        fmt::format("{} waits for stream {} to count {}; it shows {}, so {} workers are not done{}",
                    name, status.wait_stream, target, has, (target - has) & hw::kStreamCounterMask,
                    workers));
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

  StatusOr<std::string> BusyWorkers() {
    std::string text;
    size_t count = 0;
    const auto columns = static_cast<uint32_t>(plan_.worker_columns.size());
    for (uint32_t worker = 0; worker < plan_.worker_count(); ++worker) {
      ASSIGN_OR_RETURN(const std::unique_ptr<Window> window,
                       device_.OpenWindow(UnicastTarget(plan_.WorkerTile(worker))));
      ASSIGN_OR_RETURN(const TileStatus status, ReadTileStatus(*window));
      const std::optional<uint32_t> hart = BusyHart(status);
      if (!hart.has_value() || ++count > kNamedWorkers) continue;
      const abi::HartStatus& own = status[*hart];
      text +=
          fmt::format("{}({},{}) {} {}, program {}", count == 1 ? ": " : "; ", worker % columns,
                      worker / columns, HartName(*hart),
                      own.state == abi::kHartFaulted ? "stopped on a fault: " + DescribeFault(own)
                                                     : "at " + WaypointName(own.waypoint),
                      status[hw::kBrisc].command);
    }
    if (count == 0) {
      text = ", though none is at work: an answer was lost, or the go was never sent";
      if (go_waits_) text += " (dispatch_s waits for the dispatcher's NOTIFY)";
    }
    if (count > kNamedWorkers) text += fmt::format("; and {} more", count - kNamedWorkers);
    return text;
  }

  Status Dispatcher(const abi::HartStatus& status) {
    if (status.waypoint == abi::kWaypointCompletion) {
      ASSIGN_OR_RETURN(
          const uint32_t read,
          ReadWord(*dispatch_window_,
                   abi::kControlBlockAddress + offsetof(abi::ControlBlock, completion_pages_read)));
      Say(StalledStage::kDispatcher,
          fmt::format(
              "the dispatcher waits for room in the completion queue: the host has given back "
              "{} pages",
              read));
    } else if (status.waypoint == abi::kWaypointWait) {
      report_.waits_for_queue = true;
      Say(StalledStage::kDispatcher,
          fmt::format("the dispatcher waits for an event of another hardware queue: number {}",
                      status.wait_count));
    } else {
      Say(StalledStage::kDispatcher, fmt::format("the dispatcher is in command {}: {}",
                                                 status.command, WaypointMeaning(status.waypoint)));
    }
    return OkStatus();
  }

  Status Prefetcher(const abi::HartStatus& status) {
    if (status.waypoint == abi::kWaypointFetch) {
      if (host_.entries_announced == host_.entries_taken && !host_.owed) {
        Say(StalledStage::kNone, "nothing is outstanding");
      } else {
        Say(StalledStage::kHost,
            fmt::format(
                "the prefetcher is idle and so is everything behind it; it took {} of the {} "
                "entries the host announced",
                host_.entries_taken, host_.entries_announced));
      }
    } else if (status.waypoint == abi::kWaypointStall) {
      ASSIGN_OR_RETURN(const uint32_t sync,
                       ReadWord(*prefetch_window_,
                                abi::kControlBlockAddress + offsetof(abi::ControlBlock, sync)));
      Say(StalledStage::kPrefetcher,
          fmt::format(
              "the prefetcher is stalled until the dispatcher has notified it {} times; it has "
              "{} times, and the dispatcher has nothing to do",
              status.wait_count, sync));
    } else {
      Say(StalledStage::kPrefetcher, fmt::format("the prefetcher is in command {}: {}",
                                                 status.command, WaypointMeaning(status.waypoint)));
    }
    return OkStatus();
  }

  Device& device_;
  const BootPlan& plan_;
  const HostView& host_;
  std::unique_ptr<Window> prefetch_window_;
  std::unique_ptr<Window> dispatch_window_;
  bool go_waits_ = false;  // dispatch_s has one and may not send it yet
  StallReport report_;
};

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

StallReport DiagnoseQueue(Device& device, const BootPlan& plan, const HostView& host) {
  return Diagnosis(device, plan, host).Run();
}

StatusOr<uint64_t> ProgressFingerprint(Device& device, const BootPlan& plan) {
  // FNV-1a over the words.
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const hw::Coordinate tile : {plan.prefetch_tile, plan.dispatch_tile}) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Window> window, device.OpenWindow(UnicastTarget(tile)));
    ASSIGN_OR_RETURN(const TileStatus status, ReadTileStatus(*window));
    for (const uint32_t hart : {hw::kBrisc, hw::kNcrisc}) {
      add(status[hart].progress);
      add(status[hart].waypoint);
      add(status[hart].wait_count);
    }
    if (tile != plan.dispatch_tile) continue;
    for (uint32_t stream = 0; stream < abi::kMaxSubDevices; ++stream) {
      ASSIGN_OR_RETURN(const uint32_t count,
                       ReadWord(*window, hw::StreamRegister(plan.block.first_worker_stream + stream,
                                                            hw::kStreamSpaceAvailable)));
      add(count);
    }
  }
  return hash;
}

}  // namespace ttfd
