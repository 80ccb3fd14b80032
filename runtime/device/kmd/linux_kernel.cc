// System calls, with errors as -errno.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "runtime/base/unique_fd.h"
#include "runtime/device/kmd/linux_system.h"

namespace ttfd::kmd {
namespace {

int Result(int result) { return result < 0 ? -errno : result; }

}  // namespace

int LinuxKernel::Open(const std::string& path) {
  return Result(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
}

int LinuxKernel::Close(int descriptor) { return Result(close(descriptor)); }

int LinuxKernel::Ioctl(int descriptor, uint32_t request, void* argument) {
  return Result(ioctl(descriptor, request, argument));
}

int LinuxKernel::Map(int descriptor, uint64_t offset, size_t size, Mapping* mapping) {
  void* const address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                             static_cast<off_t>(offset));
  if (address == MAP_FAILED) return -errno;
  *mapping = {static_cast<std::byte*>(address), size};
  return 0;
}

int LinuxKernel::Unmap(const Mapping& mapping) {
  return Result(munmap(mapping.begin, mapping.size));
}

std::optional<std::string> LinuxFiles::ReadText(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return std::nullopt;
  std::array<char, 4096> text;
  const ssize_t length = read(file.get(), text.data(), text.size());
  if (length < 0) return std::nullopt;
  std::string result(text.data(), static_cast<size_t>(length));
  if (result.ends_with('\n')) result.pop_back();
  return result;
}

std::vector<std::string> LinuxFiles::List(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

System LinuxSystem() {
  static LinuxKernel kernel;
  static LinuxFiles files;
  static LinuxMemory memory;
  static LinuxBus bus;
  return {&kernel, &files, &memory, &bus};
}

}  // namespace ttfd::kmd
