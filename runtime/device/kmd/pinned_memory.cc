// Maps, pins, checks the addresses.
#include "runtime/device/kmd/pinned_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/bits.h"
#include "runtime/device/kmd/errors.h"
#include "runtime/hw/pcie.h"

namespace ttfd::kmd {
namespace {

// Device code holds offsets from kHostMemoryNocBase in 32 bits.
constexpr uint64_t kHostMemorySpace = uint64_t{4} << 30;
// Drivers before 2.10 let the host choose bus addresses of 64 bits, whose top 6 would choose another window of the
// PCIe tile.
constexpr uint64_t kBusAddressEnd = uint64_t{1} << 58;

}  // namespace

StatusOr<std::unique_ptr<HostMemory>> PinnedMemory::Allocate(Node& node, Set& all,
                                                              uint64_t size_bytes) {
  RETURN_IF_ERROR(node.lost());
  if (size_bytes == 0) return InvalidArgument("host memory of no bytes");
  if (size_bytes > kHostMemorySpace) {
    return Error(StatusCode::kResourceExhausted, "{} bytes of host memory; at most {} fit",
                 size_bytes, kHostMemorySpace);
  }
  const uint64_t size = AlignUp(size_bytes, static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  // Shared, so that a fork copies no pinned page; touched, so that pinning finds them where they stay.
  void* const address =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (address == MAP_FAILED) {
    return Error(StatusCode::kResourceExhausted, "{} bytes of host memory: {}", size,
                 std::strerror(errno));
  }
  std::unique_ptr<PinnedMemory> memory(
      new PinnedMemory(node, all, MutableByteSpan(static_cast<std::byte*>(address), size)));
  RETURN_IF_ERROR(memory->Pin());
  return memory;
}

PinnedMemory::~PinnedMemory() {
  all_.erase(this);
  if (pinned_) {
    // Of a lost card the pages stay pinned until the node is closed.
    UnpinPagesCall call = {.address = reinterpret_cast<uint64_t>(memory_.data()),
                           .bytes = memory_.size(),
                           .reserved = 0};
    node_.Call(kUnpinPages, &call);
  }
  munmap(memory_.data(), memory_.size());
}

Status PinnedMemory::Pin() {
  pinned_ = false;
  PinPagesCall call = {};
  call.output_bytes = kPinPagesOutput;
  call.flags = kPinForNoc;
  call.address = reinterpret_cast<uint64_t>(memory_.data());
  call.bytes = memory_.size();
  const int error = node_.Call(kPinPages, &call);
  RETURN_IF_ERROR(node_.lost());
  if (error != 0) return PinRefused(error, memory_.size(), node_.iommu());
  pinned_ = true;
  noc_address_ = call.noc_address;
  if (call.bus_address >= kBusAddressEnd || memory_.size() > kBusAddressEnd - call.bus_address) {
    return Error(StatusCode::kFailedPrecondition,
                 "the host gave pinned memory the bus address {:#x}, but the card reaches 58 bits: "
                 "install tt-kmd 2.10 or later",
                 call.bus_address);
  }
  const uint64_t offset = noc_address_ - hw::kHostMemoryNocBase;
  if (noc_address_ < hw::kHostMemoryNocBase || offset > kHostMemorySpace - memory_.size()) {
    return Error(
        StatusCode::kResourceExhausted,
        "the driver gave {} bytes of host memory the NoC address {:#x}, beyond the first {} "
        "GiB that device code reaches: stop other processes that use the card",
        memory_.size(), noc_address_, kHostMemorySpace >> 30);
  }
  return OkStatus();
}

}  // namespace ttfd::kmd
