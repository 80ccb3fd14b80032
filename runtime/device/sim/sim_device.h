// Opens the embedded device: the default backend, and the only one that needs no hardware.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/debug/gdb_server.h"
#include "runtime/device/device.h"
#include "runtime/device/sim/trace_options.h"
#include "runtime/sim/chip.h"
#include "runtime/sim/options.h"

namespace ttfd {

struct SimOptions : sim::ChipOptions {
  std::string
      gdb;  // where a debugger may connect: a path, or a TCP port of 127.0.0.1; empty: none may
  TraceOptions trace = {};
  bool bounds = true;  // Device::kernel_bounds()
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
StatusOr<SimOptions> ParseSimOptions(std::string_view text);

// Objects by which the device's owner serves debuggers.
struct Debugging {
  StoppableClock* clock = nullptr;     // to measure the card's time with: stopped while the card is
  debug::GdbServer* server = nullptr;  // set by OpenSimDevice; null: nobody may connect
};

// The device, reset. `chip`, if not null, is where to look inside; that and debugging->server live as long as the
// device, which debugging->clock outlives.
StatusOr<std::unique_ptr<Device>> OpenSimDevice(const SimOptions& options,
                                                sim::Chip** chip = nullptr,
                                                Debugging* debugging = nullptr);

}  // namespace ttfd
