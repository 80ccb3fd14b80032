// The path from reset to "ready".
#include "runtime/boot/boot.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/abi/boot_block.h"
#include "runtime/abi/hart_status.h"
#include "runtime/abi/host_queue.h"
#include "runtime/abi/l1_map.h"
#include "runtime/boot/hart_state.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

// Data that the host writes into a tile before it releases BRISC.
struct TileLoad {
  abi::Role role = abi::kRoleWorker;
  std::vector<std::pair<uint32_t, ByteSpan>> images;  // hart, bytes
};

struct BootTile {
  hw::Coordinate tile;
  std::string name;  // "worker (0,3)", "dispatch"
  std::unique_ptr<Window> window;
};

constexpr uint32_t kNonceAddress = abi::kBootBlockAddress + offsetof(abi::BootBlock, boot_nonce);
constexpr uint32_t kOwnXyAddress = abi::kBootBlockAddress + offsetof(abi::BootBlock, own_xy);

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
            const FirmwareSet& firmware, const BootOptions& options, Tick tick)
      : device_(device),
        clock_(clock),
        plans_(plans),
        firmware_(firmware),
        options_(options),
        tick_(tick) {}

  Status Run() {
    std::vector<hw::Coordinate> tiles;  // that access host memory
    for (const BootPlan& plan : plans_) {
      tiles.insert(tiles.end(), {plan.prefetch_tile, plan.dispatch_tile});
    }
    RETURN_IF_ERROR(device_.HoldOnExit(tiles));
    RETURN_IF_ERROR(BootWorkers(plans_.front()));
    for (const BootPlan& plan : plans_) RETURN_IF_ERROR(BootQueue(plan));
    return OkStatus();
  }

 private:
  // Multicasts keep their order among each other, but not against the writes to a single tile. So what one kind writes
  // has arrived before the other kind writes next: the nonce shows it of multicasts, the tile's own word by itself.
  Status BootWorkers(const BootPlan& plan) {
    WindowTarget everyone;
    everyone.start = plan.worker_start;
    everyone.end = plan.worker_end;
    everyone.multicast = true;
    ASSIGN_OR_RETURN(const std::unique_ptr<Window> window, device_.OpenWindow(everyone));
    TileLoad load;
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      load.images.emplace_back(hart, firmware_.worker[hart]);
    }
    std::vector<BootTile> tiles;
    const auto columns = static_cast<uint32_t>(plan.worker_columns.size());
    for (uint32_t worker = 0; worker < plan.worker_count(); ++worker) {
      ASSIGN_OR_RETURN(BootTile tile,
                       Open(plan.WorkerTile(worker),
                            fmt::format("worker ({},{})", worker % columns, worker / columns)));
      tiles.push_back(std::move(tile));
    }
    RETURN_IF_ERROR(Load(plan, *window, tiles, load, 0));
    std::vector<uint32_t> own_xy;
    for (const BootTile& tile : tiles) {
      own_xy.push_back(hw::NocXy(tile.tile.x, tile.tile.y));
      RETURN_IF_ERROR(WriteWord(*tile.window, kOwnXyAddress, own_xy.back()));
    }
    RETURN_IF_ERROR(AwaitWords(tiles, kOwnXyAddress, own_xy));
    return Release(*window, tiles, kEveryHart);
  }

  // The dispatcher before the prefetcher, which sends to it; both behind the workers.
  Status BootQueue(const BootPlan& plan) {
    const uint32_t queue = plan.block.hardware_queue;
    const std::vector<std::pair<uint32_t, ByteSpan>> dispatch = {
        {hw::kBrisc, firmware_.dispatch}, {hw::kNcrisc, firmware_.dispatch_s}};
    ASSIGN_OR_RETURN(const BootTile dispatch_tile,
                     Open(plan.dispatch_tile, DispatchTileName(queue)));
    RETURN_IF_ERROR(
        BootDispatchTile(plan, dispatch_tile, {abi::kRoleDispatch, dispatch}, kBriscAndNcrisc));
    ASSIGN_OR_RETURN(const BootTile prefetch_tile,
                     Open(plan.prefetch_tile, PrefetchTileName(queue)));
    return BootDispatchTile(plan, prefetch_tile,
                            {abi::kRolePrefetch, {{hw::kBrisc, firmware_.prefetch}}}, kBriscOnly);
  }

  StatusOr<BootTile> Open(hw::Coordinate tile, std::string name) {
    ASSIGN_OR_RETURN(std::unique_ptr<Window> window, device_.OpenWindow(UnicastTarget(tile)));
    return BootTile{tile, std::move(name), std::move(window)};
  }

  Status BootDispatchTile(const BootPlan& plan, const BootTile& tile, const TileLoad& load,
                          uint32_t harts) {
    Window& window = *tile.window;
    RETURN_IF_ERROR(
        Load(plan, window, std::span(&tile, 1), load, hw::NocXy(tile.tile.x, tile.tile.y)));
    return Release(window, std::span(&tile, 1), harts);
  }

  // Through `window`, which shows all of `tiles`. Everything has arrived when it returns.
  Status Load(const BootPlan& plan, Window& window, std::span<const BootTile> tiles,
              const TileLoad& load, uint32_t own_xy) {
    RETURN_IF_ERROR(RemoveNonce(tiles));
    const std::vector<std::byte> zeros(abi::kFirmwareAddress[hw::kBrisc]);
    RETURN_IF_ERROR(window.Write(0, zeros));
    if (load.role == abi::kRolePrefetch) {
      // An empty slot is a zero slot. The hart that reads them is held.
      const std::vector<std::byte> empty(plan.block.fetch_queue_entries * sizeof(uint16_t));
      RETURN_IF_ERROR(window.Write(plan.block.fetch_queue_address, empty));
      // Pointers and counts of the boot before.
      const std::vector<std::byte> head(abi::kIssueRingOffset);
      if (plan.host_queue_address != 0) {
        RETURN_IF_ERROR(window.Write(plan.host_queue_address, head));
      }
    }
    for (const auto& [hart, image] : load.images) {
      RETURN_IF_ERROR(window.Write(abi::kFirmwareAddress[hart], image));
    }
    abi::BootBlock block = plan.block;
    block.role = load.role;
    block.own_xy = own_xy;
    block.boot_nonce = 0;
    RETURN_IF_ERROR(window.Write(abi::kBootBlockAddress, BytesOf(block)));
    RETURN_IF_ERROR(window.Write(abi::kBankTableAddress, BytesOf(plan.banks)));
    // BRISC always starts at address 0, on dispatch tiles too.
    RETURN_IF_ERROR(WriteWord(window, 0, hw::JumpToFirmware(abi::kFirmwareAddress[hw::kBrisc])));
    RETURN_IF_ERROR(WriteWord(window, kNonceAddress, options_.nonce));
    return AwaitWords(tiles, kNonceAddress, std::vector(tiles.size(), options_.nonce));
  }

  // Holds the harts. A nonce that is there already may be the same, left by another process: it is overwritten by
  // something else than what is there, and than the nonce.
  Status RemoveNonce(std::span<const BootTile> tiles) {
    std::vector<uint32_t> words;
    for (const BootTile& tile : tiles) {
      RETURN_IF_ERROR(WriteWord(*tile.window, hw::kSoftReset0, hw::kSoftResetAllHarts));
      ASSIGN_OR_RETURN(const uint32_t found, ReadWord(*tile.window, kNonceAddress));
      words.push_back(found + 1 == options_.nonce ? found + 2 : found + 1);
      RETURN_IF_ERROR(WriteWord(*tile.window, kNonceAddress, words.back()));
    }
    return AwaitWords(tiles, kNonceAddress, words);
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
    TileStatus status{};
    uint32_t missing = 0;
    return Await(
        tiles,
        [&](size_t i) -> StatusOr<bool> {
          ASSIGN_OR_RETURN(status, ReadTileStatus(*tiles[i].window));
          ASSIGN_OR_RETURN(missing, MissingHarts(tiles[i], status, harts));
          return missing == 0;
        },
        [&](size_t i, const std::string& when) {
          return NotReady(tiles[i], status, missing, when);
        });
  }

  // Waits until `words`, which the host wrote to an address of each tile, have arrived.
  Status AwaitWords(std::span<const BootTile> tiles, uint32_t address,
                    std::span<const uint32_t> words) {
    uint32_t found = 0;
    return Await(
        tiles,
        [&](size_t i) -> StatusOr<bool> {
          ASSIGN_OR_RETURN(found, ReadWord(*tiles[i].window, address));
          return found == words[i];
        },
        [&](size_t i, const std::string& when) {
          return Error(StatusCode::kDeadlineExceeded,
                       "{} does not hold what the host wrote {}: {:#x} at {:#x}, {:#x} was written",
                       Place(tiles[i]), when, found, address, words[i]);
        });
  }

  // Lets device time pass until `done` is true of every tile, one after the other. `late` makes the error of the first
  // tile of which it is not.
  Status Await(std::span<const BootTile> tiles, const std::function<StatusOr<bool>(size_t)>& done,
               const std::function<Status(size_t, const std::string& when)>& late) {
    const TimePoint deadline = clock_.Now() + options_.timeout;
    size_t first = 0;  // of those that are not done
    const auto all_done = [&]() -> StatusOr<bool> {
      for (; first < tiles.size(); ++first) {
        ASSIGN_OR_RETURN(const bool is_done, done(first));
        if (!is_done) return false;
      }
      return true;
    };
    const auto step = [&]() -> StatusOr<bool> {
      const StatusOr<AdvanceResult> advanced = device_.Advance(options_.advance_clocks);
      if (advanced.ok()) return !advanced->quiescent;
      return Annotate(advanced.status(), fmt::format("boot, waiting for {}", tiles[first].name));
    };
    const auto tick = [&] {
      return Annotate(tick_(), fmt::format("boot, waiting for {}", tiles[first].name));
    };
    ASSIGN_OR_RETURN(const Waited waited,
                     WaitUntil(
                         all_done, step, [&] { return clock_.Now() >= deadline; }, tick,
                         Pacing(device_.info(), clock_)));
    if (waited == Waited::kDone) return OkStatus();
    if (waited == Waited::kQuiescent) return late(first, "and nothing moves any more");
    return late(
        first,
        fmt::format(
            "after {} ms",
            std::chrono::duration_cast<std::chrono::milliseconds>(options_.timeout).count()));
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
    const uint32_t value = ReadPc(device_, *tile.window, hart);
    if (value != 0) pc = fmt::format(", pc {:#x}", value);
    return Error(StatusCode::kDeadlineExceeded, "{} {} is not ready {}: state {}, waypoint {}{}",
                 Place(tile), HartName(hart), when, HartStateName(status[hart].state),
                 WaypointName(status[hart].waypoint), pc);
  }

  Device& device_;
  Clock& clock_;
  const std::span<const BootPlan> plans_;
  const FirmwareSet& firmware_;
  const BootOptions& options_;
  const Tick tick_;
};

}  // namespace

Status BootCard(Device& device, Clock& clock, std::span<const BootPlan> plans,
                const FirmwareSet& firmware, const BootOptions& options, Tick tick) {
  return Bootstrap(device, clock, plans, firmware, options, tick).Run();
}

}  // namespace ttfd
