// Fuzz target: any bytes as a fetch entry. What is decoded can be printed, and its data lies in the entry.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "runtime/command/decoder.h"
#include "runtime/command/record_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ttfd::ByteSpan entry(reinterpret_cast<const std::byte*>(data), size);
  const auto commands = ttfd::DecodeEntry(entry);
  if (!commands.ok()) return 0;
  for (const ttfd::DecodedCommand& command : *commands) {
    if (command.offset >= size || ttfd::FormatCommand(command).empty()) std::abort();
    if (!command.dispatch || command.dispatch->data.empty()) continue;
    const ttfd::ByteSpan inside = command.dispatch->data;
    if (inside.data() < entry.data() || inside.data() + inside.size() > entry.data() + size) {
      std::abort();
    }
  }
  return 0;
}
