// The path from reset to "ready".
#include "runtime/boot/boot.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/abi/hart_status.h"
#include "runtime/abi/l1_map.h"
#include "runtime/boot/hart_state.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

// What the host writes into a tile before it releases BRISC.
struct TileLoad {
  abi::Role role = abi::kRoleWorker;
  std::vector<std::pair<uint32_t, ByteSpan>> images;  // hart, bytes
};

struct BootTile {
  hw::Coordinate tile;
  std::string name;  // "worker (0,3)", "dispatch"
};

constexpr uint32_t kBriscOnly = 1u << hw::kBrisc;
constexpr uint32_t kBriscAndNcrisc = kBriscOnly | 1u << hw::kNcrisc;
constexpr uint32_t kEveryHart = (1u << hw::kHarts) - 1;

uint32_t SoftResetRunning(uint32_t harts) {
  uint32_t held = hw::kSoftResetAllHarts;
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    if ((harts & 1u << hart) != 0) held &= ~hw::SoftResetBit(hart);
  }
  return held;
}

class Bootstrap {
 public:
  Bootstrap(Device& device, Clock& clock, std::span<const BootPlan> plans,
            const FirmwareSet& firmware, const BootOptions& options)
      : device_(device), clock_(clock), plans_(plans), firmware_(firmware), options_(options) {}

  Status Run() {
    RETURN_IF_ERROR(device_.Reset());
    RETURN_IF_ERROR(BootWorkers(plans_.front()));
    for (const BootPlan& plan : plans_) RETURN_IF_ERROR(BootQueue(plan));
    return OkStatus();
  }

 private:
  Status BootWorkers(const BootPlan& plan) {
    WindowTarget everyone;
    everyone.start = plan.worker_start;
    everyone.end = plan.worker_end;
    everyone.multicast = true;
    ASSIGN_OR_RETURN(const std::unique_ptr<Window> window, device_.OpenWindow(everyone));
    TileLoad load;
    std::vector<BootTile> tiles;
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      load.images.emplace_back(hart, firmware_.worker[hart]);
    }
    RETURN_IF_ERROR(Load(plan, *window, load, 0));
    const auto columns = static_cast<uint32_t>(plan.worker_columns.size());
    for (uint32_t worker = 0; worker < plan.worker_count(); ++worker) {
      const hw::Coordinate tile = plan.WorkerTile(worker);
      // The one word that differs from tile to tile.
      ASSIGN_OR_RETURN(const std::unique_ptr<Window> own, device_.OpenWindow(UnicastTarget(tile)));
      RETURN_IF_ERROR(WriteWord(*own, abi::kBootBlockAddress + offsetof(abi::BootBlock, own_xy),
                                hw::NocXy(tile.x, tile.y)));
      tiles.push_back({tile, fmt::format("worker ({},{})", worker % columns, worker / columns)});
    }
    return Release(*window, tiles, kEveryHart);
  }

  // The dispatcher before the prefetcher, which sends to it; both behind the workers.
  Status BootQueue(const BootPlan& plan) {
    const uint32_t queue = plan.block.hardware_queue;
    const std::vector<std::pair<uint32_t, ByteSpan>> dispatch = {
        {hw::kBrisc, firmware_.dispatch}, {hw::kNcrisc, firmware_.dispatch_s}};
    RETURN_IF_ERROR(BootDispatchTile(plan, {plan.dispatch_tile, DispatchTileName(queue)},
                                     {abi::kRoleDispatch, dispatch}, kBriscAndNcrisc));
    return BootDispatchTile(plan, {plan.prefetch_tile, PrefetchTileName(queue)},
                            {abi::kRolePrefetch, {{hw::kBrisc, firmware_.prefetch}}}, kBriscOnly);
  }

  Status BootDispatchTile(const BootPlan& plan, const BootTile& tile, const TileLoad& load,
                          uint32_t harts) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Window> window,
                     device_.OpenWindow(UnicastTarget(tile.tile)));
    RETURN_IF_ERROR(Load(plan, *window, load, hw::NocXy(tile.tile.x, tile.tile.y)));
    if (load.role == abi::kRolePrefetch) {
      // An empty slot is a zero slot.
      const std::vector<std::byte> empty(plan.block.fetch_queue_entries * sizeof(uint16_t));
      RETURN_IF_ERROR(window->Write(plan.block.fetch_queue_address, empty));
    }
    return Release(*window, std::span(&tile, 1), harts);
  }

  Status Load(const BootPlan& plan, Window& window, const TileLoad& load, uint32_t own_xy) {
    RETURN_IF_ERROR(WriteWord(window, hw::kSoftReset0, hw::kSoftResetAllHarts));
    const std::vector<std::byte> zeros(abi::kFirmwareAddress[hw::kBrisc]);
    RETURN_IF_ERROR(window.Write(0, zeros));
    for (const auto& [hart, image] : load.images) {
      RETURN_IF_ERROR(window.Write(abi::kFirmwareAddress[hart], image));
    }
    abi::BootBlock block = plan.block;
    block.role = load.role;
    block.own_xy = own_xy;
    block.boot_nonce = options_.nonce;
    RETURN_IF_ERROR(window.Write(abi::kBootBlockAddress, BytesOf(block)));
    RETURN_IF_ERROR(window.Write(abi::kBankTableAddress, BytesOf(plan.banks)));
    // BRISC always starts at address 0, on dispatch tiles too.
    return WriteWord(window, 0, hw::JumpToFirmware(abi::kFirmwareAddress[hw::kBrisc]));
  }

  // BRISC alone first; the others when it is ready.
  Status Release(Window& window, std::span<const BootTile> tiles, uint32_t harts) {
    RETURN_IF_ERROR(WriteWord(window, hw::kSoftReset0, SoftResetRunning(kBriscOnly)));
    RETURN_IF_ERROR(AwaitReady(tiles, kBriscOnly));
    if (harts == kBriscOnly) return OkStatus();
    RETURN_IF_ERROR(WriteWord(window, hw::kNcriscResetPc, abi::kFirmwareAddress[hw::kNcrisc]));
    RETURN_IF_ERROR(WriteWord(window, hw::kNcriscResetPcOverride, 1));
    if (harts == kEveryHart) {
      for (uint32_t i = 0; i < 3; ++i) {
        RETURN_IF_ERROR(
            WriteWord(window, hw::kTriscResetPc + 4 * i, abi::kFirmwareAddress[hw::kTrisc0 + i]));
      }
      RETURN_IF_ERROR(WriteWord(window, hw::kTriscResetPcOverride, 0b111));
    }
    RETURN_IF_ERROR(WriteWord(window, hw::kSoftReset0, SoftResetRunning(harts)));
    return AwaitReady(tiles, harts);
  }

  Status AwaitReady(std::span<const BootTile> tiles, uint32_t harts) {
    const TimePoint deadline = clock_.Now() + options_.timeout;
    size_t ready = 0;
    bool quiescent = false;
    for (;;) {
      uint32_t missing = 0;
      TileStatus status{};
      while (ready < tiles.size()) {
        ASSIGN_OR_RETURN(const std::unique_ptr<Window> window,
                         device_.OpenWindow(UnicastTarget(tiles[ready].tile)));
        ASSIGN_OR_RETURN(status, ReadTileStatus(*window));
        ASSIGN_OR_RETURN(missing, MissingHarts(tiles[ready], status, harts));
        if (missing != 0) break;
        ++ready;
      }
      if (ready == tiles.size()) return OkStatus();
      if (quiescent) return NotReady(tiles[ready], status, missing, "and nothing moves any more");
      if (clock_.Now() >= deadline) {
        return NotReady(
            tiles[ready], status, missing,
            fmt::format(
                "after {} ms",
                std::chrono::duration_cast<std::chrono::milliseconds>(options_.timeout).count()));
      }
      const Status may_wait = options_.may_wait ? options_.may_wait() : OkStatus();
      const StatusOr<AdvanceResult> advanced =
          may_wait.ok() ? device_.Advance(options_.advance_clocks) : may_wait;
      if (!advanced.ok()) {
        return Annotate(advanced.status(), fmt::format("boot, waiting for {}", tiles[ready].name));
      }
      quiescent = advanced->quiescent;
    }
  }

  // Harts of `harts` that are not ready yet, as a mask; an error if one never will be.
  StatusOr<uint32_t> MissingHarts(const BootTile& tile, const TileStatus& status, uint32_t harts) {
    uint32_t missing = 0;
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      if ((harts & 1u << hart) == 0) continue;
      const abi::HartStatus& own = status[hart];
      if (own.state == abi::kHartRefused) {
        return Error(StatusCode::kFailedPrecondition,
                     "{} {} refuses to start: its firmware speaks protocol version {:#010x}, this "
                     "host {:#010x}",
                     Place(tile), HartName(hart), own.protocol_version,
                     plans_.front().block.protocol_version);
      }
      if (own.state == abi::kHartFaulted) {
        return Error(StatusCode::kFailedPrecondition, "{} {} refuses to start: {}", Place(tile),
                     HartName(hart), DescribeFault(own));
      }
      if (own.state != abi::kHartReady || own.boot_nonce != options_.nonce) missing |= 1u << hart;
    }
    return missing;
  }

  static std::string Place(const BootTile& tile) {
    return fmt::format("{} at tile ({},{})", tile.name, tile.tile.x, tile.tile.y);
  }

  Status NotReady(const BootTile& tile, const TileStatus& status, uint32_t missing,
                  const std::string& when) {
    uint32_t hart = 0;
    while ((missing & 1u << hart) == 0) ++hart;
    std::string pc;
    const StatusOr<std::unique_ptr<Window>> window = device_.OpenWindow(UnicastTarget(tile.tile));
    if (window.ok()) {
      const uint32_t value = ReadPc(device_, **window, hart);
      if (value != 0) pc = fmt::format(", pc {:#x}", value);
    }
    return Error(StatusCode::kDeadlineExceeded, "{} {} is not ready {}: state {}, waypoint {}{}",
                 Place(tile), HartName(hart), when, HartStateName(status[hart].state),
                 WaypointName(status[hart].waypoint), pc);
  }

  Device& device_;
  Clock& clock_;
  const std::span<const BootPlan> plans_;
  const FirmwareSet& firmware_;
  const BootOptions& options_;
};

}  // namespace

Status BootCard(Device& device, Clock& clock, std::span<const BootPlan> plans,
                const FirmwareSet& firmware, const BootOptions& options) {
  return Bootstrap(device, clock, plans, firmware, options).Run();
}

}  // namespace ttfd
