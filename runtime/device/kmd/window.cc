// Cuts accesses into loads and stores.
#include "runtime/device/kmd/window.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/bits.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/pcie.h"

namespace ttfd::kmd {
namespace {

constexpr uint64_t kWord = 4;
constexpr uint64_t kRegistersEnd = uint64_t{1} << 32;

Status CheckAccess(uint64_t address, uint64_t size) {
  const bool touches_registers =
      address < kRegistersEnd && address + size > hw::kFirstRegisterAddress;
  if (touches_registers && (size != kWord || !IsAligned(address, kWord))) {
    return InvalidArgument("registers ({:#x} and above) take 4 aligned bytes, not {} at {:#x}",
                           hw::kFirstRegisterAddress, size, address);
  }
  return OkStatus();
}

uint64_t BaseOf(uint64_t address) { return address & ~(hw::kTlbWindow2MBytes - 1); }

// How many of `size` bytes from `address` on lie in the same 2 MiB.
size_t PartOf(uint64_t address, size_t size) {
  return std::min<uint64_t>(size, hw::kTlbWindow2MBytes - (address - BaseOf(address)));
}

}  // namespace

Status KmdWindow::Read(uint64_t address, MutableByteSpan to) {
  if (claim_.target().multicast) return InvalidArgument("a multicast window is write only");
  RETURN_IF_ERROR(CheckAccess(address, to.size()));
  while (!to.empty()) {
    const size_t part = PartOf(address, to.size());
    ASSIGN_OR_RETURN(const HardwareWindow* const window,
                     claim_.pool().Show(claim_, BaseOf(address)));
    RETURN_IF_ERROR(ReadPart(*window, address - BaseOf(address), to.first(part)));
    address += part;
    to = to.subspan(part);
  }
  return OkStatus();
}

Status KmdWindow::ReadPart(const HardwareWindow& window, uint64_t offset, MutableByteSpan to) {
  uint32_t word = 0;
  while (!to.empty()) {
    const uint64_t skip = offset % kWord;
    const size_t part = std::min<size_t>(kWord - skip, to.size());
    if (!node_.bus().Load(window.uncached, offset - skip, &word)) {
      return node_.Lose(kMappingWithdrawn);
    }
    std::memcpy(to.data(), BytesOf(word).data() + skip, part);
    offset += part;
    to = to.subspan(part);
  }
  // A card that is gone answers all ones from some word on: the last one shows it.
  return word == kAllOnes ? presence_.Check() : OkStatus();
}

Status KmdWindow::Write(uint64_t address, ByteSpan from) {
  RETURN_IF_ERROR(CheckAccess(address, from.size()));
  while (!from.empty()) {
    const size_t part = PartOf(address, from.size());
    ASSIGN_OR_RETURN(HardwareWindow* const window, claim_.pool().Show(claim_, BaseOf(address)));
    RETURN_IF_ERROR(WritePart(*window, address - BaseOf(address), from.first(part)));
    address += part;
    from = from.subspan(part);
  }
  return OkStatus();
}

Status KmdWindow::WritePart(HardwareWindow& window, uint64_t offset, ByteSpan from) {
  const size_t head = std::min<size_t>(AlignUp(offset, kWord) - offset, from.size());
  RETURN_IF_ERROR(StoreNarrow(window, offset, from.first(head)));
  offset += head;
  from = from.subspan(head);
  const size_t words = from.size() / kWord * kWord;
  if (words >= kBulkBytes) {
    RETURN_IF_ERROR(StoreBulk(window, offset, from.first(words)));
  } else {
    for (size_t i = 0; i < words; i += kWord) {
      const auto word = LoadAt<uint32_t>(from.data() + i);
      RETURN_IF_ERROR(CheckBus(node_.bus().Store(window.uncached, offset + i, word, kWord)));
    }
  }
  return StoreNarrow(window, offset + words, from.subspan(words));
}

Status KmdWindow::StoreNarrow(const HardwareWindow& window, uint64_t offset, ByteSpan from) {
  while (!from.empty()) {
    const uint32_t width = offset % 2 == 0 && from.size() >= 2 ? 2 : 1;
    uint32_t value = 0;
    std::memcpy(&value, from.data(), width);
    RETURN_IF_ERROR(CheckBus(node_.bus().Store(window.uncached, offset, value, width)));
    offset += width;
    from = from.subspan(width);
  }
  return OkStatus();
}

Status KmdWindow::StoreBulk(HardwareWindow& window, uint64_t offset, ByteSpan words) {
  RETURN_IF_ERROR(claim_.pool().MapWriteCombining(window));
  node_.bus().StoreFence();
  const bool done = node_.bus().StoreBulk(window.write_combining, offset, words);
  node_.bus().StoreFence();
  return CheckBus(done);
}

}  // namespace ttfd::kmd
