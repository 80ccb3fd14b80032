// Opening, identity, ownership.
#include "runtime/device/kmd/node.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "runtime/device/kmd/errors.h"
#include "runtime/hw/pcie.h"

namespace ttfd::kmd {
namespace {

// Of the 64 flags, by convention 0 to 15 belong to Ethernet tiles.
constexpr uint8_t kOwnerLock = 63;
constexpr char kModuleVersion[] = "/sys/module/tenstorrent/version";

}  // namespace

StatusOr<std::unique_ptr<Node>> Node::Open(const System& system, const std::string& path) {
  const int descriptor = system.kernel->Open(path);
  if (descriptor < 0) {
    return OpenError(path, -descriptor, system.kernel->ReadText(kModuleVersion));
  }
  std::unique_ptr<Node> node(new Node(system, path, descriptor));
  RETURN_IF_ERROR(node->CheckDriver());
  RETURN_IF_ERROR(node->CheckCard());
  RETURN_IF_ERROR(node->TakeLock());
  return node;
}

Node::~Node() { system_.kernel->Close(descriptor_); }

int Node::Call(Request request, void* argument) {
  if (!lost_.ok()) return ENODEV;
  const int error = -system_.kernel->Ioctl(descriptor_, request, argument);
  if (error == ENODEV) Lose("the driver answers ENODEV");
  return error;
}

int Node::Map(uint64_t offset, size_t size, Mapping* mapping) {
  if (!lost_.ok()) return ENODEV;
  const int error = -system_.kernel->Map(descriptor_, offset, size, mapping);
  if (error == ENODEV) Lose("the driver answers ENODEV");
  return error;
}

const Status& Node::Lose(std::string_view symptom) {
  if (lost_.ok()) lost_ = CardLost(path_, symptom);
  return lost_;
}

Status Node::CheckDriver() {
  DriverInfoCall call = {.output_bytes = kDriverInfoOutput};
  const int error = Call(kGetDriverInfo, &call);
  if (error != 0) return CallError("its version", error);
  if (call.written_bytes > kDriverInfoOutputBefore2) {
    version_ = {call.major, call.minor, call.patch};
    return CheckDriverVersion(version_, version_.ToString());
  }
  const std::string text = system_.kernel->ReadText(kModuleVersion).value_or("");
  const std::optional<DriverVersion> parsed = ParseDriverVersion(text);
  version_ = parsed.value_or(DriverVersion{});
  return CheckDriverVersion(parsed, text);
}

Status Node::CheckCard() {
  DeviceInfoCall call = {.output_bytes = kDeviceInfoOutput};
  const int error = Call(kGetDeviceInfo, &call);
  if (error != 0) return CallError("which card it is", error);
  if (call.vendor != hw::kPciVendorId || call.device != hw::kPciDeviceId) {
    return NotABlackhole(path_, call.vendor, call.device);
  }
  const uint32_t bdf = call.bus_device_function;
  // "DMA" or "DMA-FQ" with translation; "identity", or no group, without.
  iommu_ =
      system_.kernel
          ->ReadText(fmt::format("/sys/bus/pci/devices/{:04x}:{:02x}:{:02x}.{:x}/iommu_group/type",
                                 call.domain, bdf >> 8, bdf >> 3 & 0x1F, bdf & 7))
          .value_or("")
          .starts_with("DMA");
  return OkStatus();
}

Status Node::TakeLock() {
  LockControlCall call = {
      .output_bytes = kLockControlOutput, .operation = kLockAcquire, .index = kOwnerLock};
  const int error = Call(kLockControl, &call);
  if (error != 0) return CallError("its lock", error);
  return call.value == 1 ? OkStatus() : HeldByAnother(path_, OtherProcesses());
}

std::vector<std::string> Node::OtherProcesses() const {
  const std::string number = path_.substr(path_.rfind('/') + 1);
  std::istringstream lines(
      system_.kernel->ReadText(fmt::format("/proc/driver/tenstorrent/{}/pids", number))
          .value_or(""));
  std::vector<std::string> others;
  for (std::string pid; std::getline(lines, pid);) {
    if (pid != std::to_string(getpid())) others.push_back(pid);
  }
  return others;
}

Status Node::CallError(std::string_view what, int error) {
  if (!lost_.ok()) return lost_;
  return Error(StatusCode::kFailedPrecondition, "the driver does not say {} of {} ({}): see dmesg",
               what, path_, std::strerror(error));
}

}  // namespace ttfd::kmd
