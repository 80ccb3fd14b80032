// A chip without a PCIe port, as a Device: driven through an Ethernet link of a neighbour that has one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/device/device.h"
#include "runtime/device/link_status.h"
#include "runtime/fabric/remote_link.h"

namespace ttfd {

// Not thread-safe: the thread that drives the neighbour drives this chip, and every call may let both run.
//
// Accesses are refused with INVALID_ARGUMENT unless the chip has memory or registers there: one that nothing answers
// would occupy the far NIU for ever. Writes are posted as those of a PCIe window are.
class RemoteDevice final : public Device {
 public:
  // `front`: the neighbour, whose link `at` is up. `name`: of the link, in errors. Reads what the chip is; its harts
  // stay as they are. FAILED_PRECONDITION: the link is not up, or the chip is not supported. UNAVAILABLE: it does not
  // answer. The clock outlives the device.
  static StatusOr<std::unique_ptr<RemoteDevice>> Open(std::shared_ptr<Device> front,
                                                      const LinkStatus& at, std::string name,
                                                      Clock& clock);

  const DeviceInfo& info() const override { return info_; }
  StatusOr<std::unique_ptr<Window>> OpenWindow(const WindowTarget& target) override;
  bool reaches_host_memory() const override { return false; }
  StatusOr<std::unique_ptr<HostMemory>> AllocateHostMemory(uint64_t size_bytes) override;
  // Also opens the link again.
  Status Reset() override;
  Status Settle() override { return link_->Confirm(); }
  uint64_t resets() const override { return resets_; }
  Status CheckPresence() override;
  // The neighbour's.
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override { return front_->Advance(clocks); }

  const RemoteLink& link() const { return *link_; }

 private:
  class RemoteWindow;
  enum class TileKind { kNone, kTensix, kDram, kEthernet, kArc };

  RemoteDevice(std::shared_ptr<Device> front, std::unique_ptr<RemoteLink> link)
      : front_(std::move(front)), link_(std::move(link)) {}
  Status ReadInfo();
  TileKind KindOf(hw::Coordinate at) const;
  // Tensix tiles of a rectangle.
  uint32_t CountTensix(hw::Coordinate start, hw::Coordinate end) const;

  const std::shared_ptr<Device> front_;
  const std::unique_ptr<RemoteLink> link_;
  DeviceInfo info_;
  uint64_t resets_ = 0;
};

}  // namespace ttfd
