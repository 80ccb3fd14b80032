#include "tests/support/kmd_standin_windows.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace ttfd {
namespace {

constexpr uint64_t kUncachedOffset = uint64_t{6} << 36;
constexpr uint64_t kWriteCombiningOffset = uint64_t{7} << 36;
constexpr uint64_t kLineBytes = 64;

using Words = std::array<uint32_t, 3>;

Words RegisterOf(const kmd::WindowConfig& config) {
  Words words{};
  const auto put = [&words](uint64_t value, uint32_t bit) {
    for (uint32_t i = 0; i < 64 && value >> i != 0; ++i) {
      if ((value >> i & 1) != 0) words[(bit + i) / 32] |= 1u << (bit + i) % 32;
    }
  };
  put(config.address / hw::kTlbWindow2MBytes, 0);
  put(config.x_end, hw::kTlbXEndBit);
  put(config.y_end, hw::kTlbYEndBit);
  put(config.x_start, hw::kTlbXStartBit);
  put(config.y_start, hw::kTlbYStartBit);
  put(config.noc, hw::kTlbNocBit);
  put(config.multicast, hw::kTlbMulticastBit);
  put(config.ordering, hw::kTlbOrderingBit);
  put(config.linked, hw::kTlbLinkedBit);
  put(config.static_vc, hw::kTlbStaticVcBit);
  return words;
}

}  // namespace

StandinWindows::~StandinWindows() {
  for (const auto& [begin, mapping] : mappings_) munmap(begin, mapping.size);
}

int StandinWindows::Allocate(int owner, kmd::AllocateWindowCall* call) {
  if (call->bytes == hw::kTlbWindow4GBytes) return ENOMEM;  // as on a card without BAR4
  if (call->bytes != hw::kTlbWindow2MBytes) return EINVAL;
  const auto free =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.owner == 0; });
  if (free == slots_.end()) return ENOMEM;
  *free = {.owner = owner, .mappings = 0};
  call->id = static_cast<uint32_t>(free - slots_.begin());
  call->uncached_offset = kUncachedOffset + call->id * hw::kTlbWindow2MBytes;
  call->write_combining_offset = kWriteCombiningOffset + call->id * hw::kTlbWindow2MBytes;
  return 0;
}

int StandinWindows::Free(int owner, const kmd::FreeWindowCall& call) {
  if (call.id >= kCount) return EINVAL;
  Slot& slot = slots_[call.id];
  if (slot.owner != owner) return EPERM;
  if (slot.mappings != 0) return EBUSY;
  slot = {};
  return 0;
}

int StandinWindows::Configure(int owner, const kmd::ConfigureWindowCall& call) {
  if (call.id >= kCount) return EINVAL;
  if (slots_[call.id].owner != owner) return EPERM;
  if (call.config.address % hw::kTlbWindow2MBytes != 0) return EINVAL;
  Point(call.id, call.config);
  return 0;
}

void StandinWindows::Point(uint32_t window, const kmd::WindowConfig& config) {
  const Words words = RegisterOf(config);
  for (uint32_t i = 0; i < words.size(); ++i) {
    (void)port_.BarWrite(0, hw::kTlbRegisters + window * hw::kTlbRegisterStride + 4 * i,
                         BytesOf(words[i]));
  }
}

uint64_t StandinWindows::PointAsDriver(hw::Coordinate tile, uint64_t address) {
  const uint64_t offset = address % hw::kTlbWindow2MBytes;
  Point(hw::kTlbWindowKernel, {.address = address - offset,
                               .x_end = static_cast<uint16_t>(tile.x),
                               .y_end = static_cast<uint16_t>(tile.y),
                               .ordering = kmd::kOrderingStrict});
  return hw::kTlbWindowKernel * hw::kTlbWindow2MBytes + offset;
}

Status StandinWindows::WriteAsDriver(hw::Coordinate tile, uint64_t address, uint32_t word) {
  return port_.BarWrite(0, PointAsDriver(tile, address), BytesOf(word));
}

StatusOr<uint32_t> StandinWindows::ReadAsDriver(hw::Coordinate tile, uint64_t address) {
  uint32_t word = 0;
  RETURN_IF_ERROR(port_.BarRead(0, PointAsDriver(tile, address), MutableBytesOf(word)));
  return word;
}

void StandinWindows::ReleaseAllOf(int owner) {
  for (Slot& slot : slots_) {
    if (slot.owner == owner) slot = {};
  }
}

void StandinWindows::WithdrawMappings() {
  combining_.clear();
  for (auto& [begin, mapping] : mappings_) mapping.withdrawn = true;
}

int StandinWindows::Map(int owner, uint64_t offset, size_t size, kmd::Mapping* mapping) {
  const bool write_combining = offset >= kWriteCombiningOffset;
  const uint64_t in_bar = offset - (write_combining ? kWriteCombiningOffset : kUncachedOffset);
  if (offset < kUncachedOffset || in_bar % hw::kTlbWindow2MBytes != 0) return EINVAL;
  const uint64_t window = in_bar / hw::kTlbWindow2MBytes;
  if (window >= kCount || size > hw::kTlbWindow2MBytes) return EINVAL;
  if (slots_[window].owner != owner) return EPERM;
  // Addresses that fault when anything but the bus touches them.
  void* const begin =
      mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return ENOMEM;
  mapping->begin = static_cast<std::byte*>(begin);
  mapping->size = size;
  mappings_[mapping->begin] = {.begin = mapping->begin,
                               .size = size,
                               .window = static_cast<uint32_t>(window),
                               .write_combining = write_combining,
                               .withdrawn = false,
                               .owner = owner};
  ++slots_[window].mappings;
  return 0;
}

int StandinWindows::Unmap(const kmd::Mapping& mapping, int* owner) {
  const auto found = mappings_.find(mapping.begin);
  if (found == mappings_.end() || found->second.size != mapping.size) return EINVAL;
  *owner = found->second.owner;
  Slot& slot = slots_[found->second.window];
  if (slot.owner == *owner) --slot.mappings;
  munmap(mapping.begin, mapping.size);
  mappings_.erase(found);
  return 0;
}

StandinMapping* StandinWindows::Find(const kmd::Mapping& mapping) {
  const auto found = mappings_.find(mapping.begin);
  return found == mappings_.end() ? nullptr : &found->second;
}

Status StandinWindows::Load(const StandinMapping& mapping, uint64_t offset, uint32_t* value) {
  return port_.BarRead(0, mapping.window * hw::kTlbWindow2MBytes + offset, MutableBytesOf(*value));
}

Status StandinWindows::Store(const StandinMapping& mapping, uint64_t offset, ByteSpan bytes) {
  return port_.BarWrite(0, mapping.window * hw::kTlbWindow2MBytes + offset, bytes);
}

void StandinWindows::Combine(const StandinMapping& mapping, uint64_t offset, ByteSpan words) {
  while (!words.empty()) {
    const size_t part = std::min<size_t>(words.size(), kLineBytes - offset % kLineBytes);
    combining_.push_back({mapping.window * hw::kTlbWindow2MBytes + offset,
                          {words.begin(), words.begin() + static_cast<ptrdiff_t>(part)}});
    offset += part;
    words = words.subspan(part);
  }
}

Status StandinWindows::Drain() {
  Status first;
  for (; !combining_.empty(); combining_.pop_back()) {
    const Line& line = combining_.back();
    first.Update(port_.BarWrite(0, line.bar_offset, line.bytes));
  }
  return first;
}

uint32_t StandinWindows::in_use() const {
  return static_cast<uint32_t>(std::count_if(slots_.begin(), slots_.end(),
                                             [](const Slot& slot) { return slot.owner != 0; }));
}

}  // namespace ttfd
