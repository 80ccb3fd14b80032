#include "tests/support/kmd_standin_pins.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "runtime/hw/pcie.h"

namespace ttfd {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kSpace = hw::kHostMemoryWindowBytes;
constexpr uint64_t kMostRegionBytes = uint64_t{1} << 40;
constexpr kmd::DriverVersion kTopDownAlone = {2, 4, 0};
constexpr uint32_t kKnownFlags =
    kmd::kPinContiguous | kmd::kPinForNoc | kmd::kPinTopDown | kmd::kPinReadOnly;

bool IsMapped(uint64_t address, uint64_t bytes) {
  return msync(reinterpret_cast<void*>(address), bytes, MS_ASYNC) == 0;
}

}  // namespace

int StandinPins::Pin(int owner, kmd::PinPagesCall* call) {
  if (call->bytes == 0 || call->bytes % kPage != 0 || call->address % kPage != 0) return EINVAL;
  if ((call->flags & ~kKnownFlags) != 0) return EINVAL;
  if ((call->flags & kmd::kPinReadOnly) != 0 && !iommu_) return EOPNOTSUPP;
  const bool again = std::any_of(pins_.begin(), pins_.end(), [&](const PinnedPages& pin) {
    return pin.owner == owner && pin.address == call->address && pin.bytes == call->bytes;
  });
  if (again) return EEXIST;
  if (!IsMapped(call->address, call->bytes)) return EFAULT;
  if (!iommu_ && !memory_.AreConsecutive(call->address, call->bytes)) return EINVAL;
  const bool top_down = (call->flags & kmd::kPinTopDown) != 0;
  PinnedPages pin = {owner, call->address, call->bytes, next_bus_address_, -1, 0};
  const bool alone = version_ >= kTopDownAlone;
  if ((top_down && alone) || (call->flags & kmd::kPinForNoc) != 0) {
    if (const int error = PlaceRegion(&pin, top_down); error != 0) return error;
  }
  const MutableByteSpan memory(reinterpret_cast<std::byte*>(pin.address), pin.bytes);
  if (pin.bus_address < kSpace) (void)port_.MapHostMemory(pin.bus_address, {memory});
  next_bus_address_ += pin.bytes + kPage;  // a packet that leaves the pages finds nothing
  WriteRegion(pin, true);
  pins_.push_back(pin);
  call->bus_address = pin.bus_address;
  if (call->output_bytes >= kmd::kPinPagesOutput) {
    call->noc_address = pin.region < 0 ? 0 : hw::kHostMemoryNocBase + pin.offset;
  }
  return 0;
}

int StandinPins::PlaceRegion(PinnedPages* pin, bool top_down) const {
  if (pin->bytes > kMostRegionBytes) return EINVAL;
  for (pin->region = 0;; ++pin->region) {
    if (pin->region == hw::kIatuRegions) return ENOSPC;
    if (std::none_of(pins_.begin(), pins_.end(),
                     [&](const PinnedPages& other) { return other.region == pin->region; }))
      break;
  }
  std::vector<std::pair<uint64_t, uint64_t>> taken = taken_;
  for (const PinnedPages& other : pins_) {
    if (other.region >= 0) taken.emplace_back(other.offset, other.offset + other.bytes);
  }
  const auto fits = [&](uint64_t offset) {
    return offset <= kSpace - pin->bytes &&
           std::all_of(taken.begin(), taken.end(), [&](const auto& range) {
             return offset >= range.second || offset + pin->bytes <= range.first;
           });
  };
  std::vector<uint64_t> places = {top_down ? kSpace - pin->bytes : 0};
  for (const auto& [begin, end] : taken) places.push_back(top_down ? begin - pin->bytes : end);
  std::sort(places.begin(), places.end());
  if (top_down) std::reverse(places.begin(), places.end());
  const auto place = std::find_if(places.begin(), places.end(), fits);
  if (place == places.end()) return ENOMEM;
  pin->offset = *place;
  return 0;
}

int StandinPins::Unpin(int owner, const kmd::UnpinPagesCall& call) {
  if (call.reserved != 0) return EINVAL;
  const auto found = std::find_if(pins_.begin(), pins_.end(), [&](const PinnedPages& pin) {
    return pin.owner == owner && pin.address == call.address && pin.bytes == call.bytes;
  });
  if (found == pins_.end()) return EINVAL;
  Release(*found);
  pins_.erase(found);
  return 0;
}

void StandinPins::ReleaseAllOf(int owner) {
  std::erase_if(pins_, [&](const PinnedPages& pin) {
    if (pin.owner == owner) Release(pin);
    return pin.owner == owner;
  });
}

std::byte* StandinPins::Translate(uint64_t noc_address) const {
  const uint64_t offset = noc_address - hw::kHostMemoryNocBase;
  const auto found = std::find_if(pins_.begin(), pins_.end(), [&](const PinnedPages& pin) {
    return pin.region >= 0 && offset >= pin.offset && offset - pin.offset < pin.bytes;
  });
  if (found == pins_.end()) return nullptr;
  return reinterpret_cast<std::byte*>(found->address + (offset - found->offset));
}

void StandinPins::DiscardRegions() {
  for (PinnedPages& pin : pins_) pin.region = -1;
}

void StandinPins::Release(const PinnedPages& pin) {
  WriteRegion(pin, false);
  (void)port_.MapHostMemory(pin.bus_address, {});
}

// The driver clears the enable bit last when it releases a region; the model refuses that order, and looks the
// same after.
void StandinPins::WriteRegion(const PinnedPages& pin, bool enable) {
  if (pin.region < 0) return;
  const uint64_t base = hw::kIatuOutbound + static_cast<uint64_t>(pin.region) * hw::kIatuStride;
  const auto write = [&](uint32_t reg, uint64_t value) {
    const auto word = static_cast<uint32_t>(value);
    (void)port_.BarWrite(2, base + reg, BytesOf(word));
  };
  write(hw::kIatuControl2, 0);
  if (!enable) return;
  const uint64_t limit = pin.offset + pin.bytes - 1;
  write(hw::kIatuControl1, hw::kIatuControl1IncreaseSize);
  write(hw::kIatuControl3, 0);
  write(hw::kIatuBaseLow, pin.offset);
  write(hw::kIatuBaseHigh, pin.offset >> 32);
  write(hw::kIatuLimitLow, limit);
  write(hw::kIatuLimitHigh, limit >> 32);
  write(hw::kIatuTargetLow, pin.bus_address);
  write(hw::kIatuTargetHigh, pin.bus_address >> 32);
  write(hw::kIatuControl2, hw::kIatuControl2Enable);
}

}  // namespace ttfd
