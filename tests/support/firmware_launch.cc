#include "tests/support/firmware_launch.h"

#include <cstring>

#include "firmware/kernel_elfs.h"
#include "runtime/abi/l1_map.h"
#include "runtime/base/bits.h"
#include "runtime/hw/stream.h"

namespace ttfd::testing {
namespace {

// A block of words with an alignment, appended to the configuration.
uint16_t Place(std::vector<std::byte>& config, const void* from, size_t bytes, size_t alignment) {
  config.resize(AlignUp(config.size(), alignment));
  const auto offset = static_cast<uint16_t>(config.size());
  config.resize(config.size() + bytes);
  if (bytes != 0) std::memcpy(config.data() + offset, from, bytes);
  return offset;
}

}  // namespace

void BenchLauncher::Load(const BenchProgram& program) {
  message_ = {};
  message_.config_address = abi::kConfigRingAddress;
  message_.program_id = program.program_id;
  message_.print_tag = program.print_tag;
  message_.enables = abi::kLaunchNewCode;
  uint32_t cache = abi::kKernelCacheAddress;
  for (const BenchKernel& kernel : program.kernels) {
    const std::vector<std::byte> image = KernelImage(KernelElf(kernel.name));
    for (uint32_t worker = 0; worker < bench_.worker_count(); ++worker) {
      bench_.SetBytes(bench_.WorkerTile(worker), cache, image);
    }
    message_.kernel_address[kernel.hart] = cache;
    message_.enables |= 1u << kernel.hart;
    cache += AlignUp(static_cast<uint32_t>(image.size()), 16u);
  }
  for (uint32_t worker = 0; worker < bench_.worker_count(); ++worker) {
    std::vector<std::byte> config;
    Place(config, program.circular_buffers.data(),
          program.circular_buffers.size() * sizeof(abi::CircularBufferConfig), 16);
    for (const BenchKernel& kernel : program.kernels) {
      const std::vector<uint32_t> words =
          kernel.per_core ? kernel.per_core(worker) : std::vector<uint32_t>{};
      abi::LaunchArguments& own = message_.arguments[kernel.hart];
      own.common_offset = Place(config, kernel.common.data(), 4 * kernel.common.size(), 4);
      own.common_count = static_cast<uint16_t>(kernel.common.size());
      own.per_core_offset = Place(config, words.data(), 4 * words.size(), 4);
      own.per_core_count = static_cast<uint16_t>(words.size());
    }
    message_.circular_buffer_count = static_cast<uint16_t>(program.circular_buffers.size());
    std::vector<abi::SemaphoreWord> semaphores;
    for (const uint32_t value : program.semaphores) semaphores.push_back({value, {}});
    message_.semaphore_offset =
        Place(config, semaphores.data(), semaphores.size() * sizeof(abi::SemaphoreWord), 16);
    message_.semaphore_count = static_cast<uint16_t>(semaphores.size());
    bench_.SetBytes(bench_.WorkerTile(worker), message_.config_address, config);
  }
}

uint32_t BenchLauncher::NextGo() const {
  return abi::GoWord(0, FirmwareBench::kDispatchTile.x, FirmwareBench::kDispatchTile.y,
                     launches_ % abi::kLaunchSlots);
}

void BenchLauncher::Append(EntryBuilder& entry) {
  const uint32_t slot = launches_ % abi::kLaunchSlots;
  Payload write = WritePackedCommand(abi::kPackedMulticast, 1, sizeof(abi::LaunchMessage),
                                     abi::LaunchMessageAddress(slot));
  write.Value(bench_.worker_rectangle()).Value(bench_.worker_count()).Pad(16).Value(message_);
  entry.Dispatch(write);
  entry.Dispatch(NotifyCommand(1));
  entry.DispatchS(SendGoCommand(NextGo(), 0, abi::kFirstWorkerStream,
                                launches_ * bench_.worker_count() & hw::kStreamCounterMask));
  ++launches_;
}

Status BenchLauncher::Run(const BenchProgram& program) {
  Load(program);
  return RunLoaded();
}

Status BenchLauncher::RunLoaded() {
  EntryBuilder entry;
  Append(entry);
  return bench_.SendAndRun(entry);
}

}  // namespace ttfd::testing
