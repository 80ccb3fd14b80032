// Writes, fills, reads and copies as records.
#include "runtime/command/transfer_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/command/record_writer.h"
#include "runtime/command/region_run.h"
#include "runtime/command/transfer_pieces.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

// The header of a write whose data is named apart: by the record itself or by a relay behind it.
constexpr uint32_t kRelayRecordBytes =
    InlineRecordBytes(sizeof(abi::WriteLinear)) + abi::kEntryAlignment;
static_assert(InlineRecordBytes(sizeof(abi::WriteLinear)) ==
              InlineRecordBytes(sizeof(abi::WritePaged)));
constexpr uint32_t kReadRecordBytes =
    InlineRecordBytes(sizeof(abi::WriteLinearHHost)) + abi::kEntryAlignment;

abi::WriteLinear LinearHeader(uint32_t noc_xy, uint32_t address, uint64_t length) {
  abi::WriteLinear header{};
  header.id = abi::DispatchId::kWriteLinear;
  header.noc_xy = noc_xy;
  header.address = address;
  header.length = length;
  return header;
}

abi::WritePaged PagedHeader(bool is_dram, uint32_t first_bank, uint32_t address, uint32_t stride,
                            uint64_t stored_bytes) {
  abi::WritePaged header{};
  header.id = abi::DispatchId::kWritePaged;
  header.is_dram = is_dram ? 1 : 0;
  header.start_page = static_cast<uint16_t>(first_bank);
  header.base_address = address;
  header.page_size = stride;
  header.pages = static_cast<uint32_t>(stored_bytes / stride);
  return header;
}

// Payload an inline write can carry in one entry.
uint32_t MaxInlineData(uint32_t max_record_bytes) {
  return (max_record_bytes - abi::kCommandBytes - abi::kLargeCommandBytes) &
         ~(abi::kEntryAlignment - 1);
}

uint32_t MaxPieceData(uint32_t max_piece_bytes) {
  return max_piece_bytes & ~(hw::kDramAlignment - 1);
}

uint32_t InlineWriteBytes(const TransferPiece& piece) {
  const size_t header = piece.paged ? sizeof(abi::WritePaged) : sizeof(abi::WriteLinear);
  return InlineRecordBytes(static_cast<uint32_t>(header) + piece.shape.stored_bytes);
}

// Appends write records for [offset, offset + size); `add(at, bytes)` adds the command's bytes from `at` on. What lies
// between pages becomes zero.
template <typename Add>
void EncodeInlineWrite(const Region& region, uint64_t offset, uint64_t size,
                       const CardGeometry& card, RecordBatch& batch, const Add& add) {
  const auto write = [&](const TransferPiece& piece) {
    const uint32_t stored = piece.shape.stored_bytes;
    const uint32_t record_bytes = InlineWriteBytes(piece);
    const auto begin = [&](const auto& header) {
      constexpr uint32_t kHead = abi::kCommandBytes + sizeof(header);
      RecordWriter(batch.Begin(kHead, record_bytes)).DispatchHead(header, 0, stored);
      return record_bytes - kHead;
    };
    const uint32_t left =
        piece.paged ? begin(PagedHeader(region.kind == MemoryKind::kDram, piece.first_bank,
                                        piece.address, piece.stride, stored))
                    : begin(LinearHeader(piece.noc_xy, piece.address, stored));
    uint32_t at = 0;  // of the stored bytes, what has been added
    ForEachStretch(piece.shape, size, [&](uint32_t stored_at, uint64_t from, uint32_t length) {
      batch.Add({}, stored_at - at);
      add(from, length);
      at = stored_at + length;
    });
    batch.Add({}, left - at);
  };
  ForEachPiece(RegionView(region, card), offset, size, Direction::kToDevice,
               MaxInlineData(batch.max_record_bytes()), std::cref(write));
}

// The word of a fill as it goes on `at` bytes into it.
uint32_t WordAt(uint32_t word, uint64_t at) {
  return std::rotr(word, static_cast<int>(at % 4 * 8));
}

void AppendRelay(RecordWriter& writer, const RegionRun& run) {
  if (run.paged) {
    writer.RelayPaged(run.is_dram, run.first_bank, run.address, run.stride,
                      static_cast<uint32_t>(run.stored_bytes / run.stride));
  } else {
    writer.RelayLinear(run.noc_xy, run.address, run.stored_bytes);
  }
}

// Calls visit(from, to) for pairs of runs that name the same bytes.
template <typename Visit>
void ForEachCopyRun(const CopyCommand& command, const CardGeometry& card, const Visit& visit) {
  const RegionView from_region(command.from, card);
  const RegionView to_region(command.to, card);
  // Pages that lie alike on both sides are copied with what is between them.
  const bool alike =
      from_region.padded() && to_region.padded() &&
      from_region.page_bytes() == to_region.page_bytes() &&
      from_region.stride() == to_region.stride() &&
      command.from_offset % from_region.page_bytes() == command.to_offset % to_region.page_bytes();
  for (uint64_t done = 0; done < command.size;) {
    const auto from_at = [&](uint64_t most) {
      return RunAt(from_region, command.from_offset + done, most, {true, alike});
    };
    const auto to_at = [&](uint64_t most) {
      return RunAt(to_region, command.to_offset + done, most, {false, alike});
    };
    const uint64_t left = command.size - done;
    RegionRun from = from_at(left);
    RegionRun to = to_at(left);
    // Both sides must name the same bytes: the longer run is cut, which may turn pages into a
    // piece of one page and so shorten it again.
    while (from.length != to.length) {
      const uint64_t length = std::min(from.length, to.length);
      from = from_at(length);
      to = to_at(length);
    }
    visit(from, to);
    done += from.length;
  }
}

}  // namespace

void EncodeWrite(const WriteCommand& command, const CardGeometry& card, RecordBatch& batch) {
  EncodeInlineWrite(
      command.region, command.offset, command.data.size(), card, batch,
      [&](uint64_t at, uint32_t bytes) { batch.Add(command.data.subspan(at, bytes), bytes); });
}

void EncodeFill(const FillCommand& command, const CardGeometry& card, RecordBatch& batch) {
  EncodeInlineWrite(command.region, command.offset, command.size, card, batch,
                    [&](uint64_t at, uint32_t bytes) {
                      if (command.word == 0) {
                        batch.Add({}, bytes);
                      } else {
                        batch.AddWords(WordAt(command.word, at), bytes);
                      }
                    });
}

void EncodeRead(const ReadCommand& command, uint32_t max_piece_bytes, const CardGeometry& card,
                uint32_t check, std::vector<ReadPiece>* pieces, RecordBatch& batch) {
  const auto read = [&](const TransferPiece& piece) {
    const uint32_t stored = piece.shape.stored_bytes;
    abi::WriteLinearHHost header{};
    header.id = abi::DispatchId::kWriteLinearHHost;
    header.check = check++;
    pieces->push_back({piece.shape, command.size});
    header.length = sizeof(header) + stored;
    const MutableByteSpan memory = batch.Append(kReadRecordBytes);
    RecordWriter writer(memory);
    writer.DispatchHeader(header);
    if (piece.paged) {
      writer.RelayPaged(command.region.kind == MemoryKind::kDram, piece.first_bank, piece.address,
                        piece.stride, stored / piece.stride);
    } else {
      writer.RelayLinear(piece.noc_xy, piece.address, stored);
    }
  };
  ForEachPiece(RegionView(command.region, card), command.offset, command.size,
               Direction::kFromDevice, MaxPieceData(max_piece_bytes), std::cref(read));
}

void EncodeCopy(const CopyCommand& command, const CardGeometry& card, RecordBatch& batch) {
  ForEachCopyRun(command, card, [&](const RegionRun& from, const RegionRun& to) {
    const MutableByteSpan memory = batch.Append(kRelayRecordBytes);
    RecordWriter writer(memory);
    if (to.paged) {
      writer.DispatchHeader(
          PagedHeader(to.is_dram, to.first_bank, to.address, to.stride, to.stored_bytes));
    } else {
      writer.DispatchHeader(LinearHeader(to.noc_xy, to.address, to.stored_bytes));
    }
    AppendRelay(writer, from);
  });
}

}  // namespace ttfd
