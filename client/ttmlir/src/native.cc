// Native code of the CPU, run in a process of its own.
#include "client/ttmlir/src/native.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "client/ttmlir/src/child_process.h"
#include "client/ttmlir/src/installation.h"
#include "client/ttmlir/src/native_request.h"

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::Result;
using client::Status;

constexpr uint64_t kAlignment = 64;

uint64_t Aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

uint64_t BytesOfShape(const std::vector<int64_t>& shape) {
  return sizeof(uint32_t) * std::accumulate(shape.begin(), shape.end(), uint64_t{1},
                                            [](uint64_t product, int64_t size) {
                                              return product * static_cast<uint64_t>(size);
                                            });
}

// The file in memory that both processes see.
class Request {
 public:
  Request() = default;
  ~Request() {
    if (at_ != MAP_FAILED) munmap(at_, header_.total_bytes);
    if (file_ >= 0) close(file_);
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  Status Make(const NativeFunction& function, const std::vector<NativeArray>& inputs,
              const std::vector<NativeArray>& outputs, const NativeLimits& limits);
  int file() const { return file_; }
  void Read(std::vector<NativeArray>* outputs) const;

 private:
  std::byte* bytes() const { return static_cast<std::byte*>(at_); }
  Status Map();

  NativeRequest header_;
  std::vector<NativeTensor> tensors_;
  int file_ = -1;
  void* at_ = MAP_FAILED;
};

Status Request::Make(const NativeFunction& function, const std::vector<NativeArray>& inputs,
                     const std::vector<NativeArray>& outputs, const NativeLimits& limits) {
  const auto count = static_cast<uint32_t>(inputs.size() + outputs.size());
  if (count > kMaxNativeTensors || function.name.size() > kMaxFunctionName || inputs.empty()) {
    return Status(Code::kResourceExhausted,
                  fmt::format("native functions have a name of at most {} letters and at most {} "
                              "tensors, of which one is an input",
                              kMaxFunctionName, kMaxNativeTensors));
  }
  header_.inputs = static_cast<uint32_t>(inputs.size());
  header_.outputs = static_cast<uint32_t>(outputs.size());
  header_.returns_outputs = function.returns_outputs ? 1 : 0;
  header_.memory_bytes = limits.memory_bytes;
  // The deadline comes first; the limit of CPU time is for a process that the client did not survive to end.
  header_.seconds = static_cast<uint64_t>(limits.time.count() + 999) / 1000 + 1;
  std::copy(function.name.begin(), function.name.end(), header_.function);
  header_.code_offset = Aligned(sizeof(NativeRequest) + count * sizeof(NativeTensor));
  header_.code_bytes = function.code.size();
  uint64_t end = header_.code_offset + header_.code_bytes;
  for (uint32_t i = 0; i < count; ++i) {
    const NativeArray& array = i < inputs.size() ? inputs[i] : outputs[i - inputs.size()];
    if (array.shape.size() > kMaxNativeRank) {
      return Status(Code::kResourceExhausted,
                    fmt::format("a tensor has more than {} extents", kMaxNativeRank));
    }
    NativeTensor tensor = {.rank = static_cast<uint32_t>(array.shape.size())};
    std::copy(array.shape.begin(), array.shape.end(), tensor.sizes);
    tensor.offset = Aligned(end);
    end = tensor.offset + BytesOfShape(array.shape);
    tensors_.push_back(tensor);
  }
  header_.total_bytes = end;
  if (Status status = Map(); !status.ok()) return status;
  std::memcpy(bytes(), &header_, sizeof(header_));
  std::memcpy(bytes() + sizeof(header_), tensors_.data(), count * sizeof(NativeTensor));
  std::memcpy(bytes() + header_.code_offset, function.code.data(), function.code.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::memcpy(bytes() + tensors_[i].offset, inputs[i].words.data(),
                BytesOfShape(inputs[i].shape));
  }
  return Status();
}

Status Request::Map() {
  // Above the descriptors that the child has, also where the caller has closed its own.
  const int made = memfd_create("ttfd-native", MFD_CLOEXEC);
  file_ = fcntl(made, F_DUPFD_CLOEXEC, kNativeFile + 1);
  if (made >= 0) close(made);
  if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(header_.total_bytes)) == 0) {
    at_ = mmap(nullptr, header_.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  }
  if (at_ != MAP_FAILED) return Status();
  return Status(Code::kResourceExhausted, fmt::format("no {} bytes of memory: {}",
                                                      header_.total_bytes, std::strerror(errno)));
}

void Request::Read(std::vector<NativeArray>* outputs) const {
  for (size_t i = 0; i < outputs->size(); ++i) {
    NativeArray& array = (*outputs)[i];
    const uint64_t size = BytesOfShape(array.shape);
    array.words.resize(size / sizeof(uint32_t));
    std::memcpy(array.words.data(), bytes() + tensors_[header_.inputs + i].offset, size);
  }
}

Status StartNative(ChildProcess* child, int file) {
  const std::string program = FoundAbove("libexec/ttfd/ttfd-native");
  if (program.empty()) {
    return Status(Code::kFailedPrecondition,
                  "libexec/ttfd/ttfd-native, which runs native code, is not installed");
  }
  return child->Start({program}, {}, {{file, kNativeFile}});
}

std::string ProblemOf(int status) {
  if (WIFSIGNALED(status)) return fmt::format("it ended by signal {}", WTERMSIG(status));
  switch (WEXITSTATUS(status)) {
    case kNativeNotLoaded:
      return "it is not a shared library that loads here, or exceeds the limit of memory";
    case kNativeNoFunction:
      return "the library has no such function";
    case kNativeBadOutput:
      return "an output has another shape than the file says";
    default:
      return fmt::format("it ended with exit code {}", WEXITSTATUS(status));
  }
}

}  // namespace

std::string ProblemOfNative(const NativeFunction& function) {
  return fmt::format("native code of the CPU, function {} of {} bytes, runs only if it is allowed",
                     function.name, function.code.size());
}

Status CallNative(const NativeFunction& function, const std::vector<NativeArray>& inputs,
                  std::vector<NativeArray>* outputs, const NativeLimits& limits) {
  const auto failed = [&](const Status& status) {
    return Status(status.code(),
                  fmt::format("native function {}: {}", function.name, status.message()));
  };
  Request request;
  Status status = request.Make(function, inputs, *outputs, limits);
  ChildProcess child;
  if (status.ok()) status = StartNative(&child, request.file());
  if (!status.ok()) return failed(status);
  const Result<int> ended = child.Wait(limits.time);
  if (!ended.ok()) return failed(ended.status());
  if (*ended != 0) return failed(Status(Code::kAborted, ProblemOf(*ended)));
  request.Read(outputs);
  return Status();
}

}  // namespace ttfd::ttmlir
