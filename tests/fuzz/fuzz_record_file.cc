// Fuzz target: any bytes as a captured record stream, as `ttfd decode` reads it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/command/record_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t characters = 0;
  const ttfd::Status status =
      ttfd::FormatRecordFile({reinterpret_cast<const std::byte*>(data), size},
                             [&](std::string_view line) { characters += line.size(); });
  if (!status.ok() && ttfd::StatusMessage(status).empty()) std::abort();
  return 0;
}
