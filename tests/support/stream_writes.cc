// A random stream's writes: what goes where.
#include <algorithm>

#include "runtime/abi/rings.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"
#include "tests/support/stream_emit.h"
#include "tests/support/stream_queue.h"

namespace ttfd::testing {
namespace {

constexpr uint64_t kHostBit = uint64_t{1} << 60;  // what kNocXyPcieFlag stands for
constexpr uint32_t kMostData = 48 * 1024;

template <typename T>
void AppendBytes(std::vector<std::byte>& bytes, const T& value) {
  const ByteSpan more = BytesOf(value);
  bytes.insert(bytes.end(), more.begin(), more.end());
}

template <typename T>
std::vector<std::byte> HeaderOf(const T& command) {
  const ByteSpan bytes = BytesOf(command);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

// Small, at a boundary of some ring or packet, or anything.
uint32_t StreamQueue::Size(uint32_t most) {
  const BenchOptions& rings = world_.options;
  const uint32_t boundaries[] = {16,
                                 32,
                                 64,
                                 256,
                                 1024,
                                 2048,
                                 abi::kDispatchPageBytes - 32,
                                 abi::kDispatchPageBytes - 16,
                                 abi::kDispatchPageBytes,
                                 2 * abi::kDispatchPageBytes,
                                 hw::kNocMaxPacketBytes - 32,
                                 hw::kNocMaxPacketBytes,
                                 rings.dispatch_ring_pages * abi::kDispatchPageBytes,
                                 rings.completion_ring_pages * abi::kCompletionPageBytes,
                                 rings.scratch_bytes / 2,
                                 rings.command_ring_bytes / 4,
                                 rings.command_ring_bytes / 2,
                                 rings.ringbuffer_bytes};
  constexpr int kSteps[] = {-64, -17, -16, -1, 0, 0, 1, 15, 16, 32};
  const uint32_t kind = world_.Pick(0, 15);
  uint32_t size = world_.Pick(1, 300);
  if (kind == 0) size = world_.Pick(1, most);
  if (kind > 9) {
    const uint32_t boundary = boundaries[world_.Pick(0, std::size(boundaries) - 1)];
    size = boundary + static_cast<uint32_t>(kSteps[world_.Pick(0, std::size(kSteps) - 1)]);
  }
  if (size == 0 || size > most) size = world_.Pick(1, std::min(most, 300u));
  return size;
}

void StreamQueue::WriteSomething() {
  std::optional<Write> write;
  switch (world_.Pick(0, 8)) {
    case 0:
    case 1:
      write = WriteLinear();
      break;
    case 2:
      write = WriteMulticast();
      break;
    case 3:
    case 4:
      write = WritePaged();
      break;
    case 5:
      write = WritePacked();
      break;
    case 6:
      write = WritePackedLarge();
      break;
    default:
      write = WriteHost();
  }
  if (write.has_value()) Supply(*write);
}

std::optional<StreamQueue::Write> StreamQueue::WriteLinear() {
  const auto slice = PickSlice({SliceKind::kDram, SliceKind::kL1, SliceKind::kHost});
  if (!slice.has_value()) return std::nullopt;
  const Slice& to = world_.slices[*slice];
  Write write;
  write.slice = slice;
  write.data_bytes = Size(to.bytes);
  auto command = Command<abi::WriteLinear>(world_.OneIn(2) ? abi::DispatchId::kWriteLinear
                                                           : abi::DispatchId::kWriteLinearH);
  uint64_t address = to.address + uint64_t{world_.Pick(0, (to.bytes - write.data_bytes) / 16)} * 16;
  if (to.kind == SliceKind::kHost) {
    command.noc_xy = world_.layout.pcie_xy;
    if (world_.OneIn(2)) {
      command.noc_xy |= abi::kNocXyPcieFlag;
      address &= ~kHostBit;
    }
  } else {
    const auto& tiles = to.kind == SliceKind::kDram ? world_.layout.dram_xy : world_.layout.l1_xy;
    command.noc_xy = tiles[world_.Pick(0, static_cast<uint32_t>(tiles.size()) - 1)];
  }
  const uint32_t index = WriteOffsetIndex();
  const uint32_t offset = carried_.write_offsets[index];
  if (offset <= (address & ~kHostBit)) {
    command.write_offset_index = static_cast<uint8_t>(index);
    address -= offset;
  }
  command.address = address;
  command.length = write.data_bytes;
  write.header = HeaderOf(command);
  return write;
}

// A random rectangle of workers, and how many it has.
uint32_t StreamQueue::Rectangle(uint32_t* receivers) {
  const auto& workers = world_.layout.l1_xy;
  const auto last = static_cast<uint32_t>(workers.size()) - 1;
  const uint32_t a = workers[world_.Pick(0, last)];
  const uint32_t b = workers[world_.Pick(0, last)];
  const uint32_t x0 = std::min(hw::NocX(a), hw::NocX(b)), x1 = std::max(hw::NocX(a), hw::NocX(b));
  const uint32_t y0 = std::min(hw::NocY(a), hw::NocY(b)), y1 = std::max(hw::NocY(a), hw::NocY(b));
  *receivers =
      static_cast<uint32_t>(std::count_if(workers.begin(), workers.end(), [&](uint32_t xy) {
        return hw::NocX(xy) >= x0 && hw::NocX(xy) <= x1 && hw::NocY(xy) >= y0 && hw::NocY(xy) <= y1;
      }));
  return hw::NocRectangle(hw::NocXy(x0, y0), hw::NocXy(x1, y1));
}

std::optional<StreamQueue::Write> StreamQueue::WriteMulticast() {
  const auto slice = PickSlice({SliceKind::kL1});
  if (!slice.has_value()) return std::nullopt;
  const Slice& to = world_.slices[*slice];
  Write write;
  write.slice = slice;
  write.multicast = true;
  write.data_bytes = Size(to.bytes);
  auto command = Command<abi::WriteLinear>(abi::DispatchId::kWriteLinear);
  uint32_t receivers = 0;
  command.noc_xy = Rectangle(&receivers);
  command.num_mcast_dests = static_cast<uint8_t>(receivers);
  command.write_offset_index = static_cast<uint8_t>(WriteOffsetIndex());
  command.address = to.address + world_.Pick(0, (to.bytes - write.data_bytes) / 16) * 16 -
                    carried_.write_offsets[command.write_offset_index];
  command.length = write.data_bytes;
  write.header = HeaderOf(command);
  return write;
}

std::optional<StreamQueue::Write> StreamQueue::WritePaged() {
  const auto slice = PickSlice({SliceKind::kDram, SliceKind::kL1});
  if (!slice.has_value()) return std::nullopt;
  const Slice& to = world_.slices[*slice];
  const bool is_dram = to.kind == SliceKind::kDram;
  const auto banks =
      static_cast<uint32_t>(is_dram ? world_.layout.dram_xy.size() : world_.layout.l1_xy.size());
  auto command = Command<abi::WritePaged>(abi::DispatchId::kWritePaged);
  command.is_dram = is_dram ? 1 : 0;
  command.page_size = std::min(AlignUp(Size(to.bytes), 16u), to.bytes);
  const uint32_t all = to.bytes / command.page_size * banks;
  command.pages = world_.Pick(1, std::min({all, 64u, std::max(1u, kMostData / command.page_size)}));
  // Rounds that are skipped in front of the slice count too: start_page is large, the base low.
  const uint32_t skipped = world_.Pick(
      0, std::min<uint32_t>(static_cast<uint32_t>(to.address) / command.page_size, 60000 / banks));
  command.start_page = static_cast<uint16_t>(skipped * banks + world_.Pick(0, all - command.pages));
  command.base_address = static_cast<uint32_t>(to.address) - skipped * command.page_size;
  Write write;
  write.slice = slice;
  write.data_bytes = command.pages * command.page_size;
  write.header = HeaderOf(command);
  return write;
}

std::optional<StreamQueue::Write> StreamQueue::WritePacked() {
  const auto slice = PickSlice({SliceKind::kL1});
  if (!slice.has_value()) return std::nullopt;
  const Slice& to = world_.slices[*slice];
  const auto workers = static_cast<uint32_t>(world_.layout.l1_xy.size());
  auto command = Command<abi::WritePacked>(abi::DispatchId::kWritePacked);
  Write write;
  write.multicast = world_.OneIn(2);
  const bool shared = world_.OneIn(2);
  command.flags = static_cast<uint8_t>(world_.Pick(1, 5) << abi::kPackedTypeShift |
                                       (write.multicast ? abi::kPackedMulticast : 0u) |
                                       (shared ? abi::kPackedNoStride : 0u));
  const uint32_t count = world_.Pick(1, write.multicast ? (workers + 1) / 2 : workers);
  const uint32_t list = AlignUp(4 * count * (write.multicast ? 2 : 1), 16u);
  const uint32_t room = InlineRoom() - uint32_t{sizeof(command)} - list;
  const uint32_t page_room = abi::kDispatchPageBytes - uint32_t{sizeof(command)} - list;
  const uint32_t most = shared ? std::min(room, page_room) : std::min(room / count, 4096u);
  const uint32_t size = Size(most / 16 * 16);
  command.count = static_cast<uint16_t>(count);
  command.size = static_cast<uint16_t>(size);
  command.write_offset_index = static_cast<uint16_t>(WriteOffsetIndex());
  command.address = static_cast<uint32_t>(to.address) +
                    world_.Pick(0, (to.bytes - size) / 16) * 16 -
                    carried_.write_offsets[command.write_offset_index];
  write.header = HeaderOf(command);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t receivers = 0;
    const uint32_t rectangle = Rectangle(&receivers);
    if (write.multicast) {
      AppendBytes(write.header, rectangle);
      AppendBytes(write.header, receivers);
    } else {
      AppendBytes(write.header, world_.layout.l1_xy[world_.Pick(0, workers - 1)]);
    }
  }
  write.header.resize(sizeof(command) + list);
  write.slice = slice;
  write.data_bytes = AlignUp(size, 16u) * (shared ? 1 : count);
  write.may_follow = false;
  return write;
}

std::optional<StreamQueue::Write> StreamQueue::WritePackedLarge() {
  const auto slice = PickSlice({SliceKind::kL1});
  if (!slice.has_value()) return std::nullopt;
  const Slice& to = world_.slices[*slice];
  auto command = Command<abi::WritePackedLarge>(abi::DispatchId::kWritePackedLarge);
  std::vector<abi::WritePackedLargeTarget> targets(
      world_.Pick(1, world_.OneIn(8) ? abi::kPackedLargeMaxCount : 5));
  command.type = static_cast<uint8_t>(world_.Pick(1, 2));
  command.count = static_cast<uint16_t>(targets.size());
  command.alignment = static_cast<uint16_t>(16u << world_.Pick(0, 3));
  command.write_offset_index = static_cast<uint16_t>(WriteOffsetIndex());
  Write write;
  uint32_t receivers = 0;
  uint32_t rectangle = Rectangle(&receivers);
  for (auto& target : targets) {
    if (world_.OneIn(3)) rectangle = Rectangle(&receivers);
    const uint32_t size = Size(std::min(to.bytes, kMostData / command.count / 2));
    target.rectangle = rectangle;
    target.num_mcast_dests = static_cast<uint8_t>(receivers);
    target.length = static_cast<uint16_t>(size);
    target.address = static_cast<uint32_t>(to.address) +
                     world_.Pick(0, (to.bytes - size) / 16) * 16 -
                     carried_.write_offsets[command.write_offset_index];
    target.flags = world_.OneIn(3) ? abi::kPackedLargeUnlink : uint8_t{0};
    write.data_bytes += AlignUp<uint32_t>(size, command.alignment);
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (i + 1 == targets.size() || targets[i + 1].rectangle != targets[i].rectangle) {
      targets[i].flags = abi::kPackedLargeUnlink;
    }
  }
  write.header = HeaderOf(command);
  for (const auto& target : targets) AppendBytes(write.header, target);
  write.header.resize(AlignUp(write.header.size(), size_t{16}));
  write.slice = slice;
  write.multicast = true;
  return write;
}

std::optional<StreamQueue::Write> StreamQueue::WriteHost() {
  auto command = Command<abi::WriteLinearHHost>(abi::DispatchId::kWriteLinearHHost);
  Write write;
  write.data_bytes = world_.OneIn(10) ? 0 : Size(kMostData);
  if (world_.OneIn(3)) write.data_bytes = std::max(16u, write.data_bytes) - 16;  // whole pages
  command.tag = static_cast<uint16_t>(world_.random());
  command.check = world_.random();
  command.length = sizeof(command) + write.data_bytes;
  write.header = HeaderOf(command);
  return write;
}

}  // namespace ttfd::testing
