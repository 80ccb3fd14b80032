// Where the pipeline stands, in sentences.
#include "runtime/card/pipeline_report.h"

#include <string>
#include <utility>

#include "runtime/base/utf8.h"
#include "runtime/boot/hart_state.h"
#include "runtime/hw/stream.h"

namespace ttfd {
namespace {

class Reporter {
 public:
  Reporter(const CardSnapshot& card, const CodeMap& code) : card_(card), code_(code) {}

  std::vector<HartReport> Run() {
    for (uint32_t number = 0; number < card_.queues.size(); ++number) {
      const QueueSnapshot& queue = card_.queues[number];
      Add(queue.prefetch, abi::kRolePrefetch, hw::kBrisc, PrefetchTileName(number), &queue);
      Add(queue.dispatch, abi::kRoleDispatch, hw::kBrisc, DispatchTileName(number), &queue);
      Add(queue.dispatch, abi::kRoleDispatch, hw::kNcrisc, DispatchTileName(number) + "_s", &queue);
    }
    for (size_t worker = 0; worker < card_.workers.size(); ++worker) Worker(worker);
    return std::move(reports_);
  }

 private:
  // A worker whose BRISC waits for a go is idle, unless another of its harts says otherwise.
  void Worker(size_t worker) {
    const TileSnapshot& tile = card_.workers[worker];
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      const abi::HartStatus& own = tile.status[hart];
      const bool idle = own.state == abi::kHartReady && own.waypoint == abi::kWaypointGo;
      if (idle && !Faulted(tile.tile, hart)) continue;
      const std::string name =
          fmt::format("worker ({},{}) tile", worker % card_.columns, worker / card_.columns);
      Add(tile, abi::kRoleWorker, hart, name, nullptr);
      reports_.back().worker = static_cast<int32_t>(worker);
      reports_.back().core = {static_cast<uint32_t>(worker) % card_.columns,
                              static_cast<uint32_t>(worker) / card_.columns};
    }
  }

  // `queue`: whose tile it is; null: a worker.
  void Add(const TileSnapshot& tile, abi::Role role, uint32_t hart, const std::string& name,
           const QueueSnapshot* queue) {
    const abi::HartStatus& own = tile.status[hart];
    HartReport& report = reports_.emplace_back();
    report.where = fmt::format("{} ({},{}) {}", name, tile.tile.x, tile.tile.y, HartName(hart));
    report.tile = tile.tile;
    report.hart = hart;
    report.state = own.state;
    report.waypoint = IsOverwritten(own) ? "none" : WaypointName(own.waypoint);
    report.progress = own.progress;
    report.faulted = Faulted(tile.tile, hart) || own.state == abi::kHartFaulted;
    report.pc = PcOf(tile, hart);
    report.text = Sentence(own, queue);
    report.doing = Doing(tile, hart);
    report.engine_wait = tile.waits[hart];
    if (report.engine_wait.has_value()) {
      report.text += fmt::format("; waits at {}: {}", report.engine_wait->instruction,
                                 report.engine_wait->condition);
    }
    if (role == abi::kRoleWorker && own.state == abi::kHartFaulted) {
      report.text += EngineKernels(own);
    }
    if (role == abi::kRoleWorker)
      report.program = ProgramOf(tile.status[hw::kBrisc]);  // BRISC starts the others
    if (report.program != 0) report.text += fmt::format(", program {}", report.program);
    Locate(role, &report);
    if (role == abi::kRoleWorker) AddNote(own, &report);
  }

  // ", task 777 'rmsnorm'": with the kernel that the hart is in.
  static void AddNote(const abi::HartStatus& own, HartReport* report) {
    report->note = NoteText(own);
    if (report->note.empty()) return;
    report->text += fmt::format(", {}", report->note);
    if (report->code.image == CodePlace::Image::kKernel) {
      report->text += fmt::format(" '{}'", Printable(report->code.name));
    }
  }

  // Where the hart is; of a check that stopped it, where the kernel is that did not pass.
  static uint32_t PcOf(const TileSnapshot& tile, uint32_t hart) {
    const abi::HartStatus& own = tile.status[hart];
    if (own.state != abi::kHartFaulted) return tile.pc[hart];
    if (own.fault_code == abi::kFaultNotGiven || own.fault_code == abi::kFaultLinkNotConnected)
      return own.fault_detail[2] - 4;
    if (own.fault_code == abi::kFaultStackOverflow) return own.fault_detail[0];
    if (own.fault_code == abi::kFaultEngineInUse) {
      for (uint32_t trisc = hw::kTrisc0; trisc < hw::kHarts; ++trisc) {
        if (const uint32_t image = EngineFaultImage(own, trisc); image != 0) return image;
      }
    }
    return tile.pc[hart];
  }

  std::string Doing(const TileSnapshot& tile, uint32_t hart) const {
    const abi::HartStatus& own = tile.status[hart];
    if (Faulted(tile.tile, hart)) return card_.fault->what;
    if (IsOverwritten(own)) return "";
    if (own.state == abi::kHartFaulted) return BriefFault(own);
    if (const auto& wait = tile.waits[hart]) {
      return "waiting in " + wait->instruction.substr(0, wait->instruction.find(' '));
    }
    const std::string_view awaited = AwaitedAt(own.waypoint);
    return awaited.empty() ? "" : fmt::format("waiting for {}", awaited);
  }

  bool Faulted(hw::Coordinate tile, uint32_t hart) const {
    return card_.fault.has_value() && card_.fault->tile == tile && card_.fault->hart == hart;
  }

  void Locate(abi::Role role, HartReport* report) const {
    if (report->pc == 0 && !report->faulted) return;
    report->code = code_.Find(role, report->hart, report->pc, report->program);
    if (!Faulted(report->tile, report->hart)) return;
    // The call lies before the place it would return to.
    const uint32_t from = card_.fault->return_address;
    if (from >= 4) report->caller = code_.Find(role, report->hart, from - 4, report->program);
  }

  // "; by kernel 'unpack' on TRISC0, kernel 'math' on TRISC1", of a fault that several kernels together may have made.
  std::string EngineKernels(const abi::HartStatus& own) const {
    if (own.fault_code != abi::kFaultEngineInUse) return "";
    std::string text;
    for (uint32_t hart = hw::kTrisc0; hart < hw::kHarts; ++hart) {
      const uint32_t image = EngineFaultImage(own, hart);
      if (image == 0) continue;
      const CodePlace place = code_.Find(abi::kRoleWorker, hart, image, own.command);
      text +=
          fmt::format("{} {} on {}", text.empty() ? "; by" : ",", ImageText(place), HartName(hart));
    }
    return text;
  }

  std::string Sentence(const abi::HartStatus& own, const QueueSnapshot* queue) const {
    if (IsOverwritten(own)) return "shows nothing: its status was overwritten";
    if (own.state == abi::kHartFaulted) {
      return fmt::format("stopped on a fault: {}", DescribeFault(own));
    }
    if (own.state != abi::kHartReady) return fmt::format("is {}", HartStateName(own.state));
    const uint32_t stream = own.wait_stream - abi::kFirstWorkerStream;
    const bool waits_for_workers =
        (own.waypoint == abi::kWaypointWorkers || own.waypoint == abi::kWaypointWait) &&
        stream < abi::kMaxSubDevices;
    if (waits_for_workers && queue != nullptr) {
      const uint32_t has = queue->streams[stream];
      const uint32_t target = own.wait_count & hw::kStreamCounterMask;
      return fmt::format("waits for workers on stream {}: count {}, has {}, {} of {} missing",
                         own.wait_stream, target, has, (target - has) & hw::kStreamCounterMask,
                         card_.workers.size());
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

  const CardSnapshot& card_;
  const CodeMap& code_;
  std::vector<HartReport> reports_;
};

}  // namespace

std::vector<HartReport> ReportPipeline(const CardSnapshot& card, const CodeMap& code) {
  std::vector<HartReport> reports = Reporter(card, code).Run();
  if (!card.unreadable.ok()) {
    HartReport unreadable;
    unreadable.where = "card";
    unreadable.waypoint = "none";
    unreadable.text = fmt::format("cannot be read: {}", StatusMessage(card.unreadable));
    reports.push_back(std::move(unreadable));
  }
  return reports;
}

}  // namespace ttfd
