// Reserving, moving and taking over hardware windows.
#include "runtime/device/kmd/window_pool.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/device/kmd/errors.h"
#include "runtime/device/problem.h"
#include "runtime/hw/pcie.h"

namespace ttfd::kmd {
namespace {

WindowConfig ConfigFor(const WindowTarget& target, uint64_t base) {
  WindowConfig config = {};
  config.address = base;
  config.x_end = static_cast<uint16_t>(target.end.x);
  config.y_end = static_cast<uint16_t>(target.end.y);
  if (target.multicast) {
    config.x_start = static_cast<uint16_t>(target.start.x);
    config.y_start = static_cast<uint16_t>(target.start.y);
    config.multicast = 1;
  }
  config.ordering = target.ordering == WindowOrdering::kStrict ? kOrderingStrict : kOrderingRelaxed;
  return config;
}

Status NoAddresses() {
  return ProblemError(
      Problem::kNoHostMemory, StatusCode::kResourceExhausted,
      "this process cannot map one more window into the card: free memory, or raise "
      "vm.max_map_count and the limit of its address space (ulimit -v)");
}

}  // namespace

void WindowPool::Clear() {
  // The driver frees the windows with the descriptor.
  for (const HardwareWindow& window : windows_) {
    node_.Unmap(window.uncached);
    if (window.write_combining.begin != nullptr) node_.Unmap(window.write_combining);
    if (window.claim != nullptr) window.claim->window_ = nullptr;
  }
  windows_.clear();
}

StatusOr<HardwareWindow*> WindowPool::Show(WindowClaim& claim, uint64_t base) {
  RETURN_IF_ERROR(node_.lost());
  if (claim.window_ == nullptr) {
    ASSIGN_OR_RETURN(HardwareWindow* const chosen, Choose());
    if (chosen->claim != nullptr) chosen->claim->window_ = nullptr;
    chosen->claim = &claim;
    claim.window_ = chosen;
    claim.base_ = ~base;
  }
  HardwareWindow& window = *claim.window_;
  window.last_use = ++uses_;
  if (claim.base_ == base && window.configured) return &window;
  RETURN_IF_ERROR(Configure(window, ConfigFor(claim.target_, base)));
  claim.base_ = base;
  return &window;
}

Status WindowPool::Configure(HardwareWindow& window, const WindowConfig& config) {
  if (window.configured && window.config == config) return OkStatus();
  ConfigureWindowCall call = {
      .id = window.id, .reserved = 0, .config = config, .reserved_output = 0};
  window.configured = false;
  const int error = node_.Call(kConfigureWindow, &call);
  RETURN_IF_ERROR(node_.lost());
  if (error != 0) {
    return ProblemError(
        Problem::kDriverRefused, StatusCode::kInternal,
        "the driver refuses to move window {} to ({},{}) {:#x} ({}): see dmesg for why", window.id,
        config.x_end, config.y_end, config.address, std::strerror(error));
  }
  window.config = config;
  window.configured = true;
  return OkStatus();
}

HardwareWindow* WindowPool::LeastUseful() {
  const auto less_useful = [](const HardwareWindow& a, const HardwareWindow& b) {
    if ((a.claim == nullptr) != (b.claim == nullptr)) return a.claim == nullptr;
    return a.last_use < b.last_use;
  };
  const auto least = std::min_element(windows_.begin(), windows_.end(), less_useful);
  return least == windows_.end() ? nullptr : &*least;
}

StatusOr<HardwareWindow*> WindowPool::Choose() {
  HardwareWindow* const least = LeastUseful();
  if (least != nullptr && (least->claim == nullptr || windows_.size() >= kMostWindows))
    return least;
  StatusOr<HardwareWindow*> reserved = Reserve();
  const bool taken = reserved.status().code() == StatusCode::kResourceExhausted;
  return taken && least != nullptr ? least : reserved;
}

StatusOr<HardwareWindow*> WindowPool::Reserve() {
  AllocateWindowCall call = {};
  call.bytes = hw::kTlbWindow2MBytes;
  const int error = node_.Call(kAllocateWindow, &call);
  RETURN_IF_ERROR(node_.lost());
  if (error != 0) return WindowRefused(error);
  HardwareWindow window = {.id = call.id, .write_combining_offset = call.write_combining_offset};
  Status mapped = Map(call.uncached_offset, &window.uncached);
  if (mapped.ok()) return &windows_.emplace_back(window);
  FreeWindowCall free = {.id = call.id};
  node_.Call(kFreeWindow, &free);
  return mapped;
}

Status WindowPool::MapWriteCombining(HardwareWindow& window) {
  if (window.write_combining.begin != nullptr) return OkStatus();
  return Map(window.write_combining_offset, &window.write_combining);
}

Status WindowPool::Map(uint64_t offset, Mapping* mapping) {
  const int error = node_.Map(offset, hw::kTlbWindow2MBytes, mapping);
  RETURN_IF_ERROR(node_.lost());
  if (error == ENOMEM) return NoAddresses();
  return error == 0 ? OkStatus() : WindowRefused(error);
}

}  // namespace ttfd::kmd
