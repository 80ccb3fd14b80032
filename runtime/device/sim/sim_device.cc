// Options of the embedded device as text, and opening it.
#include "runtime/device/sim/sim_device.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "runtime/device/port_device.h"
#include "runtime/device/sim/option_text.h"
#include "runtime/device/sim/sim_port.h"

namespace ttfd {
namespace {

Status ParseBoard(std::string_view value, SimOptions* options) {
  if (value == "p100a") {
    static_cast<sim::ChipOptions&>(*options) = sim::DefaultOptions(sim::Board::kP100a);
  } else if (value == "p150") {
    static_cast<sim::ChipOptions&>(*options) = sim::DefaultOptions(sim::Board::kP150);
  } else {
    return InvalidArgument("board \"{}\" is not p100a or p150", value);
  }
  return OkStatus();
}

Status ParseHarvest(std::string_view key, std::string_view value, SimOptions* options) {
  if (key == "bank") {
    if (value == "none") {
      options->harvested_bank = hw::kNoHarvestedBank;
      return OkStatus();
    }
    ASSIGN_OR_RETURN(options->harvested_bank, ParseNumber<uint32_t>(value));
    return OkStatus();
  }
  options->harvested_columns.clear();
  if (value == "none") return OkStatus();
  while (!value.empty()) {
    ASSIGN_OR_RETURN(const uint32_t column, ParseNumber<uint32_t>(TakeUntil('+', &value)));
    options->harvested_columns.push_back(column);
  }
  return OkStatus();
}

struct HazardName {
  std::string_view name;
  sim::Hazard hazard;
};
constexpr HazardName kHazardNames[] = {
    {"l0cache", sim::kHazardL0Cache}, {"stores", sim::kHazardStores},
    {"noc", sim::kHazardNoc},         {"streams", sim::kHazardStreams},
    {"icache", sim::kHazardICache},   {"localram", sim::kHazardLocalRam},
    {"speed", sim::kHazardHartSpeed}, {"compute", sim::kHazardCompute},
    {"host", sim::kHazardHost},
};

Status ParseHazards(std::string_view value, SimOptions* options) {
  uint32_t& on = options->hazards.on;
  on = value == "on" ? sim::kAllHazards : 0;
  if (value == "on" || value == "off") return OkStatus();
  while (!value.empty()) {
    const std::string_view name = TakeUntil('+', &value);
    const auto* const known =
        std::find_if(std::begin(kHazardNames), std::end(kHazardNames),
                     [name](const HazardName& hazard) { return hazard.name == name; });
    if (known == std::end(kHazardNames)) {
      return InvalidArgument(
          "hazard \"{}\" is not on, off, l0cache, stores, noc, streams, icache, localram, speed, "
          "compute or host",
          name);
    }
    on |= known->hazard;
  }
  return OkStatus();
}

Status ParseCoordinates(std::string_view value, SimOptions* options) {
  options->writes_coordinates_back = value == "written-back";
  if (options->writes_coordinates_back || value == "kept") return OkStatus();
  return InvalidArgument("coordinates \"{}\" are not kept or written-back", value);
}

Status ParseBounds(std::string_view value, SimOptions* options) {
  options->bounds = value == "on";
  if (options->bounds || value == "off") return OkStatus();
  return InvalidArgument("bounds \"{}\" are not on or off", value);
}

// Everything but the board.
Status ParseItem(std::string_view key, std::string_view value, SimOptions* options) {
  if (key == "gdb") {
    options->gdb = value;
    return debug::GdbServer::CheckAddress(value);
  }
  if (IsTraceKey(key)) return ParseTraceOption(key, value, &options->trace);
  if (key == "hazards") return ParseHazards(value, options);
  if (key == "coordinates") return ParseCoordinates(value, options);
  if (key == "bounds") return ParseBounds(value, options);
  if (key != "seed") return ParseHarvest(key, value, options);
  ASSIGN_OR_RETURN(options->hazards.seed, ParseNumber<uint64_t>(value));
  return OkStatus();
}

constexpr std::string_view kKeys[] = {"board",       "bank",    "bounds", "columns",
                                      "coordinates", "hazards", "seed",   "gdb"};

}  // namespace

StatusOr<SimOptions> ParseSimOptions(std::string_view text) {
  std::string_view rest = text;
  if (TakeUntil(':', &rest) != "sim") {
    return InvalidArgument("\"{}\" does not name the embedded device (sim, sim:board=p100a)", text);
  }
  SimOptions options{sim::DefaultOptions(sim::Board::kP150), {}};
  ClusterText cluster;
  bool any_trace = false;
  // The board decides the defaults of the rest, wherever it stands.
  for (const bool boards : {true, false}) {
    for (std::string_view items = rest; !items.empty();) {
      std::string_view value = TakeUntil(',', &items);
      const std::string_view key = TakeUntil('=', &value);
      any_trace |= IsTraceKey(key);
      if (!IsTraceKey(key) && !ClusterText::IsKey(key) &&
          std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
        return InvalidArgument(
            "\"{}\" of \"{}\" is not board, bank, bounds, cluster, columns, coordinates, hazards, "
            "link_latency, links, remote, seed, threads, wrap, gdb, trace or trace_...",
            key, text);
      }
      if (value.empty()) return InvalidArgument("\"{}\" of \"{}\" has no value", key, text);
      if ((key == "board") != boards) continue;
      const Status status = boards                    ? ParseBoard(value, &options)
                            : ClusterText::IsKey(key) ? cluster.Set(key, value)
                                                      : ParseItem(key, value, &options);
      RETURN_IF_ERROR(Annotate(status, text));
    }
  }
  RETURN_IF_ERROR(Annotate(sim::Validate(options), text));
  RETURN_IF_ERROR(Annotate(CheckTraceOptions(options.trace, any_trace), text));
  StatusOr<ClusterPlan> resolved = cluster.Resolve(options.ethernet_channels);
  if (!resolved.ok()) return Annotate(resolved.status(), text);
  options.cluster = *std::move(resolved);
  if (options.cluster.topology.chips > 1 && (any_trace || !options.gdb.empty())) {
    return InvalidArgument("{}: gdb and trace are those of a chip without neighbours", text);
  }
  return options;
}

namespace {

StatusOr<std::shared_ptr<SimCluster>> MakeCluster(const SimOptions& options) {
  auto cluster = std::make_shared<SimCluster>();
  const sim::ChipOptions& chip = options;
  const ClusterPlan& of = options.cluster;
  ASSIGN_OR_RETURN(cluster->chips,
                   sim::Cluster::Create({chip, of.topology, of.latency, of.threads}));
  for (uint32_t i = 0; i < cluster->chips->size() && options.bounds; ++i) {
    cluster->bounds.push_back(std::make_unique<SimBounds>(cluster->chips->chip(i)));
  }
  return cluster;
}

StatusOr<std::unique_ptr<Device>> OpenPort(std::unique_ptr<SimPort> port) {
  // The model maps exactly the memory it is given, as a card behind an IOMMU does.
  const PortTraits traits = {.backend = "embedded",
                             .memory_is_zero_after_power_on = true,
                             .iommu = true,
                             .reports_quiescence = true};
  return PortDevice::Open(std::move(port), traits);
}

// The port of a chip alone, with what looks into it.
StatusOr<std::unique_ptr<SimPort>> MakePort(const SimOptions& options,
                                            std::shared_ptr<SimCluster> cluster,
                                            Debugging* debugging) {
  sim::Chip* const chip = &cluster->chips->chip(0);
  std::unique_ptr<TraceFile> trace;
  if (!options.trace.path.empty()) {
    ASSIGN_OR_RETURN(trace, TraceFile::Open(options.trace, chip));
  }
  std::unique_ptr<debug::GdbServer> server;
  if (!options.gdb.empty()) {
    StoppableClock* const clock = debugging != nullptr ? debugging->clock : nullptr;
    ASSIGN_OR_RETURN(server, debug::GdbServer::Listen(*chip, options.gdb, clock));
  }
  if (debugging != nullptr) debugging->server = server.get();
  return std::make_unique<SimPort>(std::move(cluster), 0, std::move(server), std::move(trace));
}

}  // namespace

StatusOr<std::vector<std::unique_ptr<Device>>> OpenSimDevices(const SimOptions& options,
                                                              Debugging* debugging) {
  ASSIGN_OR_RETURN(const std::shared_ptr<SimCluster> cluster, MakeCluster(options));
  std::vector<std::unique_ptr<Device>> devices;
  const std::vector<uint32_t>& remote = options.cluster.remote;
  for (uint32_t i = 0; i < cluster->chips->size(); ++i) {
    if (std::binary_search(remote.begin(), remote.end(), i)) continue;
    std::unique_ptr<SimPort> port;
    if (cluster->chips->size() == 1) {
      ASSIGN_OR_RETURN(port, MakePort(options, cluster, debugging));
    } else {
      port = std::make_unique<SimPort>(cluster, i);
    }
    ASSIGN_OR_RETURN(std::unique_ptr<Device> device, OpenPort(std::move(port)));
    devices.push_back(std::move(device));
  }
  return devices;
}

StatusOr<std::unique_ptr<Device>> OpenSimDevice(const SimOptions& options, sim::Chip** chip,
                                                Debugging* debugging) {
  ASSIGN_OR_RETURN(const std::shared_ptr<SimCluster> cluster, MakeCluster(options));
  if (chip != nullptr) *chip = &cluster->chips->chip(0);
  ASSIGN_OR_RETURN(std::unique_ptr<SimPort> port, MakePort(options, cluster, debugging));
  return OpenPort(std::move(port));
}

}  // namespace ttfd
