// A file as bytes in memory.
#pragma once

#include <string>

#include "client/ttmlir/src/record.h"
#include "ttfd/status.h"

namespace ttfd::ttmlir {

// Maps a file for reading, until it is destroyed. Any thread.
class Mapping {
 public:
  // NOT_FOUND: it cannot be opened; INVALID_ARGUMENT: it is no regular file, or empty.
  static client::Result<Mapping> Open(const std::string& path);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping();

  Bytes bytes() const { return bytes_; }

 private:
  explicit Mapping(Bytes bytes) : bytes_(bytes) {}

  Bytes bytes_;
};

}  // namespace ttfd::ttmlir
