// Launches of a TTMetal program: kernels, their arguments, circular buffers and semaphores.
#pragma once

#include <map>
#include <set>
#include <string>

#include "client/ttmlir/src/metal_plan.h"

namespace ttfd::ttmlir {

// The arrays, buffers, semaphores and events that the commands so far have made, by id.
struct MetalState {
  std::map<uint32_t, HostSpec> hosts;
  std::map<uint32_t, BufferSpec> buffers;   // with semaphores outside programs
  std::map<uint32_t, uint32_t> semaphores;  // of programs: their initial values
  std::set<uint32_t> events;
  uint64_t launch_bytes = 0;  // of the plans of all launches

  // Whether so many bytes more are within what the launches of a program may take.
  bool Charge(uint64_t bytes) { return (launch_bytes += bytes) <= kMaxLaunchBytes; }
  static constexpr uint64_t kMaxLaunchBytes = uint64_t{24} << 20;
};

constexpr uint32_t kMaxCoordinate = 63;  // of a NoC

// Ranges of a list of Dim2dRange. Problems are "" where there is none, here and below.
std::string CoresOf(const List& ranges, std::vector<client::CoreRange>* cores);

// The format of tiles of a type of the schema; kNone: there is none.
client::DataFormat FormatOf(std::string_view dtype);

// `index` is that of the command, for the names of its kernels.
std::string PlanLaunch(const Record& command, size_t index, MetalState* state, LaunchStep* launch);

}  // namespace ttfd::ttmlir
