// Windows over a RemoteLink.
#include "runtime/fabric/remote_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/base/bits.h"
#include "runtime/device/card_info.h"
#include "runtime/device/problem.h"
#include "runtime/device/telemetry.h"
#include "runtime/hw/ethernet.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

bool IsRegister(uint64_t address) { return address >= hw::kFirstRegisterAddress; }

Status CheckRegister(uint64_t address, size_t bytes) {
  constexpr uint64_t kEnd = uint64_t{1} << 32;
  if (bytes == 4 && address % 4 == 0 && address < kEnd) return OkStatus();
  return InvalidArgument("{} bytes at {:#x}: registers take 4 aligned bytes", bytes, address);
}

Status CheckMemory(uint64_t address, size_t bytes, uint64_t end) {
  if (bytes <= end && address <= end - bytes) return OkStatus();
  return InvalidArgument("{} bytes at {:#x}: the tile's memory ends at {:#x}", bytes, address, end);
}

// Memory that the chip does not reach.
class ProcessMemory final : public HostMemory {
 public:
  static constexpr size_t kAlignment = 4096;
  explicit ProcessMemory(size_t bytes)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes)), &std::free),
        bytes_(memory_.get(), bytes) {
    std::memset(bytes_.data(), 0, bytes_.size());
  }
  MutableByteSpan bytes() override { return bytes_; }
  uint64_t noc_address() const override { return 0; }

 private:
  const std::unique_ptr<std::byte, void (*)(void*)> memory_;
  const MutableByteSpan bytes_;
};

}  // namespace

class RemoteDevice::RemoteWindow final : public Window {
 public:
  RemoteWindow(RemoteDevice& device, const WindowTarget& target)
      : device_(device), target_(target), kind_(device.KindOf(target.start)) {}

  Status Read(uint64_t address, MutableByteSpan to) override {
    if (target_.multicast) return InvalidArgument("a multicast window is write only");
    RETURN_IF_ERROR(Check(address, to.size()));
    if (to.empty()) return OkStatus();
    return device_.link_->Read(Xy(target_.start), address, to);
  }

  Status Write(uint64_t address, ByteSpan from) override {
    RETURN_IF_ERROR(Check(address, from.size()));
    if (from.empty()) return OkStatus();
    if (target_.multicast) {
      return device_.link_->Multicast(target_.start, target_.end,
                                      device_.CountTensix(target_.start, target_.end), address,
                                      from);
    }
    if (kind_ == TileKind::kArc) return InvalidArgument("the ARC tile is not written over a link");
    if (!IsRegister(address)) return device_.link_->Write(Xy(target_.start), address, from);
    return device_.link_->WriteRegister(Xy(target_.start), static_cast<uint32_t>(address),
                                        LoadAt<uint32_t>(from.data()));
  }

 private:
  static uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

  Status Check(uint64_t address, size_t bytes) const {
    switch (kind_) {
      case TileKind::kArc:
        return CheckRegister(address, bytes);
      case TileKind::kDram:
        return CheckMemory(address, bytes, hw::kDramBankBytes);
      case TileKind::kTensix:
        return IsRegister(address) ? CheckRegister(address, bytes)
                                   : CheckMemory(address, bytes, hw::kL1Bytes);
      case TileKind::kEthernet:
        if (address >= hw::kEthLinkFirmware) return CheckRegister(address, bytes);
        return CheckMemory(address, bytes, hw::kEthLinkFirmware);
      case TileKind::kNone:
        break;
    }
    return InvalidArgument("the chip has no tile ({},{})", target_.start.x, target_.start.y);
  }

  RemoteDevice& device_;
  const WindowTarget target_;
  const TileKind kind_;
};

StatusOr<std::unique_ptr<RemoteDevice>> RemoteDevice::Open(std::shared_ptr<Device> front,
                                                           const LinkStatus& at, std::string name,
                                                           Clock& clock) {
  if (!at.peer) return Error(StatusCode::kFailedPrecondition, "{}: the link is not up", name);
  ASSIGN_OR_RETURN(EthernetEnd near, EthernetEnd::Open(*front, at.channel, std::move(name), clock));
  const uint32_t far_xy =
      hw::NocXy(hw::kEthTranslatedX + at.peer->logical_channel, hw::kEthTranslatedY);
  ASSIGN_OR_RETURN(std::unique_ptr<RemoteLink> link, RemoteLink::Open(std::move(near), far_xy));
  std::unique_ptr<RemoteDevice> device(new RemoteDevice(std::move(front), std::move(link)));
  RETURN_IF_ERROR(device->ReadInfo());
  return device;
}

Status RemoteDevice::ReadInfo() {
  RemoteWindow arc(*this, UnicastTarget(hw::kArc));
  ASSIGN_OR_RETURN(const Telemetry telemetry, Telemetry::Find(arc));
  ASSIGN_OR_RETURN(info_, ReadCardInfo(telemetry, arc));
  const DeviceInfo& front = front_->info();
  info_.backend = front.backend;
  info_.memory_is_zero_after_power_on = front.memory_is_zero_after_power_on;
  info_.iommu = front.iommu;
  info_.reports_quiescence = front.reports_quiescence;
  info_.runs_by_itself = front.runs_by_itself;
  return OkStatus();
}

StatusOr<std::unique_ptr<Window>> RemoteDevice::OpenWindow(const WindowTarget& target) {
  RETURN_IF_ERROR(CheckTarget(target));
  if (target.multicast && CountTensix(target.start, target.end) == 0) {
    return InvalidArgument("no Tensix tile from ({},{}) to ({},{})", target.start.x, target.start.y,
                           target.end.x, target.end.y);
  }
  return std::make_unique<RemoteWindow>(*this, target);
}

StatusOr<std::unique_ptr<HostMemory>> RemoteDevice::AllocateHostMemory(uint64_t size_bytes) {
  if (size_bytes == 0) return InvalidArgument("host memory of no bytes");
  return std::make_unique<ProcessMemory>(
      static_cast<size_t>(AlignUp(size_bytes, ProcessMemory::kAlignment)));
}

Status RemoteDevice::Reset() {
  ++resets_;
  RETURN_IF_ERROR(link_->Reopen());
  const hw::Coordinate first = {info_.tensix_columns.front(), hw::kTensixFirstRow};
  const hw::Coordinate last = {info_.tensix_columns.back(),
                               hw::kTensixFirstRow + hw::kTensixRows - 1};
  RemoteWindow all(*this, {first, last, true, WindowOrdering::kStrict});
  // libttsim has no reset of the engine.
  if (info_.backend != "ttsim") {
    RETURN_IF_ERROR(WriteWord(all, hw::kSoftReset0, hw::kSoftResetEverything));
  }
  RETURN_IF_ERROR(WriteWord(all, hw::kSoftReset0, hw::kSoftResetAllHarts));
  for (const uint32_t x : info_.tensix_columns) {
    for (uint32_t row = 0; row < hw::kTensixRows; ++row) {
      const hw::Coordinate at = {x, hw::kTensixFirstRow + row};
      RemoteWindow tile(*this, UnicastTarget(at));
      ASSIGN_OR_RETURN(const uint32_t held, ReadWord(tile, hw::kSoftReset0));
      if (held == hw::kSoftResetAllHarts) continue;
      return ProblemError(Problem::kCardLost, StatusCode::kUnavailable,
                          "tile ({},{}) does not hold its harts (SOFT_RESET_0 is {:#x})", at.x,
                          at.y, held);
    }
  }
  return OkStatus();
}

Status RemoteDevice::CheckPresence() {
  RETURN_IF_ERROR(front_->CheckPresence());
  RETURN_IF_ERROR(link_->lost());
  const uint32_t row = hw::kTensixFirstRow;
  RemoteWindow tile(*this, UnicastTarget({info_.tensix_columns.front(), row}));
  return ReadWord(tile, hw::kSoftReset0).status();
}

RemoteDevice::TileKind RemoteDevice::KindOf(hw::Coordinate at) const {
  if (at == hw::kArc) return TileKind::kArc;
  const bool is_row = at.y >= hw::kTensixFirstRow && at.y < hw::kTensixFirstRow + hw::kTensixRows;
  const std::vector<uint32_t>& columns = info_.tensix_columns;
  if (is_row && std::binary_search(columns.begin(), columns.end(), at.x)) return TileKind::kTensix;
  if (at.y == hw::kEthTranslatedY && at.x >= hw::kEthTranslatedX &&
      at.x - hw::kEthTranslatedX < info_.ethernet_channels.size()) {
    return TileKind::kEthernet;
  }
  for (const std::vector<uint32_t>& ports : info_.dram_port_xy) {
    if (std::find(ports.begin(), ports.end(), hw::NocXy(at.x, at.y)) != ports.end()) {
      return TileKind::kDram;
    }
  }
  return TileKind::kNone;
}

uint32_t RemoteDevice::CountTensix(hw::Coordinate start, hw::Coordinate end) const {
  const auto columns = std::count_if(info_.tensix_columns.begin(), info_.tensix_columns.end(),
                                     [&](uint32_t x) { return x >= start.x && x <= end.x; });
  const uint32_t first = std::max(start.y, hw::kTensixFirstRow);
  const uint32_t last = std::min(end.y, hw::kTensixFirstRow + hw::kTensixRows - 1);
  return last < first ? 0 : static_cast<uint32_t>(columns) * (last - first + 1);
}

}  // namespace ttfd
