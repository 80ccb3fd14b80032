// One descriptor a tile.
#include "runtime/device/kmd/exit_guard.h"

#include <utility>

#include "runtime/device/kmd/errors.h"
#include "runtime/hw/tensix.h"

namespace ttfd::kmd {

Status ExitGuard::Set(std::span<const hw::Coordinate> tiles) {
  Clear();
  RETURN_IF_ERROR(node_.lost());
  if (node_.version() < kFirstCleanup) return OkStatus();
  for (const hw::Coordinate tile : tiles) {
    Status added = Add(tile);
    if (added.ok()) continue;
    Clear();
    return added;
  }
  return OkStatus();
}

Status ExitGuard::Add(hw::Coordinate tile) {
  const int descriptor = node_.OpenAnother();
  RETURN_IF_ERROR(node_.lost());
  if (descriptor < 0) return CleanupRefused(node_.path(), -descriptor);
  descriptors_.push_back(descriptor);
  NocCleanupCall call = {.bytes = sizeof(NocCleanupCall),
                         .enabled = 1,
                         .x = static_cast<uint8_t>(tile.x),
                         .y = static_cast<uint8_t>(tile.y),
                         .address = hw::kSoftReset0,
                         .data = hw::kSoftResetAllHarts};
  const int error = node_.Call(descriptor, kSetNocCleanup, &call);
  RETURN_IF_ERROR(node_.lost());
  return error == 0 ? OkStatus() : CleanupRefused(node_.path(), error);
}

void ExitGuard::Clear() {
  for (const int descriptor : std::exchange(descriptors_, {})) node_.kernel().Close(descriptor);
}

}  // namespace ttfd::kmd
