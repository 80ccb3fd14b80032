// Kernels compiled from C++ source.
#include "client/ttmlir/src/kernel_compiler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/sha.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <sstream>

#include "client/ttmlir/src/child_process.h"
#include "client/ttmlir/src/installation.h"
#include "client/ttmlir/src/options.h"
#include "client/ttmlir/src/whole_file.h"

namespace ttfd::ttmlir {
namespace {

namespace fs = std::filesystem;

using client::Code;
using client::Processor;
using client::Result;
using client::Status;

constexpr size_t kMaxMessageBytes = 4096;           // of the compiler
constexpr size_t kMaxImageBytes = size_t{1} << 20;  // most have a tenth of it
constexpr const char* kCompiler = "riscv64-unknown-elf-g++";
// Limits of each process of the compiler: KiB of memory, blocks of 512 bytes of a file, and seconds.
// Descriptor 3 is a pipe whose other end the client has: when the client is gone, so are they.
constexpr const char* kLimited =
    "ulimit -v 1048576; ulimit -f 16384; ulimit -t 600\n"
    "(read -r end <&3; kill -9 0) &\n"
    "exec 3<&-; exec \"$@\"";
constexpr int kLifeline = 3;

// The folders of the SDK that an image is made of.
constexpr std::array<const char*, 4> kSdkFolders = {"firmware/sdk", "firmware/common",
                                                    "runtime/abi", "runtime/hw"};

std::vector<std::string> WordsOf(const char* text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string ContentOf(const fs::path& path, size_t most = SIZE_MAX) {
  std::ifstream file(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (content.size() > most) content.resize(most);
  return content;
}

std::string HashOf(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hash;
  for (const unsigned char byte : digest) hash += fmt::format("{:02x}", byte);
  return hash;
}

std::string OnPath(const std::string& program) {
  std::istringstream folders(ProgramFolders());
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder) / program;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) return file.string();
  }
  return "";
}

// All files of the SDK, in an order that does not depend on the disk.
std::string SdkText(const fs::path& sdk) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const char* const folder : kSdkFolders) {
    for (auto entry = fs::recursive_directory_iterator(sdk / folder, ignored);
         entry != fs::recursive_directory_iterator(); entry.increment(ignored)) {
      if (entry->is_regular_file(ignored)) files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files)
    text += file.lexically_relative(sdk).string() + ContentOf(file);
  return text;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "ttfd-kernel-XXXXXX").string();
    if (!error && mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }  // empty: it could not be made

 private:
  fs::path path_;
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

// A descriptor above those that a process has from the start; -1: none.
int OpenedToWrite(const fs::path& path) {
  const int opened = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int above = fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (opened >= 0) close(opened);
  return above;
}

// Messages of the compiler, with the kernel's name before the line.
std::string WithName(const std::string& messages, const std::string& name) {
  const std::string file = std::string(kKernelFile) + ":";
  std::string named;
  size_t from = 0;
  for (size_t at = messages.find(file); at != std::string::npos; at = messages.find(file, from)) {
    named += messages.substr(from, at - from) + name + ":";
    from = at + file.size();
  }
  return named + messages.substr(from);
}

// A file that a process of the compiler writes.
fs::path PathOf(const fs::path& folder, Processor processor, const char* suffix) {
  return folder / (client::ProcessorName(processor) + std::string(suffix));
}

// Hart numbers of runtime/hw/tensix.h are one less than the API's of processors.
int HartOf(Processor processor) { return static_cast<int>(processor) - 1; }

}  // namespace

KernelCache KernelCache::OfUser() {
  fs::path folder = CacheFolder();
  if (folder.empty()) return KernelCache({});
  folder /= "ttfd/kernels";
  std::error_code error;
  fs::create_directories(folder, error);
  return KernelCache(error ? fs::path() : folder);
}

// A file begins with the hash of the image, so that one which was cut or changed is not taken.
KernelImage KernelCache::Find(const std::string& key) const {
  const fs::path path = folder_ / (key + ".elf");
  std::error_code ignored;
  if (folder_.empty() || !fs::is_regular_file(path, ignored)) return {};
  const std::string content = ContentOf(path);
  constexpr size_t kHashLetters = size_t{2} * SHA256_DIGEST_LENGTH;
  if (content.size() <= kHashLetters) return {};
  const std::string image = content.substr(kHashLetters);
  if (HashOf(image) != content.substr(0, kHashLetters)) return {};
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  const auto bytes = std::as_bytes(std::span(image));
  return {bytes.begin(), bytes.end()};
}

void KernelCache::Keep(const std::string& key, const KernelImage& image) const {
  if (folder_.empty()) return;
  const std::string bytes(reinterpret_cast<const char*>(image.data()), image.size());
  if (WriteWholeFile((folder_ / (key + ".elf")).string(), HashOf(bytes) + bytes).ok()) Shrink();
}

void KernelCache::Shrink() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> images;
  std::error_code ignored;
  for (auto entry = fs::directory_iterator(folder_, ignored); entry != fs::directory_iterator();
       entry.increment(ignored)) {
    images.emplace_back(entry->last_write_time(ignored), entry->path());
  }
  if (images.size() <= most_) return;
  std::sort(images.begin(), images.end());
  images.resize(images.size() - most_);
  for (const auto& image : images) fs::remove(image.second, ignored);
}

Status KernelCompiler::Find() {
  if (!fingerprint_.empty()) return Status();
  compiler_ = OnPath(kCompiler);
  if (compiler_.empty()) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("{}, which compiles kernels, is not on the PATH (Debian: "
                              "gcc-riscv64-unknown-elf)",
                              kCompiler));
  }
  sdk_ = FoundAbove("share/ttfd/sdk");
  if (sdk_.empty()) {
    return Status(Code::kFailedPrecondition,
                  "share/ttfd/sdk, with which kernels are compiled, is not installed");
  }
  std::error_code ignored;
  const fs::path program = fs::canonical(compiler_, ignored);
  fingerprint_ = fmt::format("{} {} {} {}", HashOf(SdkText(sdk_)), program.string(),
                             fs::file_size(program, ignored),
                             fs::last_write_time(program, ignored).time_since_epoch().count());
  return Status();
}

std::string KernelCompiler::KeyOf(const KernelSource& source, Processor processor) const {
  std::string key = fingerprint_ + "\n" + source.text;
  for (const std::string& argument : ArgumentsFor(source, processor, {})) key += "\n" + argument;
  return HashOf(key);
}

Result<std::vector<KernelImage>> KernelCompiler::Compile(const KernelSource& source) {
  if (Status status = Find(); !status.ok()) return status;
  std::vector<KernelImage> images;
  for (const Processor processor : source.processors) {
    images.push_back(cache_.Find(KeyOf(source, processor)));
  }
  const auto is_missing = [](const KernelImage& image) { return image.empty(); };
  if (std::none_of(images.begin(), images.end(), is_missing)) return images;
  Result<std::vector<KernelImage>> compiled = Run(source);
  if (!compiled.ok()) {
    return Status(compiled.status().code(),
                  fmt::format("{}: {}", source.name, compiled.status().message()));
  }
  for (size_t i = 0; i < compiled->size(); ++i) {
    cache_.Keep(KeyOf(source, source.processors[i]), (*compiled)[i]);
  }
  return compiled;
}

std::vector<std::string> KernelCompiler::ArgumentsFor(const KernelSource& source,
                                                      Processor processor,
                                                      const fs::path& folder) const {
  std::vector<std::string> arguments = {"/bin/sh", "-c", kLimited, "sh", compiler_};
  for (const std::string& flag : WordsOf(TTFD_KERNEL_FLAGS)) arguments.push_back(flag);
  for (const std::string& one : {
           fmt::format("-DTTFD_HART={}", HartOf(processor)),
           fmt::format("-DTTFD_COMPUTE={:d}", source.is_compute),
           fmt::format("-DTTFD_WHOLE_DST={:d}", source.is_compute),
           fmt::format("-I{}/firmware/sdk/include", sdk_),
           "-I" + sdk_,
           fmt::format("-T{}/firmware/sdk/kernel.ld", sdk_),
           (folder / "kernel.cc").string(),
           sdk_ + "/firmware/sdk/entry.cc",
           sdk_ + "/firmware/common/memory.cc",
           std::string("-lgcc"),
           fmt::format("-Wl,--defsym=__ttfd_hart={}", HartOf(processor)),
           std::string("-o"),
           PathOf(folder, processor, ".elf").string(),
       }) {
    arguments.push_back(one);
  }
  return arguments;
}

// A process of the compiler for each processor, all at once.
Result<std::vector<KernelImage>> KernelCompiler::Run(const KernelSource& source) {
  const TemporaryFolder folder;
  const fs::path text = folder.path() / "kernel.cc";
  if (folder.path().empty() || !(std::ofstream(text) << source.text << std::flush)) {
    return Status(Code::kResourceExhausted, "its source cannot be written to a temporary folder");
  }
  std::array<int, 2> lifeline = {-1, -1};
  if (pipe2(lifeline.data(), O_CLOEXEC) != 0) {
    return Status(Code::kResourceExhausted, "no pipe can be opened");
  }
  const Descriptor client_end(lifeline[1]);  // closed after the processes have ended
  const Descriptor their_end(lifeline[0]);
  std::vector<std::unique_ptr<ChildProcess>> processes;
  for (const Processor processor : source.processors) {
    const int messages = OpenedToWrite(PathOf(folder.path(), processor, ".txt"));
    if (messages < 0) return Status(Code::kResourceExhausted, "no file can be opened");
    processes.push_back(std::make_unique<ChildProcess>());
    Status status = processes.back()->Start(
        ArgumentsFor(source, processor, folder.path()),
        {"PATH=/usr/bin:/bin", "LC_ALL=C", "TMPDIR=" + folder.path().string()},
        {{messages, 2}, {their_end.number(), kLifeline}});
    close(messages);
    if (!status.ok()) return status;
  }
  std::vector<KernelImage> images;
  for (size_t i = 0; i < processes.size(); ++i) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - std::chrono::steady_clock::now());
    const Result<int> ended = processes[i]->Wait(left);
    if (ended.status().code() == Code::kDeadlineExceeded) {
      return Status(Code::kDeadlineExceeded,
                    fmt::format("its compiler did not end within {} ms, which all kernels together "
                                "have",
                                time_.count()));
    }
    if (!ended.ok()) return ended.status();
    if (*ended != 0) {
      return Status(Code::kInvalidArgument,
                    "it does not compile:\n" +
                        WithName(ContentOf(PathOf(folder.path(), source.processors[i], ".txt"),
                                           kMaxMessageBytes),
                                 source.name));
    }
    const std::string elf = ContentOf(PathOf(folder.path(), source.processors[i], ".elf"));
    if (elf.size() > kMaxImageBytes) {
      return Status(Code::kResourceExhausted,
                    fmt::format("its image has more than {} bytes", kMaxImageBytes));
    }
    const auto bytes = std::as_bytes(std::span(elf));
    images.emplace_back(bytes.begin(), bytes.end());
  }
  return images;
}

std::string WithoutIncludes(const std::string& source) {
  std::string kept;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    const size_t hash = line.find_first_not_of(" \t");
    const size_t word = hash == std::string::npos ? hash : line.find_first_not_of(" \t", hash + 1);
    const bool is_include =
        word != std::string::npos && line[hash] == '#' && line.compare(word, 7, "include") == 0;
    if (!is_include) kept += line;
    kept += '\n';
  }
  return kept;
}

}  // namespace ttfd::ttmlir
