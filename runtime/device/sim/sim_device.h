// Opens the embedded device: the default backend, and the only one that needs no hardware.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/debug/gdb_server.h"
#include "runtime/device/device.h"
#include "runtime/device/sim/cluster_options.h"
#include "runtime/device/sim/trace_options.h"
#include "runtime/sim/chip.h"
#include "runtime/sim/options.h"

namespace ttfd {

struct SimOptions : sim::ChipOptions {
  std::string
      gdb;  // where a debugger may connect: a path, or a TCP port of 127.0.0.1; empty: none may
  TraceOptions trace = {};
  bool bounds = true;  // Device::kernel_bounds()
  ClusterPlan cluster = {};
};

// "sim" or "sim:KEY=VALUE,...": board=p100a|p150 (default p150); bank=N|none, the harvested DRAM
// bank; columns=X+X+...|none, the harvested Tensix columns; both default to what the board usually
// has. hazards=on|off|NAME+NAME+... (default off), what the silicon may do and the plain model forgives
// (runtime/sim/hazards.h): l0cache, stores, noc, streams, icache, localram, speed, compute, host; seed=N (default 1)
// decides what they do. bounds=on|off (default on), whether a kernel's access to memory of buffers that are not its
// session's is a fault (Device::kernel_bounds). gdb=PATH|PORT, where a debugger may connect.
// trace=FILE, what the chip executes and sends, as text, with trace_what=instructions+memory+noc+states,
// trace_tiles=1x2+..., trace_harts=brisc+..., trace_from=CLOCK, trace_to=CLOCK, trace_limit=BYTES[K|M|G] and
// trace_last=EVENTS: docs/simulator.md.
// cluster=ROWSxCOLUMNS|FILE makes it several chips (sim::Topology): with wrap=none|x|y|both (default both, where a side
// has more than two chips), links=1..4 between two neighbours (default 2), link_latency=CLOCKS (default 800),
// threads=N that run the chips (default 1), remote=CHIP+CHIP+..., those without a PCIe port. Chips of a cluster have
// neither gdb= nor trace=.
StatusOr<SimOptions> ParseSimOptions(std::string_view text);

// Objects by which the device's owner serves debuggers.
struct Debugging {
  StoppableClock* clock = nullptr;     // to measure the card's time with: stopped while the card is
  debug::GdbServer* server = nullptr;  // set by OpenSimDevice; null: nobody may connect
};

// The devices with a PCIe port, by the number of their chip, reset. debugging->server lives as long as the first of
// them, which debugging->clock outlives.
StatusOr<std::vector<std::unique_ptr<Device>>> OpenSimDevices(const SimOptions& options,
                                                              Debugging* debugging = nullptr);

// The device of a chip alone, reset. `chip`, if not null, is where to look inside; that and debugging->server live with
// the device, which debugging->clock outlives.
StatusOr<std::unique_ptr<Device>> OpenSimDevice(const SimOptions& options,
                                                sim::Chip** chip = nullptr,
                                                Debugging* debugging = nullptr);

}  // namespace ttfd
