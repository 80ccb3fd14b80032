// Records as text for people: one line a command.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/command/decoder.h"

namespace ttfd {

// "0x0040 RELAY_INLINE dispatch: WAIT barrier|stream stream 48 count 130"
std::string FormatCommand(const DecodedCommand& command);

// Prints a record file (record_file.h), a line for each entry and each of its commands. Stops with
// INVALID_ARGUMENT, offset and reason, at the first thing that cannot be decoded.
Status FormatRecordFile(ByteSpan file, const std::function<void(std::string_view line)>& print);

}  // namespace ttfd
