// A captured record stream in a file.
#include "runtime/command/record_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/abi/control_block.h"
#include "runtime/abi/rings.h"
#include "runtime/abi/version.h"

namespace ttfd {
namespace {

struct FileHeader {
  char magic[8];
  uint32_t protocol_version;
  uint32_t reserved;
};
static_assert(sizeof(FileHeader) == 16);

struct EntryHeader {
  uint32_t length;
  uint32_t hardware_queue;
  uint64_t nanoseconds;
};
static_assert(sizeof(EntryHeader) == 16);

constexpr char kMagic[8] = {'T', 'T', 'F', 'D', 'R', 'E', 'C', '1'};

}  // namespace

StatusOr<std::unique_ptr<RecordFileWriter>> RecordFileWriter::Create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return Error(StatusCode::kUnavailable, "record file {}: {}", path, std::strerror(errno));
  }
  std::unique_ptr<RecordFileWriter> writer(new RecordFileWriter(file, path));
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.protocol_version = abi::kProtocolVersion;
  writer->Write(&header, sizeof(header));
  return writer;
}

RecordFileWriter::~RecordFileWriter() { std::fclose(file_); }

void RecordFileWriter::Write(const void* data, size_t size) {
  if (!failed_ && std::fwrite(data, 1, size, file_) != size) failed_ = true;
}

void RecordFileWriter::Append(uint32_t hardware_queue, uint64_t nanoseconds, ByteSpan entry) {
  EntryHeader header{};
  header.length = static_cast<uint32_t>(entry.size());
  header.hardware_queue = hardware_queue;
  header.nanoseconds = nanoseconds;
  Write(&header, sizeof(header));
  Write(entry.data(), entry.size());
}

Status RecordFileWriter::Finish() {
  if (std::fflush(file_) != 0) failed_ = true;
  if (!failed_) return OkStatus();
  return Error(StatusCode::kUnavailable, "record file {}: a write failed; the file is not complete",
               path_);
}

StatusOr<std::vector<RecordedEntry>> ParseRecordFile(ByteSpan file, uint32_t* protocol_version) {
  if (file.size() < sizeof(FileHeader) || std::memcmp(file.data(), kMagic, sizeof(kMagic)) != 0) {
    return InvalidArgument("not a record file: it does not begin with TTFDREC1");
  }
  *protocol_version = LoadAt<FileHeader>(file.data()).protocol_version;
  std::vector<RecordedEntry> entries;
  for (uint64_t offset = sizeof(FileHeader); offset < file.size();) {
    if (file.size() - offset < sizeof(EntryHeader)) {
      return InvalidArgument("offset {:#x}: the file ends inside an entry's header", offset);
    }
    const auto header = LoadAt<EntryHeader>(file.data() + offset);
    offset += sizeof(EntryHeader);
    if (header.length == 0 || header.length > abi::kMaxEntryBytes ||
        header.length % abi::kEntryAlignment != 0) {
      return InvalidArgument("offset {:#x}: an entry of {} bytes; multiples of {} up to {} exist",
                             offset - sizeof(EntryHeader), header.length, abi::kEntryAlignment,
                             abi::kMaxEntryBytes);
    }
    if (header.length > file.size() - offset) {
      return InvalidArgument("offset {:#x}: the file ends inside an entry of {} bytes", offset,
                             header.length);
    }
    if (header.hardware_queue >= abi::kMaxHardwareQueues) {
      return InvalidArgument("offset {:#x}: an entry of hardware queue {}; there are {}",
                             offset - sizeof(EntryHeader), header.hardware_queue,
                             abi::kMaxHardwareQueues);
    }
    entries.push_back(
        {header.hardware_queue, header.nanoseconds, offset, file.subspan(offset, header.length)});
    offset += header.length;
  }
  return entries;
}

}  // namespace ttfd
