// Resources that free their handle, and the values that describe programs and launches.
#include "ttfd/resources.h"

#include <algorithm>

#include "client/cpp/src/session_core.h"

namespace ttfd::client {

std::vector<CoreRange> FirstCores(uint32_t grid_x, uint32_t count) {
  std::vector<CoreRange> ranges;
  if (grid_x == 0 || count == 0) {
    return ranges;
  }
  const uint32_t rows = count / grid_x;
  const uint32_t rest = count % grid_x;
  if (rows != 0) {
    ranges.push_back({0, 0, grid_x - 1, rows - 1});
  }
  if (rest != 0) {
    ranges.push_back({0, rows, rest - 1, rows});
  }
  return ranges;
}

Resource::Resource(std::shared_ptr<SessionCore> core, uint64_t handle)
    : core_(std::move(core)), handle_(handle) {}

Resource::~Resource() { Free(); }

Resource::Resource(Resource&& other) noexcept
    : core_(std::move(other.core_)), handle_(std::exchange(other.handle_, 0)) {}

Resource& Resource::operator=(Resource&& other) noexcept {
  if (this != &other) {
    Free();
    core_ = std::move(other.core_);
    handle_ = std::exchange(other.handle_, 0);
  }
  return *this;
}

void Resource::Free() {
  if (core_ != nullptr && handle_ != 0) {
    core_->FreeResource(handle_);
  }
  core_.reset();
  handle_ = 0;
}

uint32_t ProgramBuilder::AddKernel(const Kernel& kernel, Processor processor,
                                   std::vector<CoreRange> cores) {
  kernels_.push_back({kernel.handle(), processor, std::move(cores)});
  return static_cast<uint32_t>(kernels_.size() - 1);
}

uint32_t ProgramBuilder::AddCallable(const Kernel& kernel, Processor processor,
                                     std::vector<CoreRange> cores, bool configured) {
  const auto number = std::count_if(kernels_.begin(), kernels_.end(),
                                    [](const KernelUse& use) { return use.callable; });
  kernels_.push_back({kernel.handle(), processor, std::move(cores), true, configured});
  return static_cast<uint32_t>(number);
}

ComputeIndices ProgramBuilder::AddKernels(const ComputeKernel& kernels,
                                          const std::vector<CoreRange>& cores) {
  const auto& [trisc0, trisc1, trisc2] = kernels.kernels();
  // In this order: elements of a braced list are evaluated from left to right.
  return {AddKernel(trisc0, Processor::kTrisc0, cores),
          AddKernel(trisc1, Processor::kTrisc1, cores),
          AddKernel(trisc2, Processor::kTrisc2, cores)};
}

ProgramBuilder& ProgramBuilder::AddCircularBuffer(uint32_t index, uint32_t pages,
                                                  uint32_t page_bytes, std::vector<CoreRange> cores,
                                                  DataFormat format) {
  circular_buffers_.push_back({index, pages, page_bytes, std::move(cores), format});
  return *this;
}

ProgramBuilder& ProgramBuilder::AddCircularBuffer(uint32_t index, uint32_t pages,
                                                  uint32_t page_bytes, std::vector<CoreRange> cores,
                                                  DataFormat format, const Buffer& buffer) {
  circular_buffers_.push_back(
      {index, pages, page_bytes, std::move(cores), format, buffer.handle()});
  return *this;
}

ProgramBuilder& ProgramBuilder::AddSemaphore(uint32_t index, uint32_t initial,
                                             std::vector<CoreRange> cores) {
  semaphores_.push_back({index, initial, std::move(cores)});
  return *this;
}

LaunchRequest::Arguments& LaunchRequest::Of(uint32_t kernel) {
  const auto found = std::find_if(arguments_.begin(), arguments_.end(),
                                  [kernel](const Arguments& a) { return a.kernel == kernel; });
  if (found != arguments_.end()) {
    return *found;
  }
  arguments_.push_back(Arguments{.kernel = kernel});
  return arguments_.back();
}

LaunchRequest& LaunchRequest::Common(uint32_t kernel, std::vector<uint32_t> words) {
  Of(kernel).common = std::move(words);
  return *this;
}

LaunchRequest& LaunchRequest::PerCore(uint32_t kernel, uint32_t words_per_core,
                                      std::vector<uint32_t> words) {
  Arguments& arguments = Of(kernel);
  arguments.words_per_core = words_per_core;
  arguments.per_core = std::move(words);
  return *this;
}

LaunchRequest& LaunchRequest::Address(uint32_t kernel, uint32_t word, const Buffer& buffer,
                                      uint64_t offset) {
  Arguments& arguments = Of(kernel);
  std::erase_if(arguments.buffers, [word](const BufferArgument& b) { return b.word == word; });
  arguments.buffers.push_back({word, buffer.handle(), offset});
  return *this;
}

LaunchRequest& LaunchRequest::Common(const ComputeIndices& kernels,
                                     const std::vector<uint32_t>& words) {
  for (const uint32_t kernel : kernels) Common(kernel, words);
  return *this;
}

LaunchRequest& LaunchRequest::PerCore(const ComputeIndices& kernels, uint32_t words_per_core,
                                      const std::vector<uint32_t>& words) {
  for (const uint32_t kernel : kernels) PerCore(kernel, words_per_core, words);
  return *this;
}

LaunchRequest& LaunchRequest::Address(const ComputeIndices& kernels, uint32_t word,
                                      const Buffer& buffer, uint64_t offset) {
  for (const uint32_t kernel : kernels) Address(kernel, word, buffer, offset);
  return *this;
}

LaunchRequest& LaunchRequest::Timeout(std::chrono::milliseconds timeout) {
  timeout_ms_ = static_cast<uint32_t>(std::clamp<int64_t>(timeout.count(), 0, UINT32_MAX));
  return *this;
}

}  // namespace ttfd::client
