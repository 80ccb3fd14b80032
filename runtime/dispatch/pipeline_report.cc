// Where the pipeline stands, in sentences.
#include "runtime/dispatch/pipeline_report.h"

#include <memory>
#include <string>

#include "runtime/boot/hart_state.h"
#include "runtime/hw/stream.h"

namespace ttfd {
namespace {

class Reporter {
 public:
  Reporter(Device& device, std::span<const BootPlan> plans, const CodeMap& code)
      : device_(device), plans_(plans), code_(code), fault_(device.fault()) {}

  Status Run(std::vector<HartReport>& reports) {
    for (const BootPlan& plan : plans_) {
      const uint32_t queue = plan.block.hardware_queue;
      RETURN_IF_ERROR(
          Tile(plan.prefetch_tile, abi::kRolePrefetch, {PrefetchTileName(queue), ""}, reports));
      RETURN_IF_ERROR(Tile(plan.dispatch_tile, abi::kRoleDispatch,
                           {DispatchTileName(queue), DispatchTileName(queue) + "_s"}, reports));
    }
    const BootPlan& plan = plans_.front();
    const auto columns = static_cast<uint32_t>(plan.worker_columns.size());
    for (uint32_t worker = 0; worker < plan.worker_count(); ++worker) {
      RETURN_IF_ERROR(Worker(plan.WorkerTile(worker), worker, columns, reports));
    }
    return OkStatus();
  }

 private:
  struct DispatchNames {
    std::string brisc;
    std::string ncrisc;  // empty: held in reset
  };

  Status Tile(hw::Coordinate tile, abi::Role role, const DispatchNames& names,
              std::vector<HartReport>& reports) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Window> window, device_.OpenWindow(UnicastTarget(tile)));
    ASSIGN_OR_RETURN(const TileStatus status, ReadTileStatus(*window));
    ASSIGN_OR_RETURN(HartReport brisc, Hart(*window, names.brisc, tile, hw::kBrisc, status));
    Locate(role, &brisc);
    reports.push_back(std::move(brisc));
    if (names.ncrisc.empty()) return OkStatus();
    ASSIGN_OR_RETURN(HartReport ncrisc, Hart(*window, names.ncrisc, tile, hw::kNcrisc, status));
    Locate(role, &ncrisc);
    reports.push_back(std::move(ncrisc));
    return OkStatus();
  }

  // A worker whose BRISC waits for a go is idle, unless another of its harts says otherwise.
  Status Worker(hw::Coordinate tile, uint32_t worker, uint32_t columns,
                std::vector<HartReport>& reports) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Window> window, device_.OpenWindow(UnicastTarget(tile)));
    ASSIGN_OR_RETURN(const TileStatus status, ReadTileStatus(*window));
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      const abi::HartStatus& own = status[hart];
      const bool idle = own.state == abi::kHartReady && own.waypoint == abi::kWaypointGo;
      if (idle && !Faulted(tile, hart)) continue;
      const std::string name =
          fmt::format("worker ({},{}) tile", worker % columns, worker / columns);
      ASSIGN_OR_RETURN(HartReport report, Hart(*window, name, tile, hart, status));
      report.worker = static_cast<int32_t>(worker);
      report.program = status[hw::kBrisc].command;  // BRISC starts the others
      if (report.program != 0) report.text += fmt::format(", program {}", report.program);
      Locate(abi::kRoleWorker, &report);
      reports.push_back(std::move(report));
    }
    return OkStatus();
  }

  StatusOr<HartReport> Hart(Window& window, const std::string& name, hw::Coordinate tile,
                            uint32_t hart, const TileStatus& status) {
    const abi::HartStatus& own = status[hart];
    HartReport report;
    report.where = fmt::format("{} ({},{}) {}", name, tile.x, tile.y, HartName(hart));
    report.tile = tile;
    report.hart = hart;
    report.state = own.state;
    report.waypoint = WaypointName(own.waypoint);
    report.progress = own.progress;
    const bool faulted = Faulted(tile, hart);
    report.faulted = faulted || own.state == abi::kHartFaulted;
    report.pc = faulted ? fault_->pc : ReadPc(device_, window, hart);
    ASSIGN_OR_RETURN(report.text, Sentence(window, own));
    return report;
  }

  bool Faulted(hw::Coordinate tile, uint32_t hart) const {
    return fault_.has_value() && fault_->tile == tile && fault_->hart == hart;
  }

  void Locate(abi::Role role, HartReport* report) const {
    if (report->pc == 0 && !report->faulted) return;
    report->code = code_.Find(role, report->hart, report->pc, report->program);
    if (!Faulted(report->tile, report->hart)) return;
    // The call lies before the place it would return to.
    const uint32_t from = fault_->return_address;
    if (from >= 4) report->caller = code_.Find(role, report->hart, from - 4, report->program);
  }

  StatusOr<std::string> Sentence(Window& window, const abi::HartStatus& own) const {
    if (own.state == abi::kHartFaulted) {
      return fmt::format("stopped on a fault: {}", DescribeFault(own));
    }
    if (own.state != abi::kHartReady) return fmt::format("is {}", HartStateName(own.state));
    const bool waits_for_workers =
        own.waypoint == abi::kWaypointWorkers ||
        (own.waypoint == abi::kWaypointWait && own.wait_stream >= abi::kFirstWorkerStream &&
         own.wait_stream < hw::kStreams);
    if (waits_for_workers && own.wait_stream < hw::kStreams) {
      ASSIGN_OR_RETURN(
          const uint32_t has,
          ReadWord(window, hw::StreamRegister(own.wait_stream, hw::kStreamSpaceAvailable)));
      const uint32_t target = own.wait_count & hw::kStreamCounterMask;
      return fmt::format("waits for workers on stream {}: count {}, has {}, {} of {} missing",
                         own.wait_stream, target, has, (target - has) & hw::kStreamCounterMask,
                         plans_.front().worker_count());
    }
    if (own.waypoint == abi::kWaypointStall) {
      return fmt::format("waits for the dispatcher to pass WAIT number {}", own.wait_count);
    }
    const std::string_view meaning = WaypointMeaning(own.waypoint);
    if (meaning.empty()) return fmt::format("is at an unknown waypoint");
    if (own.waypoint == abi::kWaypointRun) {
      return fmt::format("{}: {}", meaning, own.command);
    }
    return std::string(meaning);
  }

  Device& device_;
  const std::span<const BootPlan> plans_;
  const CodeMap& code_;
  const std::optional<DeviceFault> fault_;
};

}  // namespace

std::vector<TileCount> CountTiles(Device& device, const BootPlan& plan) {
  std::vector<TileCount> counts;
  for (uint32_t worker = 0; worker < plan.worker_count(); ++worker) {
    const auto window = device.OpenWindow(UnicastTarget(plan.WorkerTile(worker)));
    if (!window.ok()) break;
    const StatusOr<TileStatus> status = ReadTileStatus(**window);
    if (!status.ok()) break;
    const abi::HartStatus& brisc = (*status)[hw::kBrisc];
    counts.push_back({worker, brisc.progress, brisc.command, WaypointName(brisc.waypoint)});
  }
  return counts;
}

std::vector<HartReport> ReportPipeline(Device& device, std::span<const BootPlan> plans,
                                       const CodeMap& code) {
  std::vector<HartReport> reports;
  const Status status = Reporter(device, plans, code).Run(reports);
  if (!status.ok()) {
    HartReport unreadable;
    unreadable.where = "card";
    unreadable.waypoint = "none";
    unreadable.text = fmt::format("cannot be read: {}", StatusMessage(status));
    reports.push_back(std::move(unreadable));
  }
  return reports;
}

}  // namespace ttfd
