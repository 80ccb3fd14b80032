// A captured record stream in a file: what `ttfd --record` writes and `ttfd decode` reads.
//
//   header   "TTFDREC1", u32 protocol version, u32 reserved (0)
//   entry    u32 length in bytes, u32 hardware queue, u64 nanoseconds since the capture began, the
//            bytes of the fetch entry
//
// All numbers little-endian.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace ttfd {

class RecordFileWriter {
 public:
  // Creates or overwrites the file. UNAVAILABLE if that fails.
  static StatusOr<std::unique_ptr<RecordFileWriter>> Create(const std::string& path);
  ~RecordFileWriter();
  RecordFileWriter(const RecordFileWriter&) = delete;
  RecordFileWriter& operator=(const RecordFileWriter&) = delete;

  // A failure (a full disk) ends the capture, not the work: later entries are dropped.
  void Append(uint32_t hardware_queue, uint64_t nanoseconds, ByteSpan entry);
  // Whether everything appended reached the file.
  Status Finish();

 private:
  explicit RecordFileWriter(std::FILE* file, std::string path)
      : file_(file), path_(std::move(path)) {}
  void Write(const void* data, size_t size);

  std::FILE* file_;
  const std::string path_;
  bool failed_ = false;
};

struct RecordedEntry {
  uint32_t hardware_queue = 0;
  uint64_t nanoseconds = 0;
  uint64_t file_offset = 0;  // of `bytes`
  ByteSpan bytes;
};

// Splits the contents of a record file; entries point into `file`. INVALID_ARGUMENT with the offset
// of what is wrong. `protocol_version` gets the header's.
StatusOr<std::vector<RecordedEntry>> ParseRecordFile(ByteSpan file, uint32_t* protocol_version);

}  // namespace ttfd
