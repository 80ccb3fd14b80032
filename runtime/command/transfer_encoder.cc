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

// Appends write records for [offset, offset + size); `fill(memory, at)` supplies the command's bytes
// from `at` on. What lies between pages becomes zero.
template <typename Fill>
Status EncodeInlineWrite(const Region& region, uint64_t offset, uint64_t size,
                         const CardGeometry& card, RecordSink& sink, const Fill& fill) {
  const auto write = [&](const TransferPiece& piece) -> Status {
    ASSIGN_OR_RETURN(MutableByteSpan memory, sink.Append(InlineWriteBytes(piece)));
    const uint32_t stored = piece.shape.stored_bytes;
    RecordWriter writer(memory);
    MutableByteSpan data =
        piece.paged
            ? writer.Dispatch(PagedHeader(region.kind == MemoryKind::kDram, piece.first_bank,
                                          piece.address, piece.stride, stored),
                              stored)
            : writer.Dispatch(LinearHeader(piece.noc_xy, piece.address, stored), stored);
    if (piece.shape.plain(size)) {
      fill(data, static_cast<uint64_t>(piece.shape.begin));
      return OkStatus();
    }
    std::memset(data.data(), 0, data.size());
    ForEachStretch(piece.shape, size, [&](uint32_t at, uint64_t from, uint32_t length) {
      fill(data.subspan(at, length), from);
    });
    return OkStatus();
  };
  return ForEachPiece(RegionView(region, card), offset, size, Direction::kToDevice,
                      MaxInlineData(sink.max_record_bytes()), std::cref(write));
}

// The word of a fill as it goes on `at` bytes into it.
uint32_t WordAt(uint32_t word, uint64_t at) {
  return std::rotr(word, static_cast<int>(at % 4 * 8));
}

void FillWords(MutableByteSpan to, uint32_t word) {
  size_t at = 0;
  for (; at + sizeof(word) <= to.size(); at += sizeof(word)) StoreAt(to.data() + at, word);
  std::memcpy(to.data() + at, &word, to.size() - at);
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
Status ForEachCopyRun(const CopyCommand& command, const CardGeometry& card, const Visit& visit) {
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
    RETURN_IF_ERROR(visit(from, to));
    done += from.length;
  }
  return OkStatus();
}

}  // namespace

Status EncodeWrite(const WriteCommand& command, const CardGeometry& card, RecordSink& sink) {
  return EncodeInlineWrite(command.region, command.offset, command.data.size(), card, sink,
                           [&command](MutableByteSpan to, uint64_t at) {
                             std::memcpy(to.data(), command.data.data() + at, to.size());
                           });
}

Status EncodeFill(const FillCommand& command, const CardGeometry& card, RecordSink& sink) {
  return EncodeInlineWrite(command.region, command.offset, command.size, card, sink,
                           [&command](MutableByteSpan to, uint64_t at) {
                             if (command.word == 0) {
                               std::memset(to.data(), 0, to.size());
                             } else {
                               FillWords(to, WordAt(command.word, at));
                             }
                           });
}

Status EncodeRead(const ReadCommand& command, uint32_t max_piece_bytes, const CardGeometry& card,
                  const ExpectPiece& expect, RecordSink& sink) {
  const auto read = [&](const TransferPiece& piece) -> Status {
    const uint32_t stored = piece.shape.stored_bytes;
    abi::WriteLinearHHost header{};
    header.id = abi::DispatchId::kWriteLinearHHost;
    header.check = expect({piece.shape, command.size});
    header.length = sizeof(header) + stored;
    ASSIGN_OR_RETURN(MutableByteSpan memory, sink.Append(kReadRecordBytes));
    RecordWriter writer(memory);
    writer.DispatchHeader(header);
    if (piece.paged) {
      writer.RelayPaged(command.region.kind == MemoryKind::kDram, piece.first_bank, piece.address,
                        piece.stride, stored / piece.stride);
    } else {
      writer.RelayLinear(piece.noc_xy, piece.address, stored);
    }
    return OkStatus();
  };
  return ForEachPiece(RegionView(command.region, card), command.offset, command.size,
                      Direction::kFromDevice, MaxPieceData(max_piece_bytes), std::cref(read));
}

Status EncodeCopy(const CopyCommand& command, const CardGeometry& card, RecordSink& sink) {
  return ForEachCopyRun(command, card, [&](const RegionRun& from, const RegionRun& to) -> Status {
    ASSIGN_OR_RETURN(MutableByteSpan memory, sink.Append(kRelayRecordBytes));
    RecordWriter writer(memory);
    if (to.paged) {
      writer.DispatchHeader(
          PagedHeader(to.is_dram, to.first_bank, to.address, to.stride, to.stored_bytes));
    } else {
      writer.DispatchHeader(LinearHeader(to.noc_xy, to.address, to.stored_bytes));
    }
    AppendRelay(writer, from);
    return OkStatus();
  });
}

uint64_t WriteRecordBytes(const Region& region, uint64_t offset, uint64_t size,
                          const CardGeometry& card, uint32_t max_record_bytes) {
  uint64_t bytes = 0;
  ForEachPiece(RegionView(region, card), offset, size, Direction::kToDevice,
               MaxInlineData(max_record_bytes),
               [&bytes](const TransferPiece& piece) {
                 bytes += InlineWriteBytes(piece);
                 return OkStatus();
               })
      .IgnoreError();
  return bytes;
}

uint64_t ReadRecordBytes(const ReadCommand& command, const CardGeometry& card,
                         uint32_t max_piece_bytes) {
  uint64_t bytes = 0;
  ForEachPiece(RegionView(command.region, card), command.offset, command.size,
               Direction::kFromDevice, MaxPieceData(max_piece_bytes),
               [&bytes](const TransferPiece&) {
                 bytes += kReadRecordBytes;
                 return OkStatus();
               })
      .IgnoreError();
  return bytes;
}

uint64_t CopyRecordBytes(const CopyCommand& command, const CardGeometry& card) {
  uint64_t bytes = 0;
  ForEachCopyRun(command, card, [&bytes](const RegionRun&, const RegionRun&) {
    bytes += kRelayRecordBytes;
    return OkStatus();
  }).IgnoreError();
  return bytes;
}

}  // namespace ttfd
