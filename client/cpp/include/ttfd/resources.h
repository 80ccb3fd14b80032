// Resources of a session on the card: buffers, kernels and programs. Each is a move-only value that
// frees its handle on destruction; memory returns once the commands sent before have ended, so a
// buffer may be destroyed while launches that use it are still running.
//
// A resource may outlive its session, which has freed everything when it ended.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ttfd/types.h"

namespace ttfd::client {

class SessionCore;  // of the library

// A handle of a session, freed on destruction. Not used directly.
class Resource {
 public:
  Resource() = default;
  Resource(std::shared_ptr<SessionCore> core, uint64_t handle);
  ~Resource();
  Resource(Resource&& other) noexcept;
  Resource& operator=(Resource&& other) noexcept;

  // Its number in the API, for messages; 0: empty.
  uint64_t handle() const { return handle_; }

 private:
  void Free();

  std::shared_ptr<SessionCore> core_;
  uint64_t handle_ = 0;
};

// Memory on the card: pages over DRAM banks, or in the L1 of worker tiles. New buffers are zero.
// docs/api.md draws where page p lies in each layout.
class Buffer : public Resource {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<SessionCore> core, uint64_t handle, uint64_t size_bytes,
         uint32_t page_bytes)
      : Resource(std::move(core), handle), size_bytes_(size_bytes), page_bytes_(page_bytes) {}

  uint64_t size_bytes() const { return size_bytes_; }
  uint32_t page_bytes() const { return page_bytes_; }

 private:
  uint64_t size_bytes_ = 0;
  uint32_t page_bytes_ = 0;
};

// A kernel ELF the daemon has checked and holds ready. docs/kernels.md says how to build one.
class Kernel : public Resource {
 public:
  using Resource::Resource;
};

// The three kernels of one source for the Tensix engine (ttfd_add_kernel with COMPUTE), each with its processor.
// Made by Session::LoadKernels.
class ComputeKernel {
 public:
  ComputeKernel() = default;
  explicit ComputeKernel(std::array<Kernel, 3> kernels) : kernels_(std::move(kernels)) {}

  // For TRISC0, TRISC1 and TRISC2.
  const std::array<Kernel, 3>& kernels() const { return kernels_; }

 private:
  std::array<Kernel, 3> kernels_;
};

// The indices of a ComputeKernel's three kernels in a program.
using ComputeIndices = std::array<uint32_t, 3>;

// Which kernels run on which tiles, with which circular buffers and semaphores.
class Program : public Resource {
 public:
  using Resource::Resource;
};

// Describes a program for Session::CreateProgram. Kernels must outlive that call only.
class ProgramBuilder {
 public:
  struct KernelUse {
    uint64_t kernel = 0;
    Processor processor = Processor::kBrisc;
    std::vector<CoreRange> cores = {};
    bool callable = false;
    bool configured = false;
  };
  struct CircularBuffer {
    uint32_t index = 0;
    uint32_t pages = 0;
    uint32_t page_bytes = 0;  // multiple of 16
    std::vector<CoreRange> cores = {};
    DataFormat format = DataFormat::kNone;
    std::optional<uint64_t> buffer = {};  // its handle; none: memory of the launch
  };
  struct Semaphore {
    uint32_t index = 0;
    uint32_t initial = 0;
    std::vector<CoreRange> cores = {};
  };

  // Runs `kernel` on `processor` of every tile in `cores`. Returns the kernel's index in this
  // program, by which launch arguments name it.
  uint32_t AddKernel(const Kernel& kernel, Processor processor, std::vector<CoreRange> cores);
  // Places `kernel` on every tile in `cores` without starting it: the kernel that the program starts on the same
  // processor there calls it (<ttfd/callable.h>). It has the circular buffers and semaphores of its tile and the
  // arguments of its caller, none of the launch. `configured`: its caller gives it circular buffers and common
  // arguments of its own, and which of them it uses is not checked. Returns its number among the program's callable
  // kernels, at most 64.
  uint32_t AddCallable(const Kernel& kernel, Processor processor, std::vector<CoreRange> cores,
                       bool configured = false);
  // Runs the three kernels on the processors they are for, TRISC0 to TRISC2. LaunchRequest sets their arguments
  // together.
  ComputeIndices AddKernels(const ComputeKernel& kernels, const std::vector<CoreRange>& cores);
  // With a format, kernels learn it by CircularBuffer::format(), and a page is one tile: 4096 bytes of
  // kFloat32 or kInt32, 2048 of kFloat16B or kUInt16, 1088 of kBfp8B.
  ProgramBuilder& AddCircularBuffer(uint32_t index, uint32_t pages, uint32_t page_bytes,
                                    std::vector<CoreRange> cores,
                                    DataFormat format = DataFormat::kNone);
  // The same on `buffer` in place of memory of the launch, whose contents are undefined. It lies at the
  // start of each tile's part of the buffer (AllocateL1, AllocateSharded), which every tile in `cores`
  // must have, with at least pages * page_bytes bytes. The buffer must exist when the program is
  // launched: NOT_FOUND if not. Several circular buffers may lie on one, and those of a program on at
  // most DeviceInfo::circular_buffers different ones.
  ProgramBuilder& AddCircularBuffer(uint32_t index, uint32_t pages, uint32_t page_bytes,
                                    std::vector<CoreRange> cores, DataFormat format,
                                    const Buffer& buffer);
  ProgramBuilder& AddSemaphore(uint32_t index, uint32_t initial, std::vector<CoreRange> cores);

  const std::vector<KernelUse>& kernels() const { return kernels_; }
  const std::vector<CircularBuffer>& circular_buffers() const { return circular_buffers_; }
  const std::vector<Semaphore>& semaphores() const { return semaphores_; }

 private:
  std::vector<KernelUse> kernels_;
  std::vector<CircularBuffer> circular_buffers_;
  std::vector<Semaphore> semaphores_;
};

// One run of a program: the program and its arguments. May be launched any number of times and
// changed in between; the program and buffers it names must exist when it is launched.
class LaunchRequest {
 public:
  struct BufferArgument {
    uint32_t word = 0;
    uint64_t buffer = 0;
    uint64_t offset = 0;
  };
  struct Arguments {
    uint32_t kernel = 0;  // index from ProgramBuilder::AddKernel or AddKernels
    std::vector<uint32_t> common = {};
    std::vector<uint32_t> per_core = {};
    uint32_t words_per_core = 0;
    std::vector<BufferArgument> buffers = {};
  };

  LaunchRequest() = default;
  explicit LaunchRequest(const Program& program) : program_(program.handle()) {}

  // Words that every tile of the kernel sees.
  LaunchRequest& Common(uint32_t kernel, std::vector<uint32_t> words);
  // `words_per_core` words for each tile of the kernel: its ranges in order, row by row.
  LaunchRequest& PerCore(uint32_t kernel, uint32_t words_per_core, std::vector<uint32_t> words);
  // The daemon puts the address of `buffer` into common word `word` (Common must reach that far).
  LaunchRequest& Address(uint32_t kernel, uint32_t word, const Buffer& buffer, uint64_t offset = 0);
  // The same arguments for all three kernels of ProgramBuilder::AddKernels.
  LaunchRequest& Common(const ComputeIndices& kernels, const std::vector<uint32_t>& words);
  LaunchRequest& PerCore(const ComputeIndices& kernels, uint32_t words_per_core,
                         const std::vector<uint32_t>& words);
  LaunchRequest& Address(const ComputeIndices& kernels, uint32_t word, const Buffer& buffer,
                         uint64_t offset = 0);
  // Longest time this launch may run, if shorter than the kernel timeout of the session or the daemon;
  // at least 1 ms.
  LaunchRequest& Timeout(std::chrono::milliseconds timeout);

  uint64_t program() const { return program_; }
  std::optional<uint32_t> timeout_ms() const { return timeout_ms_; }
  const std::vector<Arguments>& arguments() const { return arguments_; }

 private:
  Arguments& Of(uint32_t kernel);

  uint64_t program_ = 0;
  std::optional<uint32_t> timeout_ms_;
  std::vector<Arguments> arguments_;
};

}  // namespace ttfd::client
