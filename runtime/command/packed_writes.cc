// WRITE_PACKED and WRITE_PACKED_LARGE.
#include "runtime/command/packed_writes.h"

#include <algorithm>
#include <cstring>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/command/record_writer.h"

namespace ttfd {
namespace {

constexpr uint32_t kHeaderBytes = sizeof(abi::WritePacked);
static_assert(sizeof(abi::WritePackedLarge) == kHeaderBytes);
constexpr uint32_t kLargeTargetBytes = sizeof(abi::WritePackedLargeTarget);

uint32_t ListBytes(size_t targets, bool multicast) {
  const size_t each =
      multicast ? sizeof(abi::WritePackedMulticast) : sizeof(abi::WritePackedUnicast);
  return AlignUp(static_cast<uint32_t>(targets * each), abi::kPackedDataAlignment);
}

bool IsMulticast(std::span<const PackedTarget> targets) {
  return std::any_of(targets.begin(), targets.end(),
                     [](const PackedTarget& target) { return target.receivers != 0; });
}

// The firmware keeps a fixed table of targets: one a worker, or half as many rectangles.
uint32_t MaxTargets(const CardGeometry& card, bool multicast) {
  return multicast ? std::max(card.worker_count() / 2, 1u) : card.worker_count();
}

void WriteList(std::span<const PackedTarget> targets, bool multicast, MutableByteSpan to) {
  std::memset(to.data(), 0, to.size());
  std::byte* at = to.data();
  for (const PackedTarget& target : targets) {
    if (multicast) {
      StoreAt(at, abi::WritePackedMulticast{target.noc_word, target.receivers});
      at += sizeof(abi::WritePackedMulticast);
    } else {
      StoreAt(at, abi::WritePackedUnicast{target.noc_word});
      at += sizeof(abi::WritePackedUnicast);
    }
  }
}

abi::WritePacked Header(PackedType type, uint8_t flags, size_t count, uint32_t address,
                        uint32_t size) {
  abi::WritePacked header{};
  header.id = abi::DispatchId::kWritePacked;
  header.flags = static_cast<uint8_t>(flags | type << abi::kPackedTypeShift);
  header.count = static_cast<uint16_t>(count);
  header.size = static_cast<uint16_t>(size);
  header.address = address;
  return header;
}

}  // namespace

PackedChunk ChunkOfPacked(std::span<const PackedTarget> targets, uint32_t size,
                          const CardGeometry& card, uint32_t max_record_bytes) {
  PackedChunk chunk;
  chunk.multicast = IsMulticast(targets);
  const uint32_t each = static_cast<uint32_t>(chunk.multicast ? sizeof(abi::WritePackedMulticast)
                                                              : sizeof(abi::WritePackedUnicast));
  // 15 bytes at most pad the list.
  const uint32_t room = max_record_bytes - abi::kCommandBytes - kHeaderBytes - 15;
  const uint32_t by_record = room / (each + AlignUp(size, abi::kPackedDataAlignment));
  const uint32_t by_page = (abi::kDispatchPageBytes - kHeaderBytes) / each;
  chunk.max_targets =
      std::max(std::min({by_record, by_page, MaxTargets(card, chunk.multicast)}), 1u);
  return chunk;
}

MutableByteSpan BeginPacked(PackedType type, uint32_t address, uint32_t size,
                            std::span<const PackedTarget> targets, bool multicast,
                            RecordBatch& batch) {
  const uint32_t list = ListBytes(targets.size(), multicast);
  const uint32_t data =
      static_cast<uint32_t>(targets.size()) * AlignUp(size, abi::kPackedDataAlignment);
  const MutableByteSpan memory = batch.Append(InlineRecordBytes(kHeaderBytes + list + data));
  RecordWriter writer(memory);
  const uint8_t flags = multicast ? abi::kPackedMulticast : uint8_t{0};
  MutableByteSpan body =
      writer.Dispatch(Header(type, flags, targets.size(), address, size), list + data);
  WriteList(targets, multicast, body.first(list));
  return body.subspan(list);
}

uint32_t MaxSharedBytes(uint32_t max_record_bytes) {
  const uint32_t room = std::min(abi::kDispatchPageBytes, max_record_bytes - abi::kCommandBytes);
  return room / 2 & ~(abi::kPackedDataAlignment - 1);
}

void PackedShared(PackedType type, uint32_t address, ByteSpan data, std::span<const CoreRange> to,
                  const CardGeometry& card, RecordBatch& batch) {
  const bool multicast = std::any_of(to.begin(), to.end(),
                                     [](const CoreRange& range) { return CoreCount(range) > 1; });
  const auto size = static_cast<uint32_t>(data.size());
  const uint32_t padded = AlignUp(size, abi::kPackedDataAlignment);
  const uint32_t room =
      std::min(abi::kDispatchPageBytes, batch.max_record_bytes() - abi::kCommandBytes) -
      kHeaderBytes - padded;
  const uint32_t by_room = (room & ~(abi::kPackedDataAlignment - 1)) / (multicast ? 8 : 4);
  const uint32_t max_targets = std::min(by_room, MaxTargets(card, multicast));
  std::vector<PackedTarget> targets;
  for (size_t first = 0; first < to.size(); first += max_targets) {
    targets.clear();
    for (const CoreRange& range :
         to.subspan(first, std::min<size_t>(max_targets, to.size() - first))) {
      if (multicast) {
        targets.push_back({card.Rectangle(range), CoreCount(range)});
      } else {
        targets.push_back({card.WorkerXy(range.y0 * card.grid().x + range.x0), 0});
      }
    }
    const uint32_t list = ListBytes(targets.size(), multicast);
    const MutableByteSpan memory = batch.Append(InlineRecordBytes(kHeaderBytes + list + padded));
    RecordWriter writer(memory);
    const auto flags =
        static_cast<uint8_t>(abi::kPackedNoStride | (multicast ? abi::kPackedMulticast : 0));
    MutableByteSpan body =
        writer.Dispatch(Header(type, flags, targets.size(), address, size), list + padded);
    WriteList(targets, multicast, body.first(list));
    std::memcpy(body.data() + list, data.data(), size);
    std::memset(body.data() + list + size, 0, padded - size);
  }
}

namespace {

// A sub-command's length is a u16; this keeps parts aligned and lets several share a record.
constexpr uint32_t kMaxPartBytes = 32 * 1024;

void AppendLargeRecord(PackedLargeType type, std::span<const LargePart> parts,
                       const CardGeometry& card, RecordBatch& batch) {
  const uint32_t list =
      AlignUp(static_cast<uint32_t>(parts.size()) * kLargeTargetBytes, abi::kPackedDataAlignment);
  uint32_t data = 0;
  for (const LargePart& part : parts) {
    data += AlignUp(static_cast<uint32_t>(part.data.size()), abi::kPackedDataAlignment);
  }
  abi::WritePackedLarge header{};
  header.id = abi::DispatchId::kWritePackedLarge;
  header.type = type;
  header.count = static_cast<uint16_t>(parts.size());
  header.alignment = abi::kPackedDataAlignment;
  constexpr uint32_t kHead = abi::kCommandBytes + kHeaderBytes;
  const uint32_t record_bytes = InlineRecordBytes(kHeaderBytes + list + data);
  RecordWriter writer(batch.Begin(kHead + list, record_bytes));
  const MutableByteSpan targets = writer.DispatchHead(header, list, data);
  std::memset(targets.data(), 0, list);
  for (size_t i = 0; i < parts.size(); ++i) {
    const LargePart& part = parts[i];
    // Transactions to one rectangle stay linked; the last one lets go of the path.
    const bool last = i + 1 == parts.size() || parts[i + 1].to != part.to;
    abi::WritePackedLargeTarget target{};
    target.rectangle = card.Rectangle(part.to);
    target.address = part.address;
    target.length = static_cast<uint16_t>(part.data.size());
    target.num_mcast_dests = static_cast<uint8_t>(CoreCount(part.to));
    target.flags = last ? abi::kPackedLargeUnlink : uint8_t{0};
    StoreAt(targets.data() + i * kLargeTargetBytes, target);
  }
  uint32_t left = record_bytes - kHead - list;
  for (const LargePart& part : parts) {
    const auto padded = AlignUp(static_cast<uint32_t>(part.data.size()), abi::kPackedDataAlignment);
    left -= padded;
    batch.Add(part.data, padded);
  }
  batch.Add({}, left);
}

}  // namespace

void PackedLarge(PackedLargeType type, std::span<const LargePart> parts, const CardGeometry& card,
                 RecordBatch& batch) {
  constexpr uint32_t kOverhead = abi::kCommandBytes + kHeaderBytes + abi::kPackedDataAlignment;
  const uint32_t room = batch.max_record_bytes() - kOverhead;
  const uint32_t max_part =
      std::min(kMaxPartBytes, (room - kLargeTargetBytes) & ~(abi::kPackedDataAlignment - 1));
  std::vector<LargePart> record;
  uint32_t used = 0;
  const auto flush = [&]() {
    if (record.empty()) return;
    AppendLargeRecord(type, record, card, batch);
    record.clear();
    used = 0;
  };
  for (const LargePart& part : parts) {
    for (size_t done = 0; done < part.data.size();) {
      const auto size = static_cast<uint32_t>(std::min<size_t>(max_part, part.data.size() - done));
      const uint32_t cost = kLargeTargetBytes + AlignUp(size, abi::kPackedDataAlignment);
      if (used + cost > room || record.size() == abi::kPackedLargeMaxCount) {
        flush();
      }
      record.push_back(
          {part.to, part.address + static_cast<uint32_t>(done), part.data.subspan(done, size)});
      used += cost;
      done += size;
    }
  }
  flush();
}

}  // namespace ttfd
