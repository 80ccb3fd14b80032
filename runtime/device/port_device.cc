// Windows, host memory and reset over a PciePort.
#include "runtime/device/port_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "runtime/base/bits.h"
#include "runtime/base/unique_fd.h"
#include "runtime/device/card_info.h"
#include "runtime/hw/noc.h"

namespace ttfd {
namespace {

constexpr uint64_t kHostMemoryGranule = 64 * 1024;
// All host memory lies in the last 4 GiB of the window, where the vendor's driver puts it too.
constexpr uint64_t kHostMemorySpace = hw::kHostMemoryWindowBytes;
constexpr uint64_t kHostMemoryBytes = uint64_t{4} << 30;
constexpr uint64_t kHostMemoryBegin = kHostMemorySpace - kHostMemoryBytes;
// Bus addresses differ from NoC offsets, so that a missing translation shows at once.
constexpr uint64_t kBusBase = uint64_t{1} << 40;  // of device 0; the others behind it

// The 96-bit register of a 2 MiB window.
std::array<uint32_t, 3> TlbWords(const WindowTarget& target, uint64_t base) {
  std::array<uint32_t, 3> words{};
  const auto put = [&words](uint64_t value, uint32_t bit) {
    for (; value != 0; value &= value - 1) {
      const uint32_t at = bit + static_cast<uint32_t>(std::countr_zero(value));
      words[at / 32] |= 1u << at % 32;
    }
  };
  put(base >> 21, 0);
  put(target.end.x, hw::kTlbXEndBit);
  put(target.end.y, hw::kTlbYEndBit);
  if (target.multicast) {
    put(target.start.x, hw::kTlbXStartBit);
    put(target.start.y, hw::kTlbYStartBit);
    put(1, hw::kTlbMulticastBit);
  }
  put(target.ordering == WindowOrdering::kStrict ? 1 : 0, hw::kTlbOrderingBit);
  return words;
}

}  // namespace

// One view; holds a hardware window while it is in use.
class PortDevice::PortWindow final : public Window {
 public:
  PortWindow(PortDevice& device, const WindowTarget& target) : device_(device), target_(target) {}
  ~PortWindow() override {
    if (slot_ < kSlots) device_.slots_[slot_].owner = nullptr;
  }

  Status Read(uint64_t address, MutableByteSpan to) override {
    if (target_.multicast) return InvalidArgument("a multicast window is write only");
    while (!to.empty()) {
      uint64_t offset = 0;
      const size_t part = Part(address, to.size());
      RETURN_IF_ERROR(PointAt(address, &offset));
      RETURN_IF_ERROR(device_.port_->BarRead(0, offset, to.first(part)));
      address += part;
      to = to.subspan(part);
    }
    return OkStatus();
  }

  Status Write(uint64_t address, ByteSpan from) override {
    while (!from.empty()) {
      uint64_t offset = 0;
      const size_t part = Part(address, from.size());
      RETURN_IF_ERROR(PointAt(address, &offset));
      RETURN_IF_ERROR(device_.port_->BarWrite(0, offset, from.first(part)));
      address += part;
      from = from.subspan(part);
    }
    return OkStatus();
  }

 private:
  friend class PortDevice;
  static constexpr uint32_t kNoSlot = kSlots;
  static constexpr uint64_t kNowhere = ~uint64_t{0};  // never the start of a window

  static size_t Part(uint64_t address, size_t size) {
    const uint64_t left = hw::kTlbWindow2MBytes - address % hw::kTlbWindow2MBytes;
    return static_cast<size_t>(std::min<uint64_t>(left, size));
  }

  // BAR0 offset of `address`, after moving the hardware window if need be.
  Status PointAt(uint64_t address, uint64_t* offset) {
    const uint64_t base = address & ~(hw::kTlbWindow2MBytes - 1);
    if (slot_ == kNoSlot || base != base_) RETURN_IF_ERROR(device_.Point(*this, base));
    device_.slots_[slot_].last_use = ++device_.uses_;
    *offset = slot_ * hw::kTlbWindow2MBytes + (address - base);
    return OkStatus();
  }

  PortDevice& device_;
  const WindowTarget target_;
  uint32_t slot_ = kNoSlot;
  uint64_t base_ = kNowhere;
};

// One mapping of this process's memory, one iATU region.
class PortDevice::PortHostMemory final : public HostMemory {
 public:
  PortHostMemory(PortDevice& device, uint32_t region, uint64_t offset, MutableByteSpan memory)
      : device_(device), region_(region), offset_(offset), memory_(memory) {
    device_.regions_[region_] = this;
  }
  ~PortHostMemory() override {
    // A dead card cannot be told; its translation is gone with it.
    (void)device_.WriteTranslation(region_, false);
    (void)device_.port_->MapHostMemory(bus_address(), {});
    device_.regions_[region_] = nullptr;
    munmap(memory_.data(), memory_.size());
  }

  MutableByteSpan bytes() override { return memory_; }
  uint64_t noc_address() const override { return hw::kHostMemoryNocBase + offset_; }

  uint64_t offset() const { return offset_; }
  uint64_t begin() const { return offset_ & ~(kHostMemoryGranule - 1); }
  uint64_t end() const { return offset_ + memory_.size(); }
  uint64_t bus_address() const {
    return kBusBase + device_.number_ * kHostMemoryBytes + (offset_ - kHostMemoryBegin);
  }
  uint64_t size() const { return memory_.size(); }

 private:
  PortDevice& device_;
  const uint32_t region_;
  const uint64_t offset_;  // from kHostMemoryNocBase
  const MutableByteSpan memory_;
};

StatusOr<std::unique_ptr<PortDevice>> PortDevice::Open(std::unique_ptr<PciePort> port,
                                                       const PortTraits& traits) {
  std::unique_ptr<PortDevice> device(new PortDevice(std::move(port), traits.number));
  RETURN_IF_ERROR(device->port_->Reset());
  ASSIGN_OR_RETURN(const uint32_t id, device->port_->ConfigRead(0));
  if (id != (hw::kPciDeviceId << 16 | hw::kPciVendorId)) {
    return Error(StatusCode::kFailedPrecondition, "PCI id {:#x} is not a Blackhole's", id);
  }
  uint32_t niu_config = 0;
  RETURN_IF_ERROR(
      device->port_->BarRead(0, hw::kBar0Niu0 + hw::kNocConfig0, MutableBytesOf(niu_config)));
  if ((niu_config & hw::kNocConfig0Translation) == 0) {
    return Error(StatusCode::kFailedPrecondition,
                 "the card runs without NoC coordinate translation (NIU_CFG_0 is {:#x})",
                 niu_config);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Window> arc, device->OpenWindow(UnicastTarget(hw::kArc)));
  ASSIGN_OR_RETURN(const Telemetry telemetry, Telemetry::Find(*arc));
  ASSIGN_OR_RETURN(device->info_, ReadCardInfo(telemetry, *arc));
  device->info_.backend = traits.backend;
  device->info_.memory_is_zero_after_power_on = traits.memory_is_zero_after_power_on;
  device->info_.iommu = traits.iommu;
  device->info_.memory_survives_reset = traits.memory_survives_reset;
  device->info_.reports_quiescence = traits.reports_quiescence;
  return device;
}

PortDevice::~PortDevice() = default;

StatusOr<std::unique_ptr<Window>> PortDevice::OpenWindow(const WindowTarget& target) {
  RETURN_IF_ERROR(CheckTarget(target));
  return std::make_unique<PortWindow>(*this, target);
}

uint32_t PortDevice::ChooseSlot() const {
  const auto less_useful = [](const Slot& a, const Slot& b) {
    if ((a.owner == nullptr) != (b.owner == nullptr)) return a.owner == nullptr;
    return a.last_use < b.last_use;
  };
  return static_cast<uint32_t>(std::min_element(slots_.begin(), slots_.end(), less_useful) -
                               slots_.begin());
}

Status PortDevice::Point(PortWindow& window, uint64_t base) {
  if (window.slot_ == PortWindow::kNoSlot) {
    const uint32_t chosen = ChooseSlot();
    if (slots_[chosen].owner != nullptr) slots_[chosen].owner->slot_ = PortWindow::kNoSlot;
    slots_[chosen].owner = &window;
    window.slot_ = chosen;
  }
  window.base_ = PortWindow::kNowhere;  // until all three words are written
  RETURN_IF_ERROR(WriteTlbRegister(window.slot_, TlbWords(window.target_, base)));
  window.base_ = base;
  return OkStatus();
}

Status PortDevice::WriteTlbRegister(uint32_t slot, const std::array<uint32_t, 3>& words) {
  Slot& state = slots_[slot];
  for (uint32_t i = 0; i < words.size(); ++i) {
    if (state.known && state.words[i] == words[i]) continue;
    const uint64_t offset = hw::kTlbRegisters + slot * hw::kTlbRegisterStride + 4 * i;
    RETURN_IF_ERROR(port_->BarWrite(0, offset, BytesOf(words[i])));
    state.words[i] = words[i];
  }
  state.known = true;
  return OkStatus();
}

StatusOr<std::unique_ptr<HostMemory>> PortDevice::AllocateHostMemory(uint64_t size_bytes) {
  if (size_bytes == 0) return InvalidArgument("host memory of no bytes");
  constexpr uint64_t kPage = 4096;
  if (size_bytes > kHostMemoryBytes) {
    return Error(StatusCode::kResourceExhausted, "{} bytes of host memory; at most {} fit",
                 size_bytes, kHostMemoryBytes);
  }
  const uint64_t size = AlignUp(size_bytes, kPage);
  const auto free_region = std::find(regions_.begin(), regions_.end(), nullptr);
  if (free_region == regions_.end()) {
    return Error(StatusCode::kResourceExhausted, "all {} iATU regions are in use",
                 hw::kIatuRegions);
  }
  // First fit from the top: below nothing, or below one of the others.
  uint64_t end = 0;
  const auto fits = [this, size](uint64_t at) {
    return at - size >= kHostMemoryBegin &&
           std::all_of(regions_.begin(), regions_.end(), [at, size](const PortHostMemory* other) {
             return other == nullptr || at <= other->begin() || at - size >= other->end();
           });
  };
  if (fits(kHostMemorySpace)) end = kHostMemorySpace;
  for (const PortHostMemory* other : regions_) {
    if (other != nullptr && other->begin() > end && fits(other->begin())) end = other->begin();
  }
  if (end == 0) {
    return Error(StatusCode::kResourceExhausted, "no {} contiguous bytes left for host memory",
                 size);
  }
  const uint64_t offset = end - size;
  // A file, so that a chip in another process can map it too.
  const UniqueFd file(memfd_create("ttfd-host-memory", MFD_CLOEXEC));
  void* const address = file.valid() && ftruncate(file.get(), static_cast<off_t>(size)) == 0
                            ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0)
                            : MAP_FAILED;
  if (address == MAP_FAILED) {
    return Error(StatusCode::kResourceExhausted, "{} bytes of host memory: {}", size,
                 std::strerror(errno));
  }
  const auto region = static_cast<uint32_t>(free_region - regions_.begin());
  auto memory = std::make_unique<PortHostMemory>(
      *this, region, offset, MutableByteSpan(static_cast<std::byte*>(address), size));
  RETURN_IF_ERROR(port_->MapHostMemory(memory->bus_address(), {memory->bytes(), file.get()}));
  RETURN_IF_ERROR(WriteTranslation(region, true));
  return memory;
}

Status PortDevice::WriteBar2(uint64_t offset, uint32_t value) {
  return port_->BarWrite(2, offset, BytesOf(value));
}

Status PortDevice::WriteTranslation(uint32_t region, bool enable) {
  const uint64_t base = hw::kIatuOutbound + region * hw::kIatuStride;
  RETURN_IF_ERROR(WriteBar2(base + hw::kIatuControl2, 0));
  if (!enable) return OkStatus();
  const PortHostMemory& memory = *regions_[region];
  const uint64_t limit = memory.offset() + memory.size() - 1;
  const auto low = [](uint64_t value) { return static_cast<uint32_t>(value); };
  const auto high = [](uint64_t value) { return static_cast<uint32_t>(value >> 32); };
  RETURN_IF_ERROR(WriteBar2(base + hw::kIatuControl1, 0));
  RETURN_IF_ERROR(WriteBar2(base + hw::kIatuControl3, 0));
  RETURN_IF_ERROR(WriteBar2(base + hw::kIatuBaseLow, low(memory.offset())));
  RETURN_IF_ERROR(WriteBar2(base + hw::kIatuBaseHigh, high(memory.offset())));
  RETURN_IF_ERROR(WriteBar2(base + hw::kIatuLimitLow, low(limit)));
  RETURN_IF_ERROR(WriteBar2(base + hw::kIatuLimitHigh, high(limit)));
  RETURN_IF_ERROR(WriteBar2(base + hw::kIatuTargetLow, low(memory.bus_address())));
  RETURN_IF_ERROR(WriteBar2(base + hw::kIatuTargetHigh, high(memory.bus_address())));
  return WriteBar2(base + hw::kIatuControl2, hw::kIatuControl2Enable);
}

Status PortDevice::Reset() {
  ++resets_;
  returned_ = OkStatus();
  // A reset that fails may have cleared the registers too: they are programmed at the next use.
  for (Slot& slot : slots_) {
    slot.known = false;
    if (slot.owner != nullptr) slot.owner->base_ = PortWindow::kNowhere;
  }
  RETURN_IF_ERROR(port_->Reset());
  for (uint32_t region = 0; region < regions_.size(); ++region) {
    if (regions_[region] != nullptr) RETURN_IF_ERROR(WriteTranslation(region, true));
  }
  return OkStatus();
}

}  // namespace ttfd
