// Where the data of a random stream's writes comes from: the record itself, or a relay.
#include <algorithm>
#include <bit>

#include "runtime/hw/tensix.h"
#include "tests/support/stream_emit.h"
#include "tests/support/stream_queue.h"

namespace ttfd::testing {

void StreamQueue::Supply(const Write& write) {
  const bool fits = write.header.size() + write.data_bytes <= InlineRoom();
  const bool follows = write.may_follow && write.data_bytes != 0;
  if (fits && (!follows || world_.OneIn(3))) return SupplyInline(write);
  if (follows) {
    const uint32_t first = world_.Pick(0, 3);
    for (uint32_t i = 0; i < 4; ++i) {
      switch ((first + i) % 4) {
        case 0:
          if (SupplyLinear(write)) return;
          break;
        case 1:
          if (SupplyPaged(write)) return;
          break;
        case 2:
          if (SupplyPacked(write)) return;
          break;
        default:
          if (SupplyRingbuffer(write)) return;
      }
    }
  }
  if (fits) SupplyInline(write);  // else nothing can carry it, and it is left out
}

void StreamQueue::SupplyInline(const Write& write) {
  if (write.slice.has_value()) BeforeWrite(*write.slice, write.multicast);
  const auto data = world_.Data(write.data_bytes);
  const auto header = static_cast<uint32_t>(write.header.size());
  if (recording_ != nullptr) {
    const auto begin =
        static_cast<uint32_t>(recording_->bytes.size()) + abi::kCommandBytes + header;
    recording_->data.emplace_back(begin, begin + write.data_bytes);
  }
  Emit([&](RecordWriter& writer) {
    MutableByteSpan to = writer.Payload(abi::PrefetchId::kRelayInline,
                                        abi::DispatcherType::kDispatch, header + write.data_bytes);
    std::copy(write.header.begin(), write.header.end(), to.begin());
    std::copy(data.begin(), data.end(), to.begin() + header);
  });
}

// The header, then the relay that brings its data; nothing of this queue between them.
void StreamQueue::Follow(const Write& write, const std::function<void(RecordWriter&)>& relay) {
  if (write.slice.has_value()) BeforeWrite(*write.slice, write.multicast);
  Emit([&](RecordWriter& writer) {
    MutableByteSpan to =
        writer.Payload(abi::PrefetchId::kRelayInlineNoflush, abi::DispatcherType::kDispatch,
                       static_cast<uint32_t>(write.header.size()));
    std::copy(write.header.begin(), write.header.end(), to.begin());
  });
  Emit(relay);
}

bool StreamQueue::SupplyLinear(const Write& write) {
  const uint32_t size = write.data_bytes;
  if (world_.OneIn(2) && size <= kHostSourceBytes) {
    const uint64_t address =
        world_.host_address + uint64_t{world_.Pick(0, (kHostSourceBytes - size) / 16)} * 16;
    const uint32_t flag = world_.OneIn(2) ? abi::kNocXyPcieFlag : 0;
    Follow(write, [&](RecordWriter& writer) {
      writer.RelayLinear(world_.layout.pcie_xy | flag, address, size,
                         abi::PrefetchId::kRelayLinearH);
    });
    return true;
  }
  const auto slice = PickSlice({SliceKind::kDram, SliceKind::kL1, SliceKind::kHost}, write.slice);
  if (!slice.has_value() || size > world_.slices[*slice].bytes) return false;
  const Slice& from = world_.slices[*slice];
  BeforeRead(*slice);
  const auto& tiles = from.kind == SliceKind::kDram ? world_.layout.dram_xy : world_.layout.l1_xy;
  const uint32_t xy = from.kind == SliceKind::kHost
                          ? world_.layout.pcie_xy
                          : tiles[world_.Pick(0, static_cast<uint32_t>(tiles.size()) - 1)];
  const uint64_t address = from.address + uint64_t{world_.Pick(0, (from.bytes - size) / 16)} * 16;
  Follow(write, [&](RecordWriter& writer) { writer.RelayLinear(xy, address, size); });
  return true;
}

bool StreamQueue::SupplyPaged(const Write& write) {
  const uint32_t size = write.data_bytes;
  const auto slice = PickSlice({SliceKind::kDram, SliceKind::kL1}, write.slice);
  if (!slice.has_value()) return false;
  const Slice& from = world_.slices[*slice];
  const bool is_dram = from.kind == SliceKind::kDram;
  const auto banks =
      static_cast<uint32_t>(is_dram ? world_.layout.dram_xy.size() : world_.layout.l1_xy.size());
  const uint32_t page = std::min(AlignUp(Size(from.bytes), 64u), from.bytes / 64 * 64);
  const uint32_t pages = DivideRoundUp(size, page);
  const uint32_t all = from.bytes / page * banks;
  if (pages > all) return false;
  BeforeRead(*slice);
  const uint32_t start = world_.Pick(0, all - pages);
  // start_page is a byte: the rounds before it go into the base.
  const uint32_t rounds = start > 255 ? start / banks : world_.Pick(0, start / banks);
  const auto base = static_cast<uint32_t>(from.address) + rounds * page;
  Follow(write, [&](RecordWriter& writer) {
    writer.RelayPaged(is_dram, start - rounds * banks, base, page, pages, pages * page - size);
  });
  return true;
}

bool StreamQueue::SupplyPacked(const Write& write) {
  const auto slice = PickSlice({SliceKind::kDram}, write.slice);
  if (!slice.has_value()) return false;
  const Slice& from = world_.slices[*slice];
  const auto banks = static_cast<uint32_t>(world_.layout.dram_xy.size());
  const uint32_t most = world_.options.scratch_bytes / 2;
  std::vector<abi::RelayPagedPackedTarget> list;
  for (uint32_t left = write.data_bytes; left != 0;) {
    abi::RelayPagedPackedTarget part{};
    const uint32_t log_page =
        world_.Pick(abi::kMinPageShift, static_cast<uint32_t>(std::bit_width(from.bytes)) - 1);
    const uint32_t all = from.bytes >> log_page;  // rounds
    uint32_t size = std::min({left, most, (all * banks) << log_page});
    if (size == left) {
      if (world_.OneIn(2)) size = world_.Pick(1, size);
    } else if (world_.OneIn(4)) {
      size = std::min(Size(most), size);
    }
    if (size != left)
      size = AlignUp(size, 16u) <= std::min(left, most) ? AlignUp(size, 16u) : size / 16 * 16;
    if (size == 0) return false;
    const uint32_t pages = DivideRoundUp(size, 1u << log_page);
    const uint32_t start = world_.Pick(0, all * banks - pages);
    part.start_page = static_cast<uint16_t>(start);
    part.log_page_size = static_cast<uint16_t>(log_page);
    part.base_address = static_cast<uint32_t>(from.address);
    part.length = size;
    list.push_back(part);
    left -= size;
    if (list.size() == abi::kMaxPagedPacked && left != 0) return false;
  }
  BeforeRead(*slice);
  Follow(write, [&](RecordWriter& writer) { writer.RelayPagedPacked(list); });
  return true;
}

bool StreamQueue::SupplyRingbuffer(const Write& write) {
  const uint32_t room = world_.options.ringbuffer_bytes - carried_.ring_offset;
  std::vector<abi::RelayRingbufferTarget> list;
  for (uint32_t left = write.data_bytes; left != 0;) {
    uint32_t size = std::min(left, room);
    if (world_.OneIn(2) && size != 0) size = Size(size);
    if (size != left) size = size / 16 * 16;
    if (size == 0) return false;
    abi::RelayRingbufferTarget part{};
    part.start = world_.Pick(0, (room - size) / 16) * 16;
    part.length = size;
    list.push_back(part);
    left -= size;
    if (list.size() == abi::kMaxRelayRingbuffer && left != 0) return false;
  }
  Follow(write, [&](RecordWriter& writer) { writer.RelayRingbuffer(list); });
  return true;
}

}  // namespace ttfd::testing
