// See main_decode.h.
#include "daemon/main_decode.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/command/decoder.h"
#include "runtime/command/record_file.h"
#include "runtime/command/record_text.h"

namespace ttfd {
namespace {

StatusOr<std::string> ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return InvalidArgument("cannot read {}: {}", path, std::strerror(errno));
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return InvalidArgument("cannot read {}", path);
  return bytes;
}

// Our own text: nothing in it needs escaping but quotes and backslashes.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

Status PrintJson(ByteSpan file) {
  uint32_t version = 0;
  ASSIGN_OR_RETURN(const std::vector<RecordedEntry> entries, ParseRecordFile(file, &version));
  for (size_t i = 0; i < entries.size(); ++i) {
    const StatusOr<std::vector<DecodedCommand>> commands = DecodeEntry(entries[i].bytes);
    if (!commands.ok()) return Annotate(commands.status(), fmt::format("entry {}", i));
    for (const DecodedCommand& command : *commands) {
      fmt::print(
          "{{\"entry\":{},\"hardware_queue\":{},\"nanoseconds\":{},\"offset\":{},\"text\":{}}}\n",
          i, entries[i].hardware_queue, entries[i].nanoseconds, command.offset,
          Quoted(FormatCommand(command)));
    }
  }
  return OkStatus();
}

}  // namespace

Status DecodeRecordFile(const std::string& path, bool json) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadWhole(path));
  const ByteSpan file(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  const Status printed =
      json ? PrintJson(file)
           : FormatRecordFile(file, [](std::string_view line) { fmt::print("{}\n", line); });
  if (std::fflush(stdout) != 0)
    return Internal("cannot write the output: {}", std::strerror(errno));
  return Annotate(printed, path);
}

}  // namespace ttfd
