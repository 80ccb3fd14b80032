// A file as bytes in memory.
#include "client/ttmlir/src/mapping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ttfd::ttmlir {

using client::Code;
using client::Result;
using client::Status;

Result<Mapping> Mapping::Open(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe waits for its writer.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return Status(Code::kNotFound, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  struct stat status = {};
  const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  const auto size = static_cast<size_t>(status.st_size);
  void* const at = regular ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  const int error = errno;
  close(file);
  if (!regular) {
    return Status(Code::kInvalidArgument, path + ": is empty, or not a regular file");
  }
  if (at == MAP_FAILED) {
    return Status(Code::kNotFound,
                  fmt::format("{}: cannot be mapped: {}", path, std::strerror(error)));
  }
  return Mapping(Bytes(static_cast<const uint8_t*>(at), size));
}

Mapping::Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, Bytes())) {}

Mapping::~Mapping() {
  if (!bytes_.empty()) munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace ttfd::ttmlir
