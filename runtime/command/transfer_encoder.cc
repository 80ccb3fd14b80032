// Writes, fills, reads and copies as records.
#include "runtime/command/transfer_encoder.h"

#include <algorithm>
#include <cstring>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/command/record_writer.h"
#include "runtime/command/region_run.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

abi::WriteLinear LinearHeader(const RegionRun& run) {
  abi::WriteLinear header{};
  header.id = abi::DispatchId::kWriteLinear;
  header.noc_xy = run.noc_xy;
  header.address = run.address;
  header.length = run.length;
  return header;
}

abi::WritePaged PagedHeader(const RegionRun& run) {
  abi::WritePaged header{};
  header.id = abi::DispatchId::kWritePaged;
  header.is_dram = run.is_dram ? 1 : 0;
  header.start_page = static_cast<uint16_t>(run.first_bank);
  header.base_address = run.address;
  header.page_size = run.page_bytes;
  header.pages = static_cast<uint32_t>(run.length / run.page_bytes);
  return header;
}

// Payload an inline write can carry in one entry; a multiple of 16, so that pieces stay aligned.
uint32_t MaxInlineData(uint32_t max_record_bytes) {
  return max_record_bytes - abi::kCommandBytes - abi::kLargeCommandBytes;
}

// Appends write records for [offset, offset + size); `fill(memory, done)` supplies the data of each
// from `done` bytes into the command.
template <typename Fill>
Status EncodeInlineWrite(const Region& region, uint64_t offset, uint64_t size,
                         const CardGeometry& card, RecordSink& sink, const Fill& fill) {
  const uint32_t max_data = MaxInlineData(sink.max_record_bytes());
  for (uint64_t done = 0; done < size;) {
    const RegionRun run =
        RunAt(region, card, offset + done, std::min<uint64_t>(size - done, max_data));
    const auto length = static_cast<uint32_t>(run.length);
    const uint32_t header = run.paged ? sizeof(abi::WritePaged) : sizeof(abi::WriteLinear);
    ASSIGN_OR_RETURN(MutableByteSpan memory, sink.Append(InlineRecordBytes(header + length)));
    RecordWriter writer(memory);
    fill(run.paged ? writer.Dispatch(PagedHeader(run), length)
                   : writer.Dispatch(LinearHeader(run), length),
         done);
    done += run.length;
  }
  return OkStatus();
}

void AppendRelay(RecordWriter& writer, const RegionRun& run) {
  if (run.paged) {
    writer.RelayPaged(run.is_dram, run.first_bank, run.address, run.page_bytes,
                      static_cast<uint32_t>(run.length / run.page_bytes));
  } else {
    writer.RelayLinear(run.noc_xy, run.address, run.length);
  }
}

// The piece of a read that begins at `offset`. Reads are aligned to 64 bytes on both ends, because
// a NoC read of DRAM must keep source and destination equal modulo 64; the piece says what to
// drop.
struct PieceRun {
  RegionRun run;
  ReadPiece piece;
};
PieceRun NextPiece(const ReadCommand& command, uint64_t done, uint32_t max_piece_bytes,
                   const CardGeometry& card) {
  const uint64_t offset = command.offset + done;
  const uint64_t left = command.size - done;
  const uint64_t aligned = offset & ~uint64_t{hw::kDramAlignment - 1};
  const auto skip = static_cast<uint32_t>(offset - aligned);
  const uint64_t wanted = AlignUp<uint64_t>(skip + left, hw::kDramAlignment);
  PieceRun next;
  next.run = RunAt(command.region, card, aligned, std::min<uint64_t>(wanted, max_piece_bytes));
  next.piece.offset_in_read = done;
  next.piece.skip = skip;
  next.piece.take = static_cast<uint32_t>(std::min<uint64_t>(next.run.length - skip, left));
  next.piece.length = static_cast<uint32_t>(next.run.length);
  return next;
}

}  // namespace

Status EncodeWrite(const WriteCommand& command, const CardGeometry& card, RecordSink& sink) {
  return EncodeInlineWrite(command.region, command.offset, command.data.size(), card, sink,
                           [&command](MutableByteSpan to, uint64_t done) {
                             std::memcpy(to.data(), command.data.data() + done, to.size());
                           });
}

Status EncodeFill(const FillCommand& command, const CardGeometry& card, RecordSink& sink) {
  return EncodeInlineWrite(command.region, command.offset, command.size, card, sink,
                           [&command](MutableByteSpan to, uint64_t) {
                             if (command.word == 0) {
                               std::memset(to.data(), 0, to.size());
                               return;
                             }
                             for (size_t at = 0; at < to.size(); at += sizeof(command.word)) {
                               StoreAt(to.data() + at, command.word);
                             }
                           });
}

Status EncodeRead(const ReadCommand& command, uint32_t max_piece_bytes, const CardGeometry& card,
                  const ExpectPiece& expect, RecordSink& sink) {
  const uint32_t max_piece = max_piece_bytes & ~(hw::kDramAlignment - 1);
  for (uint64_t done = 0; done < command.size;) {
    const PieceRun next = NextPiece(command, done, max_piece, card);
    abi::WriteLinearHHost header{};
    header.id = abi::DispatchId::kWriteLinearHHost;
    header.check = expect(next.piece);
    header.length = sizeof(header) + next.piece.length;
    ASSIGN_OR_RETURN(MutableByteSpan memory,
                     sink.Append(InlineRecordBytes(sizeof(header)) + abi::kEntryAlignment));
    RecordWriter writer(memory);
    writer.DispatchHeader(header);
    AppendRelay(writer, next.run);
    done += next.piece.take;
  }
  return OkStatus();
}

Status EncodeCopy(const CopyCommand& command, const CardGeometry& card, RecordSink& sink) {
  for (uint64_t done = 0; done < command.size;) {
    const uint64_t left = command.size - done;
    RegionRun from = RunAt(command.from, card, command.from_offset + done, left);
    RegionRun to = RunAt(command.to, card, command.to_offset + done, left);
    // Both sides must name the same bytes: the longer run is cut, which may turn pages into a
    // piece of one page and so shorten it again.
    while (from.length != to.length) {
      const uint64_t length = std::min(from.length, to.length);
      from = RunAt(command.from, card, command.from_offset + done, length);
      to = RunAt(command.to, card, command.to_offset + done, length);
    }
    const uint32_t header = to.paged ? sizeof(abi::WritePaged) : sizeof(abi::WriteLinear);
    ASSIGN_OR_RETURN(MutableByteSpan memory,
                     sink.Append(InlineRecordBytes(header) + abi::kEntryAlignment));
    RecordWriter writer(memory);
    if (to.paged) {
      writer.DispatchHeader(PagedHeader(to));
    } else {
      writer.DispatchHeader(LinearHeader(to));
    }
    AppendRelay(writer, from);
    done += from.length;
  }
  return OkStatus();
}

namespace {

// Runs a piece of `size` bytes is cut into when a run is at most `max_run` long: the page ends it
// touches where pages are linear pieces, the limits it reaches, and an unaligned head and tail.
uint64_t MaxRuns(const Region& region, uint64_t size, uint64_t max_run) {
  const bool pages_fit = region.single_bank >= 0 || region.page_bytes <= max_run;
  // Runs of whole pages fill at least half of what a record may carry.
  const uint64_t full = pages_fit ? size / std::max<uint64_t>(max_run / 2, 1)
                                  : size / max_run + size / region.page_bytes + 1;
  return full + 3;
}

}  // namespace

uint64_t MaxWriteRecordBytes(const Region& region, uint64_t size, uint32_t max_record_bytes) {
  const uint64_t runs = MaxRuns(region, size, MaxInlineData(max_record_bytes));
  return size + runs * (abi::kCommandBytes + abi::kLargeCommandBytes + abi::kEntryAlignment);
}

uint64_t MaxReadRecordBytes(const Region& region, uint64_t size, uint32_t max_piece_bytes) {
  return MaxRuns(region, size, max_piece_bytes) * 2 * abi::kEntryAlignment;
}

uint64_t MaxCopyRecordBytes(const CopyCommand& command) {
  // Every run ends at a page end of one of the two regions.
  const auto pages = [&command](const Region& region) {
    return region.single_bank >= 0 ? 1 : command.size / region.page_bytes + 2;
  };
  return (pages(command.from) + pages(command.to) + 1) * 2 * abi::kEntryAlignment;
}

}  // namespace ttfd
