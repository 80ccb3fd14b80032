// Maps, pins, checks the addresses, hands out parts.
#include "runtime/device/kmd/host_arena.h"

#include <cassert>
#include <cstring>

#include "runtime/base/bits.h"
#include "runtime/device/kmd/errors.h"
#include "runtime/device/problem.h"
#include "runtime/hw/pcie.h"

namespace ttfd::kmd {
namespace {

constexpr uint64_t kNocEnd = hw::kHostMemoryNocBase + hw::kHostMemoryWindowBytes;
// Drivers before 2.10 let the host choose bus addresses of 64 bits, whose top 6 would choose another window of the
// PCIe tile.
constexpr uint64_t kBusAddressEnd = hw::kHostMemoryWindowBytes;

}  // namespace

// A part of the arena.
class HostArena::Allocation final : public HostMemory {
 public:
  Allocation(HostArena& arena, uint64_t offset, uint64_t bytes)
      : arena_(arena), offset_(offset), bytes_(bytes) {}
  ~Allocation() override { arena_.free_.Give(offset_, bytes_); }

  MutableByteSpan bytes() override { return arena_.memory_.subspan(offset_, bytes_); }
  uint64_t noc_address() const override { return arena_.noc_address_ + offset_; }

 private:
  HostArena& arena_;
  const uint64_t offset_;
  const uint64_t bytes_;
};

StatusOr<std::unique_ptr<HostArena>> HostArena::Open(Node& node, uint64_t bytes) {
  RETURN_IF_ERROR(node.lost());
  if (bytes == 0) return InvalidArgument("an arena of no bytes");
  std::unique_ptr<HostArena> arena(new HostArena(node));
  RETURN_IF_ERROR(arena->MapMemory(bytes));
  arena->free_ = FreeList(0, arena->memory_.size());
  return arena;
}

HostArena::~HostArena() {
  assert(free_.free_bytes() == free_.largest());
  for (const MutableByteSpan& extent : pinned_) {
    UnpinPagesCall call = {.address = reinterpret_cast<uint64_t>(extent.data()),
                           .bytes = extent.size(),
                           .reserved = 0};
    node_.Call(kUnpinPages, &call);
  }
  if (!memory_.empty()) node_.UnmapMemory(memory_);
}

StatusOr<std::unique_ptr<HostMemory>> HostArena::Allocate(uint64_t size_bytes) {
  RETURN_IF_ERROR(node_.lost());
  if (size_bytes == 0) return InvalidArgument("host memory of no bytes");
  if (size_bytes > free_.largest()) {
    return ArenaFull(size_bytes, free_.largest(), memory_.size());
  }
  // The arena is whole pages, so rounding up stays within the free range.
  const uint64_t bytes = AlignUp(size_bytes, kPageBytes);
  const uint64_t offset = free_.Take(bytes).value();
  std::memset(memory_.data() + offset, 0, bytes);
  return std::make_unique<Allocation>(*this, offset, bytes);
}

bool HostArena::Map(uint64_t bytes, uint64_t page_bytes) {
  return node_.MapMemory(AlignUp(bytes, page_bytes), page_bytes, &memory_) == 0;
}

Status HostArena::MapMemory(uint64_t bytes) {
  if (node_.iommu()) {
    if (!Map(bytes, kPageBytes)) {
      return ProblemError(Problem::kNoHostMemory, StatusCode::kResourceExhausted,
                          "the host has no {} bytes of memory for the card's queues: free memory "
                          "or ask for less",
                          bytes);
    }
    extent_bytes_ = memory_.size();
  } else if (bytes <= kGiantPageBytes && Map(bytes, kGiantPageBytes)) {
    extent_bytes_ = kGiantPageBytes;
  } else if (bytes <= hw::kIatuRegions * kHugePageBytes && Map(bytes, kHugePageBytes)) {
    extent_bytes_ = kHugePageBytes;
  } else {
    return NoHugepages(bytes);
  }
  return OkStatus();
}

// In extents of extent_bytes_, from the last to the first.
Status HostArena::Pin() {
  pinned_.clear();
  for (uint64_t end = memory_.size(); end != 0; end -= extent_bytes_) {
    RETURN_IF_ERROR(PinExtent(memory_.subspan(end - extent_bytes_, extent_bytes_)));
  }
  return CheckPlace();
}

Status HostArena::PinExtent(MutableByteSpan extent) {
  PinPagesCall call = {};
  call.output_bytes = kPinPagesOutput;
  call.flags = kPinForNoc | kPinTopDown;
  call.address = reinterpret_cast<uint64_t>(extent.data());
  call.bytes = extent.size();
  const int error = node_.Call(kPinPages, &call);
  RETURN_IF_ERROR(node_.lost());
  if (error != 0) return PinRefused(error, extent.size());
  const bool adjacent = pinned_.empty() || call.noc_address + extent.size() == noc_address_;
  pinned_.push_back(extent);
  if (!adjacent) return ArenaScattered(call.noc_address, noc_address_);
  noc_address_ = call.noc_address;
  if (call.bus_address >= kBusAddressEnd || extent.size() > kBusAddressEnd - call.bus_address) {
    return ProblemError(
        Problem::kResourcesTaken, StatusCode::kFailedPrecondition,
        "the host gave pinned memory the bus address {:#x}, but the card reaches 58 bits: "
        "install tt-kmd 2.10 or later",
        call.bus_address);
  }
  return OkStatus();
}

// Firmware sets the high word of host addresses once.
Status HostArena::CheckPlace() const {
  const uint64_t last = noc_address_ + (memory_.size() - 1);
  if (noc_address_ >= hw::kHostMemoryNocBase && last < kNocEnd && last >= noc_address_ &&
      last >> 32 == noc_address_ >> 32) {
    return OkStatus();
  }
  return ArenaOutside(noc_address_, last);
}

}  // namespace ttfd::kmd
