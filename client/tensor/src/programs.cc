// Programs of operations.
#include "client/tensor/src/programs.h"

#include <string>
#include <utility>

#include "firmware/ops/elfs.h"
#include "ttfd/tiles.h"

namespace ttfd::tensor {
namespace {

struct KernelFile {
  const char* suffix;  // of the family's name
  client::Processor processor;
};
constexpr KernelFile kFiles[kProgramKernels] = {{"_reader", client::Processor::kNcrisc},
                                                {"_compute_trisc0", client::Processor::kTrisc0},
                                                {"_compute_trisc1", client::Processor::kTrisc1},
                                                {"_compute_trisc2", client::Processor::kTrisc2},
                                                {"tile_writer", client::Processor::kBrisc}};

std::string FileOf(Family family, uint32_t kernel) {
  const std::string suffix = kFiles[kernel].suffix;
  return kernel == kWriterKernel ? suffix : FamilyName(family) + suffix;
}

}  // namespace

client::Result<const KernelSet::Kernels*> KernelSet::Of(Family family) {
  const auto found = loaded_.find(family);
  if (found != loaded_.end()) return &found->second;
  Kernels kernels;
  for (uint32_t i = 0; i < kProgramKernels; ++i) {
    const std::string file = FileOf(family, i);
    client::Result<client::Kernel> kernel = session_->LoadKernel(ops::OperationElf(file), file);
    if (!kernel.ok()) return kernel.status();
    kernels[i] = std::move(*kernel);
  }
  return &loaded_.emplace(family, std::move(kernels)).first->second;
}

client::Result<const client::Program*> ProgramCache::Of(const Lowering& lowering,
                                                        const CoreSet& cores) {
  Key key = {lowering.family, lowering.cores, lowering.circular_buffers};
  const auto found = programs_.find(key);
  if (found != programs_.end()) return &found->second;

  const client::Result<const KernelSet::Kernels*> kernels = kernels_.Of(lowering.family);
  if (!kernels.ok()) return kernels.status();
  const std::vector<client::CoreRange> ranges = cores.Ranges(lowering.cores);
  client::ProgramBuilder builder;
  for (uint32_t i = 0; i < kProgramKernels; ++i) {
    builder.AddKernel((**kernels)[i], kFiles[i].processor, ranges);
  }
  for (const CircularBufferUse& buffer : lowering.circular_buffers) {
    builder.AddCircularBuffer(buffer.index, buffer.pages, client::TileBytes(buffer.format), ranges,
                              buffer.format);
  }
  client::Result<client::Program> program = session_->CreateProgram(builder);
  if (!program.ok()) return program.status();
  return &programs_.emplace(std::move(key), std::move(*program)).first->second;
}

}  // namespace ttfd::tensor
