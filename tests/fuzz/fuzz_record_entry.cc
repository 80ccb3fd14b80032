// Fuzz target: any bytes as a fetch entry and as a buffer of a trace. What is decoded can be printed, its data lies
// among them, and the encoder makes the same bytes of it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "runtime/command/decoder.h"
#include "runtime/command/record_text.h"
#include "runtime/command/record_writer.h"

namespace {

bool LiesIn(ttfd::ByteSpan inside, ttfd::ByteSpan bytes) {
  return inside.empty() || (inside.data() >= bytes.data() &&
                            inside.data() + inside.size() <= bytes.data() + bytes.size());
}

void Check(ttfd::ByteSpan bytes, const ttfd::StatusOr<std::vector<ttfd::DecodedCommand>>& decoded) {
  if (!decoded.ok()) return;
  std::vector<std::byte> memory(bytes.size());
  ttfd::RecordWriter writer(memory);
  for (const ttfd::DecodedCommand& command : *decoded) {
    if (command.offset >= bytes.size() || ttfd::FormatCommand(command).empty()) std::abort();
    if (!LiesIn(command.debug_data, bytes)) std::abort();
    if (command.dispatch && !LiesIn(command.dispatch->data, bytes)) std::abort();
    writer.Command(command);
  }
  // In a buffer, what lies behind its end is nobody's.
  if (!std::equal(memory.begin(), memory.begin() + writer.bytes_written(), bytes.begin())) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ttfd::ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  Check(bytes, ttfd::DecodeEntry(bytes));
  Check(bytes, ttfd::DecodeExecBuffer(bytes));
  return 0;
}
