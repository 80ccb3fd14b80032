// Puts the parts of a chip together.
#include "runtime/sim/chip.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/sim/arc_tile.h"
#include "runtime/sim/bar0.h"
#include "runtime/sim/bar4.h"
#include "runtime/sim/config_space.h"
#include "runtime/sim/dram.h"
#include "runtime/sim/ethernet_tile.h"
#include "runtime/sim/grid_map.h"
#include "runtime/sim/hart_hazards.h"
#include "runtime/sim/host_memory.h"
#include "runtime/sim/host_path.h"
#include "runtime/sim/inspector.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/noc.h"
#include "runtime/sim/scheduler.h"
#include "runtime/sim/sparse_memory.h"
#include "runtime/sim/tensix/lanes_choice.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {
namespace {

const char* const kNoSuchBar = "BAR0, BAR4 and, 4 aligned bytes at a time, BAR2";

}  // namespace

// Hazards of which every hart has some state.
constexpr uint32_t kHartHazards = kHazardL0Cache | kHazardStores | kHazardICache | kHazardLocalRam;

// The path of the host's accesses.
struct Chip::Bars {
  Bars(Noc& noc, Machine& machine) : path(noc, machine), bar4(path), bar0(path, bar4) {}

  HostPath path;
  Bar4 bar4;
  Bar0 bar0;
};

// The tiles that have memory of their own, and that memory.
struct Chip::Tiles {
  Tiles(const GridMap& grid, SparseMemory mapped)
      : memory(std::move(mapped)),
        tensix(grid.tensix_count()),
        ethernet(grid.ethernet_channels().size()) {}

  static uint64_t BytesOf(const GridMap& grid) {
    return (grid.tensix_count() + grid.ethernet_channels().size()) * TileMemory::kBytes;
  }
  // Calls Init of all tiles.
  void Init(Machine& machine, const GridMap& grid, const ChipOptions& options);

  SparseMemory memory;
  std::vector<TensixTile> tensix;
  std::vector<EthernetTile> ethernet;
};

void Chip::Tiles::Init(Machine& machine, const GridMap& grid, const ChipOptions& options) {
  std::byte* at = memory.data();
  const auto next = [&at] { return TileMemory(std::exchange(at, at + TileMemory::kBytes)); };
  Rng epochs(options.hazards.seed, kRngOfEpochs);
  for (uint32_t i = 0; i < tensix.size(); ++i) {
    if ((options.hazards.on & kHazardHartSpeed) != 0) {
      tensix[i].wall_clock().SetEpoch(epochs.Next() >> 24);
    }
    tensix[i].Init(machine, next(), grid.TensixTranslated(i), grid.TensixPhysical(i));
  }
  const ChipIdentity chip = IdentityOf(options);
  for (uint32_t i = 0; i < ethernet.size(); ++i) {
    ethernet[i].Init(machine, next(), {grid.ethernet_channels()[i], i}, chip);
  }
}

struct Chip::Parts {
  Parts(const ChipOptions& options, SparseMemory memory)
      : machine(MachineWith(options.hazards)),
        grid(options),
        tiles(grid, std::move(memory)),
        arc(options, grid),
        noc(grid, tiles.tensix, tiles.ethernet, dram, arc, host),
        scheduler(machine),
        bars(noc, machine) {
    machine.noc = &noc;
    machine.scheduler = &scheduler;
    machine.stream_chance = Rng(options.hazards.seed, kRngOfStreams);
    if ((options.hazards.on & kHazardNoc) != 0) noc.TakeTime(machine);
    machine.writes_coordinates_back = options.writes_coordinates_back;
    tiles.Init(machine, grid, options);
  }

  Status Refuse(const Refusal& refusal, const char* what) {
    last_refusal = refusal;
    return HostRefusal(refusal, what);
  }

  static Machine MachineWith(const HazardOptions& hazards) {
    Machine machine;
    machine.hazards = hazards;
    machine.careful = hazards.on != 0;
    return machine;
  }

  Status AddHartHazards(const HazardOptions& hazards);

  Machine machine;
  const GridMap grid;
  Tiles tiles;
  Dram dram;
  ArcTile arc;
  HostMemoryMap host;
  Noc noc;
  Scheduler scheduler;
  // With hazards of harts: one for each, and their own tables of decoded instructions.
  SparseMemory own_code;
  std::vector<std::unique_ptr<HartHazards>> hart_hazards;
  Bars bars;
  ConfigSpace config;
  Refusal last_refusal;
  bool hold_faults = false;
};

Status Chip::Parts::AddHartHazards(const HazardOptions& hazards) {
  if ((hazards.on & kHartHazards) == 0) return OkStatus();
  const uint64_t harts = tiles.tensix.size() * hw::kHarts;
  if ((hazards.on & kHazardICache) != 0) {
    ASSIGN_OR_RETURN(own_code, SparseMemory::Map(harts * InstructionCache::kBytes));
  }
  for (uint64_t i = 0; i < harts; ++i) {
    Hart& hart = tiles.tensix[i / hw::kHarts].hart(static_cast<uint32_t>(i % hw::kHarts));
    if (own_code.data() != nullptr) {
      hart.code = reinterpret_cast<Decoded*>(own_code.data() + i * InstructionCache::kBytes);
    }
    Decoded* const cached = own_code.data() != nullptr ? hart.code : nullptr;
    hart_hazards.push_back(std::make_unique<HartHazards>(hart, hazards, i, cached));
    hart.hazards = hart_hazards.back().get();
  }
  return OkStatus();
}

StatusOr<std::unique_ptr<Chip>> Chip::Create(const ChipOptions& options) {
  RETURN_IF_ERROR(Validate(options));
  ASSIGN_OR_RETURN(const tensix::LaneKernels* const lanes, tensix::FindLaneKernels(HostIsa()));
  const GridMap grid(options);
  ASSIGN_OR_RETURN(SparseMemory memory, SparseMemory::Map(Tiles::BytesOf(grid)));
  auto parts = std::make_unique<Parts>(options, std::move(memory));
  parts->machine.lanes = lanes;
  RETURN_IF_ERROR(parts->AddHartHazards(options.hazards));
  return std::unique_ptr<Chip>(new Chip(std::move(parts)));
}

Chip::Chip(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Chip::~Chip() = default;

StatusOr<uint32_t> Chip::ConfigRead(uint32_t offset) {
  uint32_t value = 0;
  const Refusal refusal = offset % 4 == 0 ? parts_->config.Read(offset, &value)
                                          : Refusal{FaultKind::kMisaligned, offset, "words"};
  if (refusal) return parts_->Refuse(refusal, "configuration read");
  return value;
}

Status Chip::ConfigWrite(uint32_t offset, uint32_t value) {
  const Refusal refusal = offset % 4 == 0 ? parts_->config.Write(offset, value)
                                          : Refusal{FaultKind::kMisaligned, offset, "words"};
  return refusal ? parts_->Refuse(refusal, "configuration write") : OkStatus();
}

Status Chip::BarRead(int bar, uint64_t offset, MutableByteSpan to) {
  Refusal refusal;
  if (bar == 0) {
    refusal = parts_->bars.bar0.Read(offset, to);
  } else if (bar == 4) {
    refusal = parts_->bars.bar4.Read(offset, to);
  } else if (bar == 2 && to.size() == 4 && offset % 4 == 0) {
    uint32_t value = 0;
    refusal = parts_->host.ReadTranslation(offset, &value);
    StoreAt(to.data(), value);
  } else {
    refusal = {FaultKind::kRegisterWidth, offset, kNoSuchBar};
  }
  return refusal ? parts_->Refuse(refusal, "BAR read") : OkStatus();
}

Status Chip::BarWrite(int bar, uint64_t offset, ByteSpan from) {
  Refusal refusal;
  if (bar == 0) {
    refusal = parts_->bars.bar0.Write(offset, from);
  } else if (bar == 4) {
    refusal = parts_->bars.bar4.Write(offset, from);
  } else if (bar == 2 && from.size() == 4 && offset % 4 == 0) {
    refusal = parts_->host.WriteTranslation(offset, LoadAt<uint32_t>(from.data()));
  } else {
    refusal = {FaultKind::kRegisterWidth, offset, kNoSuchBar};
  }
  return refusal ? parts_->Refuse(refusal, "BAR write") : OkStatus();
}

Status Chip::MapHostMemory(uint64_t bus_address, MutableByteSpan memory) {
  return parts_->host.Map(bus_address, memory);
}

void Chip::SetHostAccess(HostAccess* access) { parts_->host.SetAccess(access); }

Status Chip::Reset() {
  parts_->machine.fault.reset();
  parts_->machine.host_link_clock.reset();
  parts_->machine.fault_reported = false;
  parts_->scheduler.Reset();
  for (TensixTile& tile : parts_->tiles.tensix) tile.Reset();
  for (EthernetTile& tile : parts_->tiles.ethernet) tile.Reset();
  parts_->noc.Reset();
  parts_->arc.Reset();
  parts_->host.Reset();
  parts_->bars.path.Reset();
  parts_->bars.bar0.Reset();
  parts_->bars.bar4.Reset();
  parts_->config.Reset();
  for (Inspector* const inspector : parts_->machine.inspectors) inspector->OnReset();
  return OkStatus();
}

StatusOr<Chip::Progress> Chip::Advance(uint64_t clocks) {
  Machine& machine = parts_->machine;
  Progress progress;
  if (!machine.has_news()) progress.clocks = parts_->scheduler.Advance(clocks);
  if (machine.has_news() && parts_->hold_faults) {
    progress.halted = true;
    return progress;
  }
  if (machine.has_news()) {
    machine.fault_reported = true;
    return ToStatus(*machine.fault);
  }
  progress.halted = machine.halted;
  progress.quiescent = !progress.halted && parts_->scheduler.idle();
  return progress;
}

void Chip::Idle(uint64_t clocks) { parts_->scheduler.Idle(clocks); }

void Chip::Attach(Inspector* inspector) {
  parts_->machine.inspectors.push_back(inspector);
  parts_->machine.careful = true;
}

void Chip::Detach(Inspector* inspector) {
  Machine& machine = parts_->machine;
  std::erase(machine.inspectors, inspector);
  machine.careful = machine.hazards.on != 0 || !machine.inspectors.empty();
}

void Chip::Guard(uint32_t index, MemoryGuard* guard) {
  for (uint32_t i = 0; i < hw::kHarts; ++i) {
    Hart& hart = parts_->tiles.tensix[index].hart(i);
    hart.guard = guard;
    const uint32_t free = guard == nullptr ? hw::kL1Bytes : guard->l1_begin();
    for (uint32_t log = 0; log < 3; ++log) hart.free_l1[log] = free >> log;
  }
}

TensixTile& Chip::tile(uint32_t index) { return parts_->tiles.tensix[index]; }
const TensixTile& Chip::tile(uint32_t index) const { return parts_->tiles.tensix[index]; }

void Chip::HoldFaults(bool hold) { parts_->hold_faults = hold; }

const std::optional<Fault>& Chip::fault() const { return parts_->machine.fault; }
const Refusal& Chip::last_refusal() const { return parts_->last_refusal; }

uint32_t Chip::tensix_count() const { return parts_->grid.tensix_count(); }

hw::Coordinate Chip::TensixCoordinate(uint32_t index) const {
  return parts_->grid.TensixTranslated(index);
}

const Hart* Chip::FindHart(hw::Coordinate translated, uint32_t hart) const {
  const TileRef tile = parts_->grid.At(translated.x, translated.y);
  if (tile.kind != TileKind::kTensix || hart >= hw::kHarts) return nullptr;
  return &parts_->tiles.tensix[tile.index].hart(hart);
}

uint64_t Chip::retired_instructions() const {
  uint64_t total = 0;
  for (const TensixTile& tile : parts_->tiles.tensix) {
    for (uint32_t i = 0; i < hw::kHarts; ++i) total += tile.hart(i).retired;
  }
  return total;
}

uint64_t Chip::runnable_harts() const { return parts_->scheduler.runnable(); }
uint64_t Chip::clock() const { return parts_->scheduler.now(); }
uint64_t Chip::NextWork() const { return parts_->scheduler.NextWork(); }
std::optional<uint64_t> Chip::host_link_clock() const { return parts_->machine.host_link_clock; }

std::span<EthernetTile> Chip::ethernet() { return parts_->tiles.ethernet; }
EthernetTile* Chip::FindEthernet(uint32_t channel) {
  for (EthernetTile& tile : ethernet()) {
    if (tile.channel() == channel) return &tile;
  }
  return nullptr;
}

}  // namespace ttfd::sim
