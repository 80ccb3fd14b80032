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
#include "runtime/command/piece_shape.h"
#include "runtime/command/record_sink.h"

namespace ttfd {

Status EncodeWrite(const WriteCommand& command, const CardGeometry& card, RecordSink& sink);
Status EncodeFill(const FillCommand& command, const CardGeometry& card, RecordSink& sink);
Status EncodeCopy(const CopyCommand& command, const CardGeometry& card, RecordSink& sink);

// One completion record of a read: the data behind the echoed command, shape.stored_bytes long, holds
// the bytes of the read that `shape` says; `size` is that of the whole read.
struct ReadPiece {
  PieceShape shape;
  uint64_t size = 0;
};
// Told of every piece before its record is appended; returns the word the record is to carry in
// WriteLinearHHost::check.
using ExpectPiece = std::function<uint32_t(const ReadPiece& piece)>;

// `max_piece_bytes`: the most data one completion record may carry, at least 64.
Status EncodeRead(const ReadCommand& command, uint32_t max_piece_bytes, const CardGeometry& card,
                  const ExpectPiece& expect, RecordSink& sink);

// Bytes the records of a transfer take, without the padding where entries wrap. Found by cutting the
// transfer as the encoders do, which costs little beside encoding it.
uint64_t WriteRecordBytes(const Region& region, uint64_t offset, uint64_t size,
                          const CardGeometry& card, uint32_t max_record_bytes);
uint64_t ReadRecordBytes(const ReadCommand& command, const CardGeometry& card,
                         uint32_t max_piece_bytes);
uint64_t CopyRecordBytes(const CopyCommand& command, const CardGeometry& card);

}  // namespace ttfd
