// Writes, fills, reads and copies as records.
//
// The caller has checked the command (command_check.h) and has asked Ordering for what must come
// first. Errors are those of the sink: the device is lost.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/command.h"
#include "runtime/command/record_sink.h"

namespace ttfd {

Status EncodeWrite(const WriteCommand& command, const CardGeometry& card, RecordSink& sink);
Status EncodeFill(const FillCommand& command, const CardGeometry& card, RecordSink& sink);
Status EncodeCopy(const CopyCommand& command, const CardGeometry& card, RecordSink& sink);

// One completion record of a read: its data, `length` bytes behind the echoed command, holds
// `take` wanted bytes from `skip` on; they belong at `offset_in_read`.
struct ReadPiece {
  uint64_t offset_in_read = 0;
  uint32_t skip = 0;
  uint32_t take = 0;
  uint32_t length = 0;
};
// Told of every piece before its record is appended; returns the word the record is to carry in
// WriteLinearHHost::check.
using ExpectPiece = std::function<uint32_t(const ReadPiece& piece)>;

// `max_piece_bytes`: the most data one completion record may carry, at least 64.
Status EncodeRead(const ReadCommand& command, uint32_t max_piece_bytes, const CardGeometry& card,
                  const ExpectPiece& expect, RecordSink& sink);

// Most bytes the records of a transfer take, without the padding where entries wrap.
uint64_t MaxWriteRecordBytes(const Region& region, uint64_t size, uint32_t max_record_bytes);
uint64_t MaxReadRecordBytes(const Region& region, uint64_t size, uint32_t max_piece_bytes);
uint64_t MaxCopyRecordBytes(const CopyCommand& command);

}  // namespace ttfd
