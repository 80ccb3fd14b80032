// The node: can it be opened, what is behind it, and which processes have it.
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/device/kmd/abi.h"
#include "runtime/device/kmd/doctor/reading.h"
#include "runtime/device/kmd/doctor/survey.h"

namespace ttfd::kmd {
namespace {

constexpr uint8_t kHeldByAny = 2;  // of kLockTest

// Processes in the list that has a line for each descriptor.
std::optional<std::vector<Process>> Processes(Files& files, const std::string& number) {
  const std::optional<std::string> text =
      files.ReadText(fmt::format("/proc/driver/tenstorrent/{}/pids", number));
  if (!text.has_value()) return std::nullopt;
  std::vector<std::string> pids = LinesOf(*text);
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  std::vector<Process> processes;
  for (const std::string& pid : pids) {
    if (pid.empty()) continue;
    processes.push_back({pid, files.ReadText(fmt::format("/proc/{}/comm", pid)).value_or("")});
  }
  return processes;
}

void AskIdentity(Kernel& kernel, int descriptor, NodeFacts* node) {
  DeviceInfoCall call = {.output_bytes = kDeviceInfoOutput};
  node->identity_error = -kernel.Ioctl(descriptor, kGetDeviceInfo, &call);
  if (node->identity_error != 0) return;
  node->id = {call.vendor, call.device};
  node->pci_address = PciAddressOf(call);
}

void AskVersion(Kernel& kernel, int descriptor, NodeFacts* node) {
  DriverInfoCall call = {.output_bytes = kDriverInfoOutput};
  const int error = -kernel.Ioctl(descriptor, kGetDriverInfo, &call);
  if (error == 0 && call.written_bytes > kDriverInfoOutputBefore2) {
    node->driver = DriverVersion{call.major, call.minor, call.patch};
  }
}

void AskLock(Kernel& kernel, int descriptor, NodeFacts* node) {
  LockControlCall call = {
      .output_bytes = kLockControlOutput, .operation = kLockTest, .index = kOwnerLock};
  node->lock_error = -kernel.Ioctl(descriptor, kLockControl, &call);
  node->locked = node->lock_error == 0 && (call.value & kHeldByAny) != 0;
}

}  // namespace

NodeFacts SurveyNode(Kernel& kernel, Files& files, const std::string& number) {
  NodeFacts node;
  node.path = fmt::format("{}/{}", kNodeFolder, number);
  node.processes = Processes(files, number);
  const int descriptor = kernel.Open(node.path);
  if (descriptor < 0) {
    node.open_error = -descriptor;
    return node;
  }
  AskIdentity(kernel, descriptor, &node);
  AskVersion(kernel, descriptor, &node);
  AskLock(kernel, descriptor, &node);
  kernel.Close(descriptor);
  return node;
}

}  // namespace ttfd::kmd
