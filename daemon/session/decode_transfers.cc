// Decodes the commands that move data.
#include <utility>

#include "daemon/session/decode_commands.h"
#include "daemon/session/payload.h"
#include "daemon/session/transfer_checks.h"
#include "runtime/command/command.h"

namespace ttfd {

Refusal DecodeCommand(const DecodeContext& context, WriteRequest& request) {
  WriteOperation write;
  if (Refusal refusal = context.GetBuffer(request.buffer, "write.buffer", &write.buffer))
    return refusal;
  if (!request.is_inline && !request.streamed) return NoSourceError("write", request.unstreamed);
  if (Refusal refusal = CheckUnits(context.limits, *write.buffer, request.offset, request.size,
                                   "write.offset", "write.size")) {
    return refusal;
  }
  write.offset = request.offset;
  write.size = request.size;
  if (request.is_inline) {
    if (Refusal refusal =
            CheckInline(context.limits, request.size, request.inline_bytes.size(), "write.inline"))
      return refusal;
    AddPayload(write, std::move(request.inline_bytes));
  } else {
    write.streamed = true;
  }
  context.op.body = std::move(write);
  return std::nullopt;
}

Refusal DecodeCommand(const DecodeContext& context, ReadRequest& request) {
  ReadOperation read;
  if (Refusal refusal = context.GetBuffer(request.buffer, "read.buffer", &read.buffer))
    return refusal;
  if (Refusal refusal = CheckRange(context.limits, *read.buffer, request.offset, request.size,
                                   "read.offset", "read.size")) {
    return refusal;
  }
  read.offset = request.offset;
  read.size = request.size;
  context.op.body = std::move(read);
  return std::nullopt;
}

Refusal DecodeCommand(const DecodeContext& context, FillRequest& request) {
  FillOperation fill;
  if (Refusal refusal = context.GetBuffer(request.buffer, "fill.buffer", &fill.buffer))
    return refusal;
  if (Refusal refusal = CheckUnits(context.limits, *fill.buffer, request.offset, request.size,
                                   "fill.offset", "fill.size")) {
    return refusal;
  }
  fill.offset = request.offset;
  fill.size = request.size;
  fill.word = request.word;
  context.op.body = std::move(fill);
  return std::nullopt;
}

Refusal DecodeCommand(const DecodeContext& context, CopyRequest& request) {
  CopyOperation copy;
  if (Refusal refusal = context.GetBuffer(request.from, "copy.from", &copy.from)) return refusal;
  if (Refusal refusal = context.GetBuffer(request.to, "copy.to", &copy.to)) return refusal;
  if (Refusal refusal = CheckUnits(context.limits, *copy.from, request.from_offset, request.size,
                                   "copy.from_offset", "copy.size")) {
    return refusal;
  }
  if (Refusal refusal = CheckUnits(context.limits, *copy.to, request.to_offset, request.size,
                                   "copy.to_offset", "copy.size")) {
    return refusal;
  }
  if (!CopyKeepsUnits(copy.from->page_bytes, request.from_offset, copy.to->page_bytes,
                      request.to_offset, request.size)) {
    return InvalidError("copy.to_offset",
                        "from offset {} in pages of {} to offset {} in pages of {} bytes would "
                        "shift bytes within units of {}; pages that are no multiples of it are "
                        "copied within one page, or to pages of the same size and from the same "
                        "place in them",
                        request.from_offset, copy.from->page_bytes, request.to_offset,
                        copy.to->page_bytes, hw::kL1Alignment);
  }
  // Sliced copies would read what they have written.
  if (copy.from == copy.to && request.from_offset < request.to_offset + request.size &&
      request.to_offset < request.from_offset + request.size) {
    return InvalidError("copy.to_offset", "the two ranges of one buffer overlap");
  }
  copy.from_offset = request.from_offset;
  copy.to_offset = request.to_offset;
  copy.size = request.size;
  context.op.body = std::move(copy);
  return std::nullopt;
}

}  // namespace ttfd
