// Kernels compiled from C++ source, by the cross compiler in a process of its own.
//
// A kernel for a hart that moves data becomes one image, one for the Tensix engine three. Images are kept on disk, in
// ttfd/kernels of the user's cache folder (XDG_CACHE_HOME, or .cache of HOME), by the SHA-256 of source, SDK, command
// line, and the compiler's path, size and time. Where there is no such folder, each is compiled anew.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::ttmlir {

// The name of the source in its #line: that of the kernel takes its place in messages.
constexpr const char* kKernelFile = "ttfd_kernel";

struct KernelSource {
  std::string name;                           // in messages
  std::string text;                           // whole
  std::vector<client::Processor> processors;  // an image for each
  bool is_compute = false;
};

using KernelImage = std::vector<std::byte>;  // an ELF

// Images on disk. Those that were used longest ago make way.
class KernelCache {
 public:
  // Keeps at most `most` images.
  explicit KernelCache(std::filesystem::path folder, size_t most = 1024)
      : folder_(std::move(folder)), most_(most) {}
  // That of the user; in no folder, it is always empty.
  static KernelCache OfUser();

  KernelImage Find(const std::string& key) const;  // empty: it is not there
  void Keep(const std::string& key, const KernelImage& image) const;

 private:
  void Shrink() const;

  std::filesystem::path folder_;
  size_t most_;
};

// One thread.
class KernelCompiler {
 public:
  // Compiles for `time` from now on. A process of the compiler has 1 GiB of memory, and makes at most 1 MiB.
  KernelCompiler(KernelCache cache, std::chrono::milliseconds time)
      : cache_(std::move(cache)), time_(time), deadline_(std::chrono::steady_clock::now() + time) {}

  // In the order of its processors. FAILED_PRECONDITION: the compiler or the SDK is not installed. INVALID_ARGUMENT: it
  // does not compile; has what the compiler says. DEADLINE_EXCEEDED: compiling takes longer than it may.
  client::Result<std::vector<KernelImage>> Compile(const KernelSource& source);

 private:
  client::Status Find();
  std::string KeyOf(const KernelSource& source, client::Processor processor) const;
  // The command that compiles kernel.cc of the folder for one processor.
  std::vector<std::string> ArgumentsFor(const KernelSource& source, client::Processor processor,
                                        const std::filesystem::path& folder) const;
  client::Result<std::vector<KernelImage>> Run(const KernelSource& source);

  KernelCache cache_;
  std::chrono::milliseconds time_;
  std::chrono::steady_clock::time_point deadline_;
  std::string compiler_;  // paths; empty: not looked for yet
  std::string sdk_;
  std::string fingerprint_;  // of both
};

// Lines `#include` of a source made empty: the SDK's header stands for all of them.
std::string WithoutIncludes(const std::string& source);

}  // namespace ttfd::ttmlir
