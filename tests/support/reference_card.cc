#include "tests/support/reference_card.h"

#include <algorithm>
#include <cstring>

#include "runtime/abi/l1_map.h"
#include "runtime/abi/launch.h"
#include "runtime/abi/prefetch_commands.h"

namespace ttfd::testing {
namespace {

constexpr uint64_t kHostBit = uint64_t{1} << 60;  // what kNocXyPcieFlag stands for

}  // namespace

Status ReferenceCard::Write(uint32_t noc_xy, uint64_t address, ByteSpan bytes) {
  const uint32_t xy = noc_xy & ~abi::kNocXyPcieFlag;
  if ((noc_xy & abi::kNocXyPcieFlag) != 0) address |= kHostBit;
  if (address < hw::kFirstRegisterAddress || xy == layout_.pcie_xy) {
    ASSIGN_OR_RETURN(MutableByteSpan to, memory_.At(xy, address, bytes.size()));
    std::memcpy(to.data(), bytes.data(), bytes.size());
    if (xy == watched_xy_ && watched_address_ - address < bytes.size()) ++watched_writes_;
    return OkStatus();
  }
  // A register: one that adds to a stream's counter.
  ASSIGN_OR_RETURN(const uint32_t queue, QueueAt(xy));
  const auto stream = static_cast<uint32_t>(address - hw::kStreamAddress) / hw::kStreamStride;
  if (bytes.size() != 4 || stream >= hw::kStreams ||
      address != hw::StreamRegister(stream, hw::kStreamSpaceAvailableUpdate)) {
    return InvalidArgument("{} bytes to register {:#x}", bytes.size(), address);
  }
  AddToStream(queue, stream, LoadAt<uint32_t>(bytes.data()) >> hw::kStreamUpdateShift);
  return OkStatus();
}

Status ReferenceCard::Multicast(uint32_t rectangle, uint32_t receivers, uint64_t address,
                                ByteSpan bytes) {
  const uint32_t start = rectangle >> 12 & 0xFFF;
  const uint32_t end = rectangle & 0xFFF;
  uint32_t found = 0;
  for (const uint32_t xy : layout_.l1_xy) {
    if (hw::NocX(xy) < hw::NocX(start) || hw::NocX(xy) > hw::NocX(end)) continue;
    if (hw::NocY(xy) < hw::NocY(start) || hw::NocY(xy) > hw::NocY(end)) continue;
    RETURN_IF_ERROR(Write(xy, address, bytes));
    ++found;
  }
  if (found == receivers) return OkStatus();
  return InvalidArgument("rectangle {:#x} has {} workers, its record says {}", rectangle, found,
                         receivers);
}

StatusOr<std::vector<std::byte>> ReferenceCard::ReadLinear(uint32_t noc_xy, uint64_t address,
                                                           uint64_t length) {
  if ((noc_xy & abi::kNocXyPcieFlag) != 0) address |= kHostBit;
  ASSIGN_OR_RETURN(MutableByteSpan from,
                   memory_.At(noc_xy & ~abi::kNocXyPcieFlag, address, length));
  return std::vector<std::byte>(from.begin(), from.end());
}

ReferenceCard::PagePlace ReferenceCard::PageAt(bool is_dram, uint32_t page, uint32_t base,
                                               uint32_t page_bytes) const {
  const std::vector<uint32_t>& banks = is_dram ? layout_.dram_xy : layout_.l1_xy;
  const auto count = static_cast<uint32_t>(banks.size());
  return {banks[page % count], base + page / count * page_bytes};
}

StatusOr<std::vector<std::byte>> ReferenceCard::ReadPaged(bool is_dram, uint32_t start_page,
                                                          uint32_t base, uint32_t page_bytes,
                                                          uint64_t length) {
  std::vector<std::byte> bytes;
  for (uint32_t page = start_page; bytes.size() < length; ++page) {
    const PagePlace at = PageAt(is_dram, page, base, page_bytes);
    const uint64_t size = std::min<uint64_t>(page_bytes, length - bytes.size());
    ASSIGN_OR_RETURN(MutableByteSpan from, memory_.At(at.xy, at.address, size));
    bytes.insert(bytes.end(), from.begin(), from.end());
  }
  return bytes;
}

Status ReferenceCard::WritePaged(bool is_dram, uint32_t start_page, uint32_t base,
                                 uint32_t page_bytes, ByteSpan bytes) {
  for (uint32_t page = start_page; !bytes.empty(); ++page) {
    const PagePlace at = PageAt(is_dram, page, base, page_bytes);
    RETURN_IF_ERROR(Write(at.xy, at.address, bytes.first(page_bytes)));
    bytes = bytes.subspan(page_bytes);
  }
  return OkStatus();
}

Status ReferenceCard::Go(uint32_t worker_xy, uint32_t index, uint32_t go) {
  ASSIGN_OR_RETURN(MutableByteSpan area,
                   memory_.At(worker_xy, abi::kGoAreaAddress, sizeof(abi::GoArea)));
  const uint32_t listens = LoadAt<uint32_t>(area.data() + offsetof(abi::GoArea, index));
  if (listens != index) {
    StoreAt(area.data() + 4 * index, go);
    return OkStatus();
  }
  StoreAt(area.data() + 4 * index, uint32_t{0});  // taken
  const uint32_t slot = go >> 24 & (abi::kLaunchSlots - 1);
  ASSIGN_OR_RETURN(MutableByteSpan message, memory_.At(worker_xy, abi::LaunchMessageAddress(slot),
                                                       sizeof(abi::LaunchMessage)));
  if (LoadAt<uint32_t>(message.data() + offsetof(abi::LaunchMessage, enables)) != 0) {
    return InvalidArgument("a go with kernels to run; the reference has none");
  }
  ASSIGN_OR_RETURN(const uint32_t queue, QueueAt(hw::NocXy(go >> 8 & 0xFF, go >> 16 & 0xFF)));
  AddToStream(queue, layout_.first_worker_stream + (go & 0xFF), 1);
  return OkStatus();
}

StatusOr<uint32_t> ReferenceCard::QueueAt(uint32_t dispatch_xy) const {
  for (uint32_t queue = 0; queue < layout_.dispatch_xy.size(); ++queue) {
    if (layout_.dispatch_xy[queue] == dispatch_xy) return queue;
  }
  return InvalidArgument("tile ({},{}) is no dispatch tile", hw::NocX(dispatch_xy),
                         hw::NocY(dispatch_xy));
}

}  // namespace ttfd::testing
