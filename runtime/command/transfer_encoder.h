// Writes, fills, reads and copies as records.
//
// The caller has checked the command (command_check.h) and has asked Ordering for what must come
// first. A write's bytes are named by the batch, not copied: they outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/command.h"
#include "runtime/command/piece_shape.h"
#include "runtime/command/record_batch.h"

namespace ttfd {

void EncodeWrite(const WriteCommand& command, const CardGeometry& card, RecordBatch& batch);
void EncodeFill(const FillCommand& command, const CardGeometry& card, RecordBatch& batch);
void EncodeCopy(const CopyCommand& command, const CardGeometry& card, RecordBatch& batch);

// One completion record of a read: the data behind the echoed command, shape.stored_bytes long, holds
// the bytes of the read that `shape` says; `size` is that of the whole read.
struct ReadPiece {
  PieceShape shape;
  uint64_t size = 0;
};
// `max_piece_bytes`: the most data one completion record may carry, at least 64. `check`: the word the record of the
// first piece carries in WriteLinearHHost::check; the next has the next one. Adds the pieces, in the order in which the
// card answers.
void EncodeRead(const ReadCommand& command, uint32_t max_piece_bytes, const CardGeometry& card,
                uint32_t check, std::vector<ReadPiece>* pieces, RecordBatch& batch);

}  // namespace ttfd
