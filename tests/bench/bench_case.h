// One figure of ttfd_bench: a name that never changes, its unit, and how to take one sample of it.
//
// A suite is a plain list that the driver (main.cc) asks for by name; nothing registers itself.
// Within a suite the driver goes round the cases, one sample each, so that a machine that slows
// down slows all of them alike.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/device/device.h"

namespace ttfd::bench {

struct BenchCase {
  std::string name;  // "suite.what_unit", as in the JSON file and docs/benchmarks.md
  std::string unit;  // "us", "MB/s", "1/s", "million/s", "%"

  // Takes one sample and returns it in `unit`. `budget` is how long the measured loop should last;
  // the smoke test passes a few milliseconds. The first call sets up what the samples share (a
  // booted device, a connection) in state that the function owns; that and one warm-up are not part
  // of the figure.
  std::function<StatusOr<double>(std::chrono::nanoseconds budget)> run;
};

// sim.*: the interpreter alone, no daemon and no firmware (tests/bench/sim_cases.cc).
std::vector<BenchCase> SimCases();

// link.*: links between chips of the model (tests/bench/link_cases.cc).
std::vector<BenchCase> LinkCases();

// remote.*: a chip behind a link of its neighbour (tests/bench/remote_cases.cc).
std::vector<BenchCase> RemoteCases();

// sim.bounds_of_vector_add_percent (tests/bench/bounds_case.cc).
BenchCase BoundsCase();

// device.*: records through the booted firmware on the calling thread
// (tests/bench/device_cases.cc).
std::vector<BenchCase> DeviceCases();

// The same on any device, which is opened by the first case that runs.
using DeviceOpener = std::function<StatusOr<std::unique_ptr<Device>>()>;
std::vector<BenchCase> DeviceCases(const std::string& prefix, const DeviceOpener& open);

// tensix.*: operations of one tile's Tensix engine on any device (tests/bench/tensix_cases.cc).
std::vector<BenchCase> TensixCases(const std::string& prefix, const DeviceOpener& open);

// device.*, tensix.* and the programs of sim.* on a device: what can be compared between backends
// (tests/bench/compare_cases.cc).
std::vector<BenchCase> CompareCases(const std::string& prefix, const DeviceOpener& open);

// rpc.*: libttfd against a daemon that is another process. `address` starts that daemon on the
// first call and returns where it listens; every later call returns the same address
// (tests/bench/rpc_cases.cc).
using AddressFunction = std::function<StatusOr<std::string>()>;
std::vector<BenchCase> RpcCases(AddressFunction address);

// Cases of a client in Python: python.launch_us, llama.step_ms and graph.upload_1m_python_s. `package` is the folder of
// the package ttfd; files of the child that runs it go to `folder` (tests/bench/python_case.cc).
struct PythonCaseSet {
  BenchCase launch;
  BenchCase llama_step;
  BenchCase upload;
};
PythonCaseSet PythonCases(const std::string& package, const std::string& folder,
                          AddressFunction address);

// share.*: what sessions get of a contended card. `program` is ttfd_bench itself, which is the clients' processes, too;
// their logs go to `folder` (tests/bench/share_cases.cc).
std::vector<BenchCase> ShareCases(const std::string& program, const std::string& folder,
                                  AddressFunction address);

// share.light_wait_p99_floods_us and what it is the greatest of: floods of input (tests/bench/flood_cases.cc).
std::vector<BenchCase> FloodCases(const std::string& program, const std::string& folder,
                                  AddressFunction address);

// rpc.*_{1,8,64,512}: against the number of clients (tests/bench/client_count_cases.cc).
std::vector<BenchCase> ClientCountCases(const std::string& program, const std::string& folder,
                                        AddressFunction address);

// ring.*: operations on a ring of modelled chips, of a daemon of its own. `daemon`: path of ttfd; its files go below
// `folder` (tests/bench/ring_cases.cc).
std::vector<BenchCase> RingCases(const std::string& daemon, const std::string& folder);

// tensor.*: operations on tensors, from the call to the result (tests/bench/tensor_cases.cc).
std::vector<BenchCase> TensorCases(AddressFunction address);

// graph.*: task graphs, and the case of them in Python (tests/bench/graph_cases.cc).
std::vector<BenchCase> GraphCases(AddressFunction address, BenchCase python);

// hang.*: what a launch that hangs costs everybody else (tests/bench/hang_cases.cc).
std::vector<BenchCase> HangCases(AddressFunction address);

}  // namespace ttfd::bench
