// Opening, identity, ownership.
#include "runtime/device/kmd/node.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "runtime/device/kmd/errors.h"
#include "runtime/device/kmd/pci.h"
#include "runtime/device/problem.h"
#include "runtime/device/wait.h"

namespace ttfd::kmd {
namespace {

// After a reset has begun, tt-umd waits for 2 s and then up to 10 s for the node.
constexpr Duration kResetTime = std::chrono::seconds(2);
constexpr Duration kResetLimit = std::chrono::seconds(12);
constexpr Duration kResetPoll = std::chrono::milliseconds(50);
constexpr char kModuleVersion[] = "/sys/module/tenstorrent/version";

}  // namespace

Status CheckCardName(std::string_view which) {
  // domain:bus:device.function in hexadecimal digits
  constexpr std::string_view kForm = "0000:00:00.0";
  const auto fits = [](char is, char form) {
    return form == '0' ? std::isxdigit(static_cast<unsigned char>(is)) != 0 : is == form;
  };
  const bool pci_address = std::equal(which.begin(), which.end(), kForm.begin(), kForm.end(), fits);
  if (pci_address || which.starts_with("/")) return OkStatus();
  return InvalidArgument("'{}' is no card: /dev/tenstorrent/0 and 0000:03:00.0 would be", which);
}

StatusOr<std::unique_ptr<Node>> Node::Open(const System& system, const std::string& which) {
  RETURN_IF_ERROR(CheckCardName(which));
  std::unique_ptr<Node> node(new Node(system));
  node->path_ = which;
  if (!which.starts_with("/")) {
    node->pci_address_ = absl::AsciiStrToLower(which);
    const std::optional<std::string> path = node->FindPath();
    if (!path.has_value()) {
      return NoSuchCard(which, system.files->List("/dev/tenstorrent"),
                        system.files->ReadText(kModuleVersion));
    }
    node->path_ = *path;
  }
  RETURN_IF_ERROR(node->OpenPath());
  Status locked = node->TakeLock();
  if (!node->lost().ok() && node->version() >= kFirstReset) {
    // The driver names a card that is being reset, and answers nothing else of it until kPostReset. The process that
    // began the reset may have ended.
    node->in_reset_ = true;
    locked = node->Reopen();
  }
  RETURN_IF_ERROR(locked);
  return node;
}

Node::~Node() { Close(); }

void Node::Close() {
  if (descriptor_ >= 0) system_.kernel->Close(std::exchange(descriptor_, -1));
}

Status Node::OpenPath() {
  descriptor_ = system_.kernel->Open(path_);
  if (descriptor_ < 0) {
    return OpenError(path_, -descriptor_, system_.files->ReadText(kModuleVersion));
  }
  if (in_reset_) RETURN_IF_ERROR(CallReset(kPostReset, "ended"));
  in_reset_ = false;
  RETURN_IF_ERROR(CheckDriver());
  return CheckCard();
}

Status Node::CallReset(uint32_t flags, std::string_view what) {
  ResetDeviceCall call = {.output_bytes = kResetDeviceOutput, .flags = flags};
  const int error = Call(descriptor_, kResetDevice, &call);
  if (error == ENODEV) return lost_;
  if (error != 0) return ResetFailed(path_, what, std::strerror(error));
  return call.result == 0 ? OkStatus() : ResetFailed(path_, what, "the card does not obey");
}

Status Node::BeginReset() {
  RETURN_IF_ERROR(CallReset(kResetAsic, "begun"));
  in_reset_ = true;
  reset_in_vain_ = true;
  return OkStatus();
}

Status Node::EndReset(Clock& clock, Tick tick) {
  lost_ = ResetFailed(path_, "ended", "it is not back");
  silent_ = false;
  Close();
  const TimePoint began = clock.Now();
  const auto is_back = [&]() -> StatusOr<bool> {
    return clock.Now() - began >= kResetTime && FindPath().has_value();
  };
  const auto step = [&]() -> StatusOr<bool> {
    clock.Sleep(kResetPoll);
    return true;
  };
  const auto late = [&] { return clock.Now() - began >= kResetLimit; };
  RETURN_IF_ERROR(WaitUntil(is_back, step, late, tick, Pacing(DeviceInfo(), clock)).status());
  return Reopen();
}

Status Node::Reopen() {
  Close();
  if (std::exchange(silent_, false)) lost_ = CardLost(path_, "its node cannot be opened");
  const Status lost = std::exchange(lost_, OkStatus());
  Status opened = FindAndOpen();
  if (!opened.ok()) {
    Close();
    lost_ = lost;
  }
  return opened;
}

Status Node::FindAndOpen() {
  const std::optional<std::string> path = FindPath();
  if (!path.has_value()) return NotBack(pci_address_);
  path_ = *path;
  RETURN_IF_ERROR(OpenPath());
  return TakeLock();
}

std::optional<std::string> Node::FindPath() const {
  const std::optional<std::string> number = NodeNumberOf(*system_.files, pci_address_);
  return number.has_value() ? std::optional(fmt::format("{}/{}", kNodeFolder, *number))
                            : std::nullopt;
}

Status Node::EndRestore(const Status& restored) {
  if (restored.ok()) {
    reset_in_vain_ = false;
  } else if (lost_.ok()) {
    lost_ = MakeStatus(StatusCode::kUnavailable, StatusMessage(restored));
  }
  return restored;
}

int Node::OpenAnother() {
  const int descriptor = system_.kernel->Open(path_);
  if (descriptor == -ENODEV || descriptor == -ENOENT || descriptor == -ENXIO) {
    Lose("its node is gone");
  }
  return descriptor;
}

int Node::Call(int descriptor, Request request, void* argument) {
  const int error = -system_.kernel->Ioctl(descriptor, request, argument);
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
  if (lost_.ok() || silent_) lost_ = CardLost(path_, symptom);
  silent_ = false;
  return lost_;
}

const Status& Node::FallSilent() {
  LockControlCall call = {
      .output_bytes = kLockControlOutput, .operation = kLockTest, .index = kOwnerLock};
  Call(kLockControl, &call);  // while another process resets the card, the driver answers ENODEV
  if (!lost_.ok()) return lost_;
  if (version_ < kFirstReset) return Lose("its registers read all ones");
  silent_ = !reset_in_vain_;
  lost_ = silent_ ? CardSilent(path_) : ResetFailed(path_, "ended", "the card answers all ones");
  return lost_;
}

Status Node::CheckDriver() {
  DriverInfoCall call = {.output_bytes = kDriverInfoOutput};
  const int error = Call(kGetDriverInfo, &call);
  if (error != 0) return CallError("does not say its version", error);
  if (call.written_bytes > kDriverInfoOutputBefore2) {
    version_ = {call.major, call.minor, call.patch};
    return CheckDriverVersion(version_, version_.ToString());
  }
  const std::string text = system_.files->ReadText(kModuleVersion).value_or("");
  const std::optional<DriverVersion> parsed = ParseDriverVersion(text);
  version_ = parsed.value_or(DriverVersion{});
  return CheckDriverVersion(parsed, text);
}

Status Node::CheckCard() {
  DeviceInfoCall call = {.output_bytes = kDeviceInfoOutput};
  const int error = Call(kGetDeviceInfo, &call);
  if (error != 0) return CallError("does not say which card it is", error);
  const PciId id = {call.vendor, call.device};
  if (id != kBlackhole) return NotABlackhole(path_, id);
  pci_address_ = PciAddressOf(call);
  // "DMA" or "DMA-FQ" with translation; "identity", or no group, without.
  iommu_ = Attribute("iommu_group/type").starts_with("DMA");
  const std::string node = Attribute("numa_node");
  std::from_chars(node.data(), node.data() + node.size(), numa_node_);
  return OkStatus();
}

std::string Node::Attribute(std::string_view name) const {
  return system_.files->ReadText(fmt::format("{}/{}", PciFolder(pci_address_), name)).value_or("");
}

CardHealth Node::ReadHealth() const {
  CardHealth health;
  health.node = path_;
  health.pci_address = pci_address_;
  health.driver = version_.ToString();
  health.link = {.speed = Attribute("current_link_speed"),
                 .max_speed = Attribute("max_link_speed"),
                 .width = Attribute("current_link_width"),
                 .max_width = Attribute("max_link_width")};
  return health;
}

Status Node::TakeLock() {
  LockControlCall call = {
      .output_bytes = kLockControlOutput, .operation = kLockAcquire, .index = kOwnerLock};
  const int error = Call(kLockControl, &call);
  if (error != 0) return CallError("does not give its lock", error);
  return call.value == 1 ? OkStatus() : HeldByAnother(path_, OtherProcesses());
}

std::vector<std::string> Node::OtherProcesses() const {
  const std::string node = FindPath().value_or(path_);
  const std::string number = node.substr(node.rfind('/') + 1);
  std::istringstream lines(
      system_.files->ReadText(fmt::format("/proc/driver/tenstorrent/{}/pids", number))
          .value_or(""));
  std::vector<std::string> others;
  for (std::string pid; std::getline(lines, pid);) {
    if (pid != std::to_string(getpid())) others.push_back(pid);
  }
  return others;
}

Status Node::CallError(std::string_view what, int error) {
  if (!lost_.ok()) return lost_;
  return ProblemError(Problem::kDriverRefused, StatusCode::kFailedPrecondition,
                      "the driver of {} {} ({}): see dmesg for why", path_, what,
                      std::strerror(error));
}

}  // namespace ttfd::kmd
