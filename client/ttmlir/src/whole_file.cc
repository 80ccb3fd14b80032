// A temporary file in the same folder takes the bytes, and then the name.
#include "client/ttmlir/src/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::Status;

// 0, or why not all bytes are on the disk.
int WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(file) == 0 ? 0 : errno;
}

}  // namespace

Status WriteWholeFile(const std::string& path, std::string_view bytes) {
  const auto failed = [&path](int error) {
    return Status(Code::kUnknown, fmt::format("cannot write {}: {}", path, std::strerror(error)));
  };
  std::error_code ignored;
  std::string target = path;
  if (std::filesystem::exists(path, ignored)) {
    if (!std::filesystem::is_regular_file(path, ignored)) {
      return Status(Code::kInvalidArgument, path + " is not a regular file");
    }
    // A link stays, and what it leads to is replaced.
    target = std::filesystem::canonical(path, ignored).string();
  }
  static std::atomic<uint32_t> number = 0;
  const std::string part = fmt::format("{}.part-{}-{}", target, getpid(), number++);
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return failed(errno);
  int error = WriteAll(file, bytes);
  close(file);
  if (error == 0 && std::rename(part.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return Status();
  unlink(part.c_str());
  return failed(error);
}

}  // namespace ttfd::ttmlir
