// Programs of operations.
#include "client/tensor/src/programs.h"

#include <string>
#include <utility>

#include "firmware/ops/elfs.h"
#include "ttfd/tiles.h"

namespace ttfd::tensor {
client::Result<const KernelSet::Kernels*> KernelSet::Of(Family family) {
  const auto found = loaded_.find(family);
  if (found != loaded_.end()) return &found->second;
  Kernels kernels;
  for (const FamilyInfo::Kernel& info : InfoOf(family).kernels) {
    client::Result<client::Kernel> kernel =
        session_->LoadKernel(ops::OperationElf(info.file), std::string(info.file));
    if (!kernel.ok()) return kernel.status();
    kernels.push_back(std::move(*kernel));
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
  const auto infos = InfoOf(lowering.family).kernels;
  for (size_t i = 0; i < infos.size(); ++i) {
    builder.AddKernel((**kernels)[i], infos[i].processor, ranges);
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
